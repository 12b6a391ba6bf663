//! Time stamps around passes, and the bandwidth that a card has for copies.

use std::time::Instant;

use wgpu::{
    Buffer, BufferUsages, CommandEncoder, ComputePass, ComputePassDescriptor,
    ComputePassTimestampWrites, Features, QuerySet, QuerySetDescriptor, QueryType,
};

use super::binding::Item;
use super::column::Column;
use super::device::Device;
use super::error::GpuError;

/// Stamps of so many passes.
#[derive(Debug)]
pub struct Timer {
    sets: Vec<QuerySet>,
    resolved: Buffer,
    staging: Buffer,
}

/// Passes of a set: two stamps each, and sets hold 4096.
const PASSES: usize = 2048;
const STAMP: u64 = 8;

impl Timer {
    /// Room for `passes`; none where the adapter has no time stamps.
    pub fn new(device: &Device, passes: usize) -> Result<Option<Self>, GpuError> {
        if !device.inner.features().contains(Features::TIMESTAMP_QUERY) {
            return Ok(None);
        }
        let sets = (0..passes.div_ceil(PASSES))
            .map(|_| {
                device.inner.create_query_set(&QuerySetDescriptor {
                    label: Some("time stamps"),
                    ty: QueryType::Timestamp,
                    count: 2 * PASSES as u32,
                })
            })
            .collect::<Vec<_>>();
        let bytes = sets.len() as u64 * 2 * PASSES as u64 * STAMP;
        let usage = BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC;
        Ok(Some(Timer {
            resolved: device.buffer("time stamps", bytes, usage)?,
            staging: device.staging(bytes)?,
            sets,
        }))
    }

    /// Begins pass number `k`.
    pub fn pass<'a>(&self, encoder: &'a mut CommandEncoder, k: usize) -> ComputePass<'a> {
        let first = 2 * (k % PASSES) as u32;
        encoder.begin_compute_pass(&ComputePassDescriptor {
            label: None,
            timestamp_writes: Some(ComputePassTimestampWrites {
                query_set: &self.sets[k / PASSES],
                beginning_of_pass_write_index: Some(first),
                end_of_pass_write_index: Some(first + 1),
            }),
        })
    }

    /// Submits the passes and returns the seconds that each of the first `count` took.
    pub fn read(
        &self,
        device: &Device,
        mut encoder: CommandEncoder,
        count: usize,
    ) -> Result<Vec<f64>, GpuError> {
        let set_bytes = 2 * PASSES as u64 * STAMP;
        for (k, set) in self.sets.iter().enumerate().take(count.div_ceil(PASSES)) {
            let used = 2 * (count - k * PASSES).min(PASSES) as u32;
            encoder.resolve_query_set(set, 0..used, &self.resolved, k as u64 * set_bytes);
        }
        let bytes = 2 * count as u64 * STAMP;
        encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.staging, 0, bytes);
        let submission = device.submit(encoder);
        let words = device.read(Some(submission), &[(&self.staging, bytes)])?;
        let stamps: Vec<u64> = words[0]
            .chunks_exact(2)
            .map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32)
            .collect();
        let tick = 1e-9 * f64::from(device.queue.get_timestamp_period());
        Ok(stamps
            .chunks_exact(2)
            .map(|pair| pair[1].saturating_sub(pair[0]) as f64 * tick)
            .collect())
    }
}

/// Bytes read plus written a second by copies from one column of `bytes` to another.
pub fn copy_bandwidth(device: &Device, bytes: u64) -> Result<f64, GpuError> {
    let items = bytes / Item::Vec4.size();
    let from = Column::new(device, "bandwidth", Item::Vec4, items)?;
    let to = Column::new(device, "bandwidth", Item::Vec4, items)?;
    let copy = |times: u32| {
        let mut encoder = device.encoder();
        (0..times).for_each(|_| from.copy_to(&mut encoder, (0, items), &to, 0));
        let clock = Instant::now();
        let submission = device.submit(encoder);
        device.wait(Some(submission)).map(|()| clock.elapsed())
    };
    copy(2)?;
    // The difference of two lengths leaves out what a submission costs.
    let (short, long) = (copy(4)?, copy(24)?);
    let seconds = long.saturating_sub(short).as_secs_f64().max(1e-9);
    Ok(20.0 * 2.0 * from.bytes() as f64 / seconds)
}
