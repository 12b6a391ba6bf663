//! Explicit bonded DEM on a graphics processor: time steps per second, and the bytes that a step moves,
//! compared with the card's own bandwidth.
//!
//! `cargo run --release --example bench_device -- [--adapter NAME] [--elements 100e3,1e6,4e6] [--steps N]
//! [--shot FILE [--set KEY=VALUE]…]`
//!
//! Measures an elastic block and one that breaks on a floor, at each size; then, with `--shot`, seconds per
//! frame of a pipeline. Standard output is one JSON object per line.

use std::time::Instant;

use clap::Parser;
use cullet::gpu::{self, Request};
use cullet::pack;
use cullet::simulate::methods::explicit::device::Gpu;
use cullet::simulate::{Method, SimulateError, build, schedule};
use cullet::spec::{self, Pipeline};
use cullet::store::Packing;
use serde_json::json;

#[path = "bench/block.rs"]
mod block;

#[derive(Parser)]
struct Arguments {
    /// Part of the adapter's name; default: the first discrete adapter, else an integrated one.
    #[arg(long)]
    adapter: Option<String>,
    /// Sizes of the blocks.
    #[arg(long, value_delimiter = ',', default_value = "100e3,1e6,4e6")]
    elements: Vec<f64>,
    /// Number of timed steps; default: about two seconds of them.
    #[arg(long)]
    steps: Option<u64>,
    /// A pipeline whose first frames are timed too.
    #[arg(long)]
    shot: Option<std::path::PathBuf>,
    /// Overrides for the pipeline.
    #[arg(long = "set")]
    set: Vec<String>,
    /// Number of timed frames of the pipeline.
    #[arg(long, default_value_t = 4)]
    frames: u32,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::parse();
    let request = Request {
        adapter: arguments.adapter.clone(),
        ..Request::default()
    };
    let device = gpu::Device::open(&request)?;
    let bandwidth = gpu::copy_bandwidth(&device, (1 << 30).min(device.limits.binding))?;
    println!(
        "{}",
        json!({ "adapter": device.report.name, "copy_bytes_per_second": bandwidth })
    );
    drop(device);
    for &elements in &arguments.elements {
        for breaking in [false, true] {
            let row = measure(elements, breaking, arguments.steps, &request, bandwidth)?;
            println!("{row}");
        }
    }
    if let Some(file) = &arguments.shot {
        println!("{}", shot(file, &arguments, &request)?);
    }
    Ok(())
}

fn start(
    packing: &Packing,
    pipeline: &Pipeline,
    dt: f64,
    request: &Request,
) -> Result<Gpu, SimulateError> {
    Gpu::new(build(packing, pipeline)?, pipeline, dt, request)
}

/// Strength of the block that breaks, Pa, with a Young's modulus of 10 MPa; and the speed at which it hits
/// the floor, m/s.
const BRITTLE: (f64, f64) = (1e5, 4.0);

fn measure(
    elements: f64,
    breaking: bool,
    steps: Option<u64>,
    request: &Request,
    bandwidth: f64,
) -> Result<serde_json::Value, Box<dyn std::error::Error>> {
    let edge = elements.cbrt().round() as usize;
    let strength = if breaking { BRITTLE.0 } else { 1e9 };
    let mut packing = block::block(edge, strength);
    let mut text = block::PIPELINE.to_owned();
    if breaking {
        packing.elements.vy.fill(-BRITTLE.1);
        text += "[[collider]]\nname = \"floor\"\nshape = { type = \"half_space\", normal = [0, 1, 0] }\nposition = [0, \"-1.01 mm\", 0]\n";
    }
    let pipeline = spec::parse(&text, "bench", &[])?;
    let dt = 0.4 * schedule(&packing, &pipeline)?.critical;
    let mut gpu = start(&packing, &pipeline, dt, request)?;
    let count = packing.elements.id.len();
    let timed = |gpu: &mut Gpu, steps: u64| -> Result<f64, SimulateError> {
        let clock = Instant::now();
        gpu.advance(steps)?;
        gpu.wait()?;
        Ok(clock.elapsed().as_secs_f64())
    };
    timed(&mut gpu, 20)?;
    let trial = timed(&mut gpu, 20)? / 20.0;
    let steps = steps.unwrap_or((2.0 / trial) as u64 + 20);
    let rate = count as f64 * steps as f64 / timed(&mut gpu, steps)?;
    let bytes = gpu.bytes_per_element_step();
    let profile = gpu.profile(100)?.unwrap_or_default();
    let total: f64 = profile.iter().map(|stage| stage.seconds).sum();
    let parts: serde_json::Map<_, _> = profile
        .iter()
        .map(|stage| (stage.name.to_owned(), json!(stage.seconds / total)))
        .collect();
    let history = gpu.snapshot(0)?.history;
    Ok(json!({
        "scene": if breaking { "breaking" } else { "elastic" },
        "elements": count,
        "steps": steps,
        "element_steps_per_second": rate,
        "bytes_per_element_step": bytes,
        "part_of_copy_bandwidth": rate * bytes / bandwidth,
        "device_bytes": gpu.device_bytes(),
        "broken_bonds": history.broken[0],
        "parts_of_device_time": parts,
    }))
}

fn shot(
    file: &std::path::Path,
    arguments: &Arguments,
    request: &Request,
) -> Result<serde_json::Value, Box<dyn std::error::Error>> {
    let resolved = spec::read(file, &arguments.set)?;
    let packing = pack::pack(&resolved.pipeline, &resolved.folder)?.packing;
    let plan = schedule(&packing, &resolved.pipeline)?;
    let mut gpu = start(&packing, &resolved.pipeline, plan.dt, request)?;
    gpu.snapshot(0)?;
    let clock = Instant::now();
    for frame in 1..=arguments.frames {
        gpu.advance(plan.steps_per_frame)?;
        gpu.capture(frame, false)?;
        // As in a run: the previous frame is read back while this one is computed.
        if frame > 1 {
            gpu.deliver()?;
        }
    }
    let broken = gpu.deliver()?.snapshot.history.broken[0];
    let seconds = clock.elapsed().as_secs_f64() / f64::from(arguments.frames);
    let count = packing.elements.id.len();
    Ok(json!({
        "shot": file,
        "elements": count,
        "steps_per_frame": plan.steps_per_frame,
        "seconds_per_frame": seconds,
        "element_steps_per_second": count as f64 * plan.steps_per_frame as f64 / seconds,
        "broken_bonds": broken,
    }))
}
