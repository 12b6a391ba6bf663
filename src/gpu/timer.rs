//! Time stamps around compute passes.

use wgpu::{
    Buffer, BufferUsages, CommandEncoder, ComputePass, ComputePassDescriptor,
    ComputePassTimestampWrites, Features, QuerySet, QuerySetDescriptor, QueryType,
};

use super::device::Device;
use super::error::GpuError;

/// Time stamps at the beginning and end of each compute pass.
#[derive(Debug)]
pub struct Timer {
    sets: Vec<QuerySet>,
    resolved: Buffer,
    staging: Buffer,
}

/// Passes per query set: two stamps each, and a set has at most 4096.
const PASSES_PER_SET: usize = 2048;
/// Size of a time stamp, bytes.
const STAMP_BYTES: u64 = 8;

impl Timer {
    /// A timer for up to `passes` passes; `None` if the adapter has no time stamps.
    pub fn new(device: &Device, passes: usize) -> Result<Option<Self>, GpuError> {
        if !device.inner.features().contains(Features::TIMESTAMP_QUERY) {
            return Ok(None);
        }
        let sets = (0..passes.div_ceil(PASSES_PER_SET))
            .map(|_| {
                device.inner.create_query_set(&QuerySetDescriptor {
                    label: Some("time stamps"),
                    ty: QueryType::Timestamp,
                    count: 2 * PASSES_PER_SET as u32,
                })
            })
            .collect::<Vec<_>>();
        let bytes = sets.len() as u64 * 2 * PASSES_PER_SET as u64 * STAMP_BYTES;
        let usage = BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC;
        Ok(Some(Timer {
            resolved: device.buffer("time stamps", bytes, usage)?,
            staging: device.staging(bytes)?,
            sets,
        }))
    }

    /// Begins pass number `k`, with time stamps.
    pub fn pass<'a>(&self, encoder: &'a mut CommandEncoder, k: usize) -> ComputePass<'a> {
        let first = 2 * (k % PASSES_PER_SET) as u32;
        encoder.begin_compute_pass(&ComputePassDescriptor {
            label: None,
            timestamp_writes: Some(ComputePassTimestampWrites {
                query_set: &self.sets[k / PASSES_PER_SET],
                beginning_of_pass_write_index: Some(first),
                end_of_pass_write_index: Some(first + 1),
            }),
        })
    }

    /// Submits the passes and returns the duration of each of the first `count`, s.
    pub fn read(
        &self,
        device: &Device,
        mut encoder: CommandEncoder,
        count: usize,
    ) -> Result<Vec<f64>, GpuError> {
        let set_bytes = 2 * PASSES_PER_SET as u64 * STAMP_BYTES;
        for (k, set) in self
            .sets
            .iter()
            .enumerate()
            .take(count.div_ceil(PASSES_PER_SET))
        {
            let used = 2 * (count - k * PASSES_PER_SET).min(PASSES_PER_SET) as u32;
            encoder.resolve_query_set(set, 0..used, &self.resolved, k as u64 * set_bytes);
        }
        let bytes = 2 * count as u64 * STAMP_BYTES;
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
