//! Evaluates a law on a device for rows of numbers.

use std::sync::OnceLock;

use cullet::gpu::{
    Column, ColumnName, Device, Item, Kernel, KernelText, LAUNCH_STRIDE, LaunchParameters,
};

use crate::device::request;

const STATES: ColumnName = ColumnName {
    name: "states",
    item: Item::U32,
};
const RESULTS: ColumnName = ColumnName {
    name: "results",
    item: Item::U32,
};
const TEXT: KernelText = KernelText::new(
    "probes",
    &[],
    &[
        include_str!("../../shaders/laws/real.wgsl"),
        include_str!("../../shaders/laws/quat.wgsl"),
        include_str!("../../shaders/laws/bond.wgsl"),
        include_str!("../../shaders/laws/bdem.wgsl"),
        include_str!("../../shaders/laws/relative.wgsl"),
        include_str!("../../shaders/laws/manifold.wgsl"),
        include_str!("../../shaders/laws/cosserat.wgsl"),
        include_str!("../../shaders/laws/failure.wgsl"),
        include_str!("../../shaders/laws/softening.wgsl"),
        include_str!("../../shaders/laws/damping.wgsl"),
        include_str!("../../shaders/laws/contact.wgsl"),
        include_str!("../../shaders/laws/motion.wgsl"),
        include_str!("../../shaders/laws/solid.wgsl"),
        include_str!("../../shaders/laws/hydrostatic.wgsl"),
        include_str!("../../shaders/laws/rankine.wgsl"),
        include_str!("probes.wgsl"),
    ],
    &[STATES.read(), RESULTS.write()],
);

/// The device under test, opened once; `None` where the machine has no driver and the environment does not
/// require one.
pub fn device() -> Option<&'static Device> {
    static DEVICE: OnceLock<Device> = OnceLock::new();
    let request = request()?;
    Some(DEVICE.get_or_init(|| Device::open(&request).unwrap()))
}

/// Results of the probe of this name, one row per row of arguments.
pub fn run(
    device: &Device,
    name: &'static str,
    rows: &[Vec<f32>],
    outputs: usize,
) -> Vec<Vec<f32>> {
    let inputs = rows[0].len();
    let words: Vec<f32> = rows.concat();
    let columns = [
        Column::from(device, STATES.name, STATES.item, &words).unwrap(),
        Column::new(
            device,
            RESULTS.name,
            RESULTS.item,
            (rows.len() * outputs) as u64,
        )
        .unwrap(),
    ];
    let bound = TEXT.bound(|name| columns.iter().find(|column| column.name() == name));
    let bound = bound.unwrap();
    let shared = device.uniform(16).unwrap();
    let table = device.uniform(LAUNCH_STRIDE).unwrap();
    let launches = LaunchParameters::new(device, &shared, &table);
    let constants = [
        ("COUNT", rows.len() as f64),
        ("INPUTS", inputs as f64),
        ("OUTPUTS", outputs as f64),
    ];
    let kernel = Kernel::new(device, name, &constants, &bound, &launches).unwrap();
    let group = kernel.bind(device, &bound).unwrap();
    let mut encoder = device.encoder();
    {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        let items = rows.len() as u64;
        kernel.dispatch(device, &mut pass, &group, (&launches, 0), items);
    }
    device.submit(encoder);
    let results: Vec<f32> = columns[1].read(device).unwrap();
    results.chunks_exact(outputs).map(<[f32]>::to_vec).collect()
}
