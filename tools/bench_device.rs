//! Explicit bonded DEM on a graphics processor: time steps per second, and the bytes that a step moves,
//! compared with the card's own bandwidth.
//!
//! `cargo run --release --example bench_device -- [--adapter NAME] [--elements 100e3,1e6,4e6] [--steps N]
//! [--scenes elastic,breaking,softening,rankine] [--shot FILE [--set KEY=VALUE]…]`
//!
//! Measures an elastic block and one that breaks on a floor, at each size; with `--scenes` also blocks whose bonds
//! soften before they break, or break by Rankine's criterion; then, with `--shot`, seconds per frame of a pipeline.
//! Standard output is one JSON object per line. The bytes of a step leave out what Rankine's criterion reads.

use std::time::Instant;

use clap::{Parser, ValueEnum};
use cullet::gpu::{self, DeviceRequest};
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
    /// Blocks to measure.
    #[arg(long, value_delimiter = ',', default_value = "elastic,breaking")]
    scenes: Vec<Scene>,
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

/// A block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Scene {
    /// It cannot break and touches nothing.
    Elastic,
    /// It breaks on a floor.
    Breaking,
    /// It breaks on a floor, and its bonds soften first.
    Softening,
    /// It breaks on a floor by Rankine's criterion.
    Rankine,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::parse();
    let request = DeviceRequest {
        adapter: arguments.adapter.clone(),
        ..DeviceRequest::default()
    };
    let device = gpu::Device::open(&request)?;
    let bandwidth = gpu::copy_bandwidth(&device, (1 << 30).min(device.limits.binding))?;
    println!(
        "{}",
        json!({ "adapter": device.report.name, "copy_bytes_per_second": bandwidth })
    );
    drop(device);
    for &elements in &arguments.elements {
        for &scene in &arguments.scenes {
            let row = measure(elements, scene, arguments.steps, &request, bandwidth)?;
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
    request: &DeviceRequest,
) -> Result<Gpu, SimulateError> {
    Gpu::new(build(packing, pipeline)?, pipeline, dt, request)
}

/// What 100 steps cost on the device, by group of kernels.
struct Profile {
    microseconds_a_step: f64,
    parts: serde_json::Map<String, serde_json::Value>,
    dispatches: serde_json::Map<String, serde_json::Value>,
}

impl Profile {
    fn of(gpu: &mut Gpu) -> Result<Self, SimulateError> {
        let stages = gpu.profile(100)?.unwrap_or_default();
        let total: f64 = stages.iter().map(|stage| stage.seconds).sum();
        let named = stages.iter().map(|stage| stage.name.to_owned());
        let parts = stages.iter().map(|stage| json!(stage.seconds / total));
        let dispatches = stages.iter().map(|stage| json!(stage.count));
        Ok(Profile {
            microseconds_a_step: 1e6 * total / 100.0,
            parts: named.clone().zip(parts).collect(),
            dispatches: named.zip(dispatches).collect(),
        })
    }
}

/// Strength of the block that breaks, Pa, with a Young's modulus of 10 MPa; and the speed at which it hits
/// the floor, m/s.
const BRITTLE: (f64, f64) = (1e5, 4.0);
/// Its toughness if its bonds soften, Pa √m: they break at about four times the strain at their strength.
const TOUGHNESS: f64 = 14e3;

fn measure(
    elements: f64,
    scene: Scene,
    steps: Option<u64>,
    request: &DeviceRequest,
    bandwidth: f64,
) -> Result<serde_json::Value, Box<dyn std::error::Error>> {
    let edge = elements.cbrt().round() as usize;
    let breaking = scene != Scene::Elastic;
    let strength = if breaking { BRITTLE.0 } else { 1e9 };
    let mut packing = block::block(edge, strength);
    let mut text = block::PIPELINE.to_owned();
    if breaking {
        packing.elements.vy.fill(-BRITTLE.1);
        text += "[[collider]]\nname = \"floor\"\nshape = { type = \"half_space\", normal = [0, 1, 0] }\nposition = [0, \"-1.01 mm\", 0]\n";
    }
    if scene == Scene::Softening {
        let tough = format!(
            "criterion = \"tension\"\ntensile_strength = {}\ntoughness = {TOUGHNESS}\nelasticity",
            BRITTLE.0
        );
        text = text.replace("elasticity", &tough);
    }
    if scene == Scene::Rankine {
        let rankine = format!(
            "criterion = \"rankine\"\ntensile_strength = {}\nelasticity",
            BRITTLE.0
        );
        text = text.replace("elasticity", &rankine);
    }
    let pipeline = spec::parse(&text, "bench", &[])?;
    let dt = 0.4 * schedule(&packing, &pipeline)?.critical;
    let mut gpu = start(&packing, &pipeline, dt, request)?;
    let count = packing.elements.id.len();
    // Seconds, and how often the contact lists have been rebuilt so far.
    let timed = |gpu: &mut Gpu, steps: u64| -> Result<(f64, u32), SimulateError> {
        let clock = Instant::now();
        gpu.advance(steps)?;
        let rebuilds = gpu.wait()?;
        Ok((clock.elapsed().as_secs_f64(), rebuilds))
    };
    timed(&mut gpu, 20)?;
    let (trial, before) = timed(&mut gpu, 20)?;
    let steps = steps.unwrap_or((2.0 * 20.0 / trial) as u64 + 20);
    let (seconds, after) = timed(&mut gpu, steps)?;
    let rate = count as f64 * steps as f64 / seconds;
    let bytes = gpu.bytes_per_element_step();
    let profile = Profile::of(&mut gpu)?;
    let history = gpu.snapshot(0)?.history;
    Ok(json!({
        "scene": format!("{scene:?}").to_lowercase(),
        "elements": count,
        "steps": steps,
        "element_steps_per_second": rate,
        "bytes_per_element_step": bytes,
        "part_of_copy_bandwidth": rate * bytes / bandwidth,
        "device_bytes": gpu.device_bytes(),
        "broken_bonds": history.broken[0],
        "steps_per_rebuild_of_lists": steps as f64 / f64::from(after - before),
        "microseconds_of_device_a_step": profile.microseconds_a_step,
        "parts_of_device_time": profile.parts,
        "dispatches_in_100_steps": profile.dispatches,
    }))
}

fn shot(
    file: &std::path::Path,
    arguments: &Arguments,
    request: &DeviceRequest,
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
    let profile = Profile::of(&mut gpu)?;
    let count = packing.elements.id.len();
    Ok(json!({
        "shot": file,
        "elements": count,
        "steps_per_frame": plan.steps_per_frame,
        "seconds_per_frame": seconds,
        "element_steps_per_second": count as f64 * plan.steps_per_frame as f64 / seconds,
        "broken_bonds": broken,
        "microseconds_of_device_a_step": profile.microseconds_a_step,
        "parts_of_device_time": profile.parts,
        "dispatches_in_100_steps": profile.dispatches,
    }))
}
