//! The seam between the stage and whatever steps in time, and the one place where choices are resolved or refused.

use rayon::prelude::*;

use super::SimulateError;
use super::build::build;
use super::cpu::Cpu;
use super::device::Gpu;
use super::stability::critical_step;
use super::state::{State, StateError};
use super::system::System;
use crate::columns::{Bonds, Breaks, Fragments, Frames, History};
use crate::gpu::{GpuError, Request};
use crate::math::Lanes;
#[cfg(target_arch = "x86_64")]
use crate::math::{F32x8, F32x16};
use crate::spec::{Backend, Pipeline, Precision};
use crate::store::Packing;

/// What a frame consists of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// One row an element.
    pub frames: Frames,
    /// Bonds broken since the last snapshot.
    pub breaks: Breaks,
    /// One row.
    pub history: History,
    /// One row a fragment.
    pub fragments: Fragments,
}

/// A frame that was asked for.
#[derive(Clone, Debug)]
pub struct Capture {
    /// Its tables.
    pub snapshot: Snapshot,
    /// Everything needed to continue bitwise, where that was asked for.
    pub state: Option<State>,
}

/// What an engine runs on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// In words.
    pub name: String,
    /// Bytes of device memory in use; none on the CPU.
    pub device_bytes: Option<u64>,
}

/// What one pass of the step has cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PassCost {
    /// Its name.
    pub name: &'static str,
    /// Seconds of all threads together since the engine was made.
    pub seconds: f64,
    /// Least memory traffic of one step, bytes: every column that the pass touches read or written once.
    pub bytes: u64,
}

/// A method, backend and precision at work on one scene.
///
/// Work and results are apart, so that a device can go on while a frame is read back and recorded. A failure leaves no state to go on from.
pub trait Engine: Send {
    /// Takes steps and leaves velocities at the end of the last. A device may still be at work when this returns; its failures come with
    /// the next delivery.
    fn advance(&mut self, steps: u64) -> Result<(), SimulateError>;
    /// Steps asked for so far; those before a restored state count.
    fn step(&self) -> u64;
    /// Asks for the frame as it stands after the steps asked for so far, and for the state when `state`.
    fn capture(&mut self, frame: u32, state: bool) -> Result<(), SimulateError>;
    /// The oldest capture not yet delivered; waits for it. Every break is handed over once, with the first frame after it.
    ///
    /// # Panics
    /// When no capture is outstanding.
    fn deliver(&mut self) -> Result<Capture, SimulateError>;
    /// What it runs on.
    fn place(&self) -> Place;
    /// Captures that may be outstanding while the next frame is under way: 0 computes in place, 1 lets a device go on.
    fn ahead(&self) -> usize {
        0
    }
    /// What the passes of the step have cost; empty where that is not measured.
    fn costs(&self) -> Vec<PassCost> {
        Vec::new()
    }
    /// Continues from a state of the same packing and pipeline, in an engine that has not stepped yet.
    fn restore(&mut self, state: &State) -> Result<(), StateError>;

    /// Capture and delivery in one, with no other capture outstanding.
    fn snapshot(&mut self, frame: u32) -> Result<Snapshot, SimulateError> {
        self.capture(frame, false)?;
        Ok(self.deliver()?.snapshot)
    }
    /// The same for the state; the frame and the breaks in it are dropped.
    fn state(&mut self, frame: u32) -> Result<State, SimulateError> {
        self.capture(frame, true)?;
        Ok(self.deliver()?.state.expect("it was asked for"))
    }
}

/// Time stepping as resolved: what `check` prints and `simulate` uses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// Critical step found by power iteration, s.
    pub critical: f64,
    /// Time step, s: a whole number of them makes a frame.
    pub dt: f64,
    /// Steps from frame to frame.
    pub steps_per_frame: u64,
    /// Frames after the first, which shows the start.
    pub frames: u32,
}

/// Finds the time step: the one asked for, or a fraction of the critical one, shortened so that frames fall on steps.
pub fn schedule(packing: &Packing, pipeline: &Pipeline) -> Result<Schedule, SimulateError> {
    let built = build::<f64>(packing, pipeline)?;
    let inverse_inertia: Vec<f64> = built.load.iter().map(|row| row.0[7]).collect();
    let obstacles: Vec<_> = pipeline
        .colliders
        .iter()
        .map(|c| super::colliders::obstacle(c, 0.0))
        .collect();
    let damping = pipeline
        .materials
        .iter()
        .map(|m| m.damping)
        .fold(0.0, f64::max);
    let critical = critical_step(
        &built.system,
        &inverse_inertia,
        &built.surfaces,
        &obstacles,
        damping,
    );
    let time = &pipeline.time;
    let interval = 1.0 / time.frames_per_second;
    let wanted = time.step.unwrap_or(time.fraction * critical).min(interval);
    // A step asked for that divides the interval up to rounding is taken as it is.
    let steps_per_frame = (interval / wanted - 1e-9).ceil().max(1.0);
    Ok(Schedule {
        critical,
        dt: interval / steps_per_frame,
        steps_per_frame: steps_per_frame as u64,
        frames: ((time.end / interval + 1e-9).floor() as u32).max(1),
    })
}

/// Refuses what no engine here can do, before any work is done or lost.
pub fn validate(
    packing: &Packing,
    pipeline: &Pipeline,
    backend: Backend,
) -> Result<(), SimulateError> {
    refuse_combination(pipeline, backend)?;
    // What is refused here concerns elements; bonds are many, and pack has just made them.
    let elements = Packing {
        elements: packing.elements.clone(),
        bonds: Bonds::default(),
    };
    let built = build::<f32>(&elements, pipeline)?;
    refuse_sunk(&built.system, packing, pipeline)
}

/// Part of its radius by which an element may start inside a collider; deeper, the contact would throw it out like a shot.
const SUNK: f64 = 0.2;

fn refuse_sunk(
    system: &System<f32>,
    packing: &Packing,
    pipeline: &Pipeline,
) -> Result<(), SimulateError> {
    for collider in &pipeline.colliders {
        let obstacle = super::colliders::obstacle(collider, 0.0);
        let sunk = (0..system.count)
            .into_par_iter()
            .filter(|&i| system.inverse_mass[i] > 0.0)
            .map(|i| {
                let (distance, ..) = obstacle.pose.surface(&obstacle.solid, system.position(i));
                (system.radius(i) - distance, i)
            })
            // Of equally deep ones the first, whoever looked where.
            .reduce(|| (0.0, 0), |a, b| if b.0 > a.0 { b } else { a });
        let (depth, i) = sunk;
        if depth > SUNK * system.radius(i) {
            let body = packing.elements.body[i] as usize;
            let near = system.position(i).to_array();
            return Err(SimulateError::Sunk {
                body: pipeline
                    .bodies
                    .get(body)
                    .map_or_else(|| body.to_string(), |body| body.name.clone()),
                collider: collider.name.clone(),
                depth,
                x: near[0],
                y: near[1],
                z: near[2],
            });
        }
    }
    Ok(())
}

/// What no engine does, whatever the machine has.
fn refuse_combination(pipeline: &Pipeline, backend: Backend) -> Result<(), SimulateError> {
    if backend == Backend::Gpu && pipeline.simulate.precision == Precision::F64 {
        return Err(SimulateError::Unsupported {
            option: "simulate.precision on backend gpu",
            value: "f64",
            allowed: "f32; or --backend cpu",
        });
    }
    Ok(())
}

/// The engine for a pipeline, or the reason why there is none.
pub fn engine(
    packing: &Packing,
    pipeline: &Pipeline,
    backend: Backend,
    dt: f64,
) -> Result<Box<dyn Engine>, SimulateError> {
    refuse_combination(pipeline, backend)?;
    let on_device = || {
        let settings = &pipeline.simulate.gpu;
        let request = Request {
            adapter: settings.adapter.clone(),
            binding_limit: settings.binding_limit,
            workgroup_limit: settings.workgroup_limit,
        };
        let built = build(packing, pipeline)?;
        let gpu = Gpu::new(built, packing, pipeline, dt, &request)?;
        Ok(Box::new(gpu) as Box<dyn Engine>)
    };
    match (backend, pipeline.simulate.precision) {
        (Backend::Gpu, _) => on_device(),
        (Backend::Auto, Precision::F32) => match on_device() {
            // No card, or none that can: all cores then.
            Err(SimulateError::Gpu(GpuError::NoAdapter { .. } | GpuError::Lacks { .. })) => {
                on_cores(packing, pipeline, dt)
            }
            other => other,
        },
        (Backend::Auto | Backend::Cpu, _) => on_cores(packing, pipeline, dt),
    }
}

fn on_cores(
    packing: &Packing,
    pipeline: &Pipeline,
    dt: f64,
) -> Result<Box<dyn Engine>, SimulateError> {
    match pipeline.simulate.precision {
        Precision::F64 => cpu::<f64>(packing, pipeline, dt),
        #[cfg(target_arch = "x86_64")]
        Precision::F32 if F32x16::available() => cpu::<F32x16>(packing, pipeline, dt),
        #[cfg(target_arch = "x86_64")]
        Precision::F32 if F32x8::available() => cpu::<F32x8>(packing, pipeline, dt),
        Precision::F32 => cpu::<f32>(packing, pipeline, dt),
    }
}

fn cpu<L: Lanes>(
    packing: &Packing,
    pipeline: &Pipeline,
    dt: f64,
) -> Result<Box<dyn Engine>, SimulateError> {
    let built = build(packing, pipeline)?;
    Ok(Box::new(Cpu::<L>::new(built, packing, pipeline, dt)))
}
