//! Checks that a device computes as the laws need it: it must not simplify sums of two words away, as "fast"
//! mathematics does.

use crate::gpu::{
    Column, ColumnName, Device, GpuError, Item, Kernel, KernelText, LaunchParameters,
};

const TRIED: ColumnName = ColumnName {
    name: "tried",
    item: Item::Vec4,
};

const TEXT: KernelText = KernelText::new(
    "arithmetic",
    &[],
    &[
        include_str!("../../../../../shaders/laws/real.wgsl"),
        include_str!("../../../../../shaders/laws/quat.wgsl"),
        include_str!("../../../../../shaders/laws/motion.wgsl"),
        include_str!("../../../../../shaders/kernels/arithmetic.wgsl"),
    ],
    &[TRIED.write()],
);

/// Adds small numbers to two-word numbers and checks that the low word holds what rounding left out.
pub fn check(device: &Device) -> Result<(), GpuError> {
    let inputs: Vec<[f32; 4]> = (0..64)
        .map(|k| {
            let high = 1.0 + 0.01 * k as f32;
            [
                high,
                1e-9 * (k as f32 - 30.0),
                3.7e-9 * (k as f32 + 0.3),
                0.0,
            ]
        })
        .collect();
    let column = Column::from(device, TRIED.name, TRIED.item, &inputs)?;
    let numbers = device.uniform(16)?;
    let launches = LaunchParameters::new(device, &numbers, &numbers);
    let bound = TEXT.bound(|name| (name == TRIED.name).then_some(&column))?;
    let kernel = Kernel::new(device, "main", &[], &bound, &launches)?;
    let group = kernel.bind(device, &bound)?;
    let mut encoder = device.encoder();
    let mut pass = encoder.begin_compute_pass(&Default::default());
    kernel.dispatch(device, &mut pass, &group, (&launches, 0), 64);
    drop(pass);
    device.submit(encoder);
    let found: Vec<[f32; 4]> = column.read(device)?;
    let exact = |k: usize| {
        let [high, low, small, _] = inputs[k];
        let [sum, rest, ..] = found[k].map(f64::from);
        // Low words are added with rounding; everything else is exact.
        sum + rest == f64::from(high) + f64::from(low + small)
    };
    if (0..inputs.len()).all(exact) {
        Ok(())
    } else {
        Err(GpuError::Lacks {
            adapter: device.report.name.clone(),
            lacks: "its driver optimises sums of two words away (\"fast\" mathematics)".into(),
        })
    }
}
