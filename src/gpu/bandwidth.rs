//! Bandwidth of a device's memory, measured.

use std::time::Instant;

use super::binding::{ColumnName, Item};
use super::column::Column;
use super::device::Device;
use super::error::GpuError;
use super::kernel::{Kernel, LaunchParameters};
use super::text::KernelText;

const ORIGINAL: ColumnName = ColumnName {
    name: "original",
    item: Item::Vec4,
};
const COPIED: ColumnName = ColumnName {
    name: "copied",
    item: Item::Vec4,
};

const TEXT: KernelText = KernelText::new(
    "copy",
    &[],
    &[include_str!("../../shaders/kernels/copy.wgsl")],
    &[ORIGINAL.read(), COPIED.write()],
);

/// Bandwidth of copies from one column of `bytes` bytes to another: bytes read plus written per second.
///
/// A kernel copies: the copy command of some drivers runs on an engine that has a fraction of the bandwidth of
/// kernels (a fifth on an H200).
pub fn copy_bandwidth(device: &Device, bytes: u64) -> Result<f64, GpuError> {
    let items = bytes / Item::Vec4.size();
    let from = Column::new(device, ORIGINAL.name, ORIGINAL.item, items)?;
    let to = Column::new(device, COPIED.name, COPIED.item, items)?;
    let numbers = device.uniform(16)?;
    let launches = LaunchParameters::new(device, &numbers, &numbers);
    let bound = TEXT.bound(|name| match name == ORIGINAL.name {
        true => Some(&from),
        false => Some(&to),
    })?;
    let constants = [("items", items as f64)];
    let kernel = Kernel::new(device, "main", &constants, &bound, &launches)?;
    let group = kernel.bind(device, &bound)?;
    let copy = |times: u32| {
        let mut encoder = device.encoder();
        let mut pass = encoder.begin_compute_pass(&Default::default());
        for _ in 0..times {
            kernel.dispatch(device, &mut pass, &group, (&launches, 0), items);
        }
        drop(pass);
        let clock = Instant::now();
        let submission = device.submit(encoder);
        device.wait(Some(submission)).map(|()| clock.elapsed())
    };
    copy(2)?;
    // The difference of two batches cancels the overhead of a submission.
    let (short, long) = (copy(4)?, copy(24)?);
    let seconds = long.saturating_sub(short).as_secs_f64().max(1e-9);
    Ok(20.0 * 2.0 * from.bytes() as f64 / seconds)
}
