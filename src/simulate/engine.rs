//! The seam between the stage and whatever steps in time, and the one place where choices are resolved or refused.

use rayon::prelude::*;

use super::SimulateError;
use super::build::{Built, build};
use super::cpu::Cpu;
use super::device::Gpu;
use super::implicit::Implicit;
use super::source::Source;
use super::stability::critical_step;
use super::state::{State, StateError};
use crate::columns::{Breaks, Convergence, Fragments, Frames, History, Loads};
use crate::gpu::{GpuError, Request};
use crate::laws::energy::{Cosserat, Manifold};
use crate::math::Scalar;
#[cfg(target_arch = "x86_64")]
use crate::math::{F32x8, F32x16};
use crate::spec::{
    Action, Backend, ColliderShape, ContactLaw, Friction, Integrator, Law, Pipeline, Precision,
};

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
    /// One row a collider and an attachment; empty where there is neither.
    pub loads: Loads,
    /// One row an iteration of a method; empty but after the step of `output.convergence`.
    pub convergence: Convergence,
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
    /// The state where an engine in place stands, without a frame: a large run need not hold both at once. None where states come with captures
    /// only.
    fn state_apart(&mut self, _frame: u32) -> Option<State> {
        None
    }
    /// Whether [`state_apart`](Self::state_apart) gives one.
    fn has_state_apart(&self) -> bool {
        false
    }
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
    /// Longest step that the pipeline allows, s.
    pub longest: f64,
    /// Time step, s: a whole number of them makes a frame.
    pub dt: f64,
    /// Steps from frame to frame.
    pub steps_per_frame: u64,
    /// Frames after the first, which shows the start.
    pub frames: u32,
}

/// A scene built in the precision that its pipeline asks for.
pub enum Prepared {
    /// Single precision.
    Single(Built<f32>),
    /// Double precision.
    Double(Built<f64>),
}

/// The same expression for either precision.
macro_rules! either {
    ($prepared:expr, $built:ident => $value:expr) => {
        match $prepared {
            Prepared::Single($built) => $value,
            Prepared::Double($built) => $value,
        }
    };
}

impl Prepared {
    /// Builds the scene, once for all that is asked of it.
    pub fn new(source: &dyn Source, pipeline: &Pipeline) -> Result<Self, SimulateError> {
        let implicit = pipeline.simulate.integrator.is_implicit();
        Ok(match pipeline.simulate.precision {
            Precision::F32 if !implicit => Prepared::Single(build(source, pipeline)?),
            Precision::F32 | Precision::F64 => Prepared::Double(build(source, pipeline)?),
        })
    }

    /// Hash of all numbers of the packing.
    pub fn hash(&self) -> u64 {
        either!(self, built => built.hash)
    }

    /// Finds the time step: the one asked for, or a fraction of the critical one, shortened so that frames fall on steps.
    pub fn schedule(&self, pipeline: &Pipeline) -> Schedule {
        let critical = either!(self, built => critical_of(built, pipeline));
        let time = &pipeline.time;
        let interval = 1.0 / time.frames_per_second;
        let fraction = match pipeline.simulate.integrator.is_implicit() {
            true => pipeline.simulate.implicit.periods,
            false => time.fraction,
        };
        let longest = time.step.unwrap_or(fraction * critical);
        let wanted = longest.min(interval);
        // A step asked for that divides the interval up to rounding is taken as it is.
        let steps_per_frame = (interval / wanted - 1e-9).ceil().max(1.0);
        Schedule {
            critical,
            longest,
            dt: interval / steps_per_frame,
            steps_per_frame: steps_per_frame as u64,
            frames: ((time.end / interval + 1e-9).floor() as u32).max(1),
        }
    }

    /// Refuses what no engine here can do, before any work is done or lost.
    pub fn validate(&self, pipeline: &Pipeline, backend: Backend) -> Result<(), SimulateError> {
        refuse_combination(pipeline, backend)?;
        either!(self, built => refuse_sunk(built, pipeline))
    }

    /// The engine for a pipeline, or the reason why there is none.
    pub fn engine(
        self,
        pipeline: &Pipeline,
        backend: Backend,
        dt: f64,
    ) -> Result<Box<dyn Engine>, SimulateError> {
        refuse_combination(pipeline, backend)?;
        let built = match self {
            Prepared::Single(built) => built,
            Prepared::Double(built) => return Ok(double(built, pipeline, dt)),
        };
        if backend != Backend::Cpu && lacking(pipeline).is_none() {
            let settings = &pipeline.simulate.gpu;
            let request = Request {
                adapter: settings.adapter.clone(),
                binding_limit: settings.binding_limit,
                workgroup_limit: settings.workgroup_limit,
            };
            match Gpu::open(&request) {
                Ok(device) => return Ok(Box::new(Gpu::on(device, built, pipeline, dt)?)),
                // No card, or none that can: all cores then.
                Err(GpuError::NoAdapter { .. } | GpuError::Lacks { .. })
                    if backend == Backend::Auto => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(on_cores(built, pipeline, dt))
    }
}

/// Explicit reference or implicit steps.
fn double(built: Built<f64>, pipeline: &Pipeline, dt: f64) -> Box<dyn Engine> {
    if !pipeline.simulate.integrator.is_implicit() {
        return Box::new(Cpu::<f64>::new(built, pipeline, dt));
    }
    let critical = critical_of(&built, pipeline);
    match pipeline.simulate.bond_law() {
        Law::Cosserat => Box::new(Implicit::<Cosserat>::new(built, pipeline, dt, critical)),
        Law::Manifold | Law::Bdem => {
            Box::new(Implicit::<Manifold>::new(built, pipeline, dt, critical))
        }
    }
}

/// The widest lanes that this machine has; all give the same bits.
fn on_cores(built: Built<f32>, pipeline: &Pipeline, dt: f64) -> Box<dyn Engine> {
    #[cfg(target_arch = "x86_64")]
    if F32x16::available() {
        return Box::new(Cpu::<F32x16>::new(built, pipeline, dt));
    } else if F32x8::available() {
        return Box::new(Cpu::<F32x8>::new(built, pipeline, dt));
    }
    Box::new(Cpu::<f32>::new(built, pipeline, dt))
}

/// The time step of a packing: see [`Prepared::schedule`].
pub fn schedule(source: &dyn Source, pipeline: &Pipeline) -> Result<Schedule, SimulateError> {
    Ok(Prepared::new(source, pipeline)?.schedule(pipeline))
}

/// The engine for a packing: see [`Prepared::engine`].
pub fn engine(
    source: &dyn Source,
    pipeline: &Pipeline,
    backend: Backend,
    dt: f64,
) -> Result<Box<dyn Engine>, SimulateError> {
    Prepared::new(source, pipeline)?.engine(pipeline, backend, dt)
}

fn critical_of<S: Scalar>(built: &Built<S>, pipeline: &Pipeline) -> f64 {
    let colliders = built.bearers.colliders().iter();
    let obstacles: Vec<_> = colliders.map(|c| c.at(0.0)).collect();
    let damping = pipeline
        .materials
        .iter()
        .map(|m| m.damping)
        .fold(0.0, f64::max);
    let critical = critical_step(
        &built.system,
        (&built.rest.inverse_mass, &built.rest.inverse_inertia),
        &built.surfaces,
        &obstacles,
        damping,
    );
    // The largest eigenvalue of a sum is no larger than the sum of both.
    let springs = built.springs.largest_per_mass(&built.rest.mass);
    match springs > 0.0 {
        true => 2.0 / (4.0 / (critical * critical) + springs).sqrt(),
        false => critical,
    }
}

/// Part of its radius by which an element may start inside a collider; deeper, the contact would throw it out like a shot.
const SUNK: f64 = 0.2;

fn refuse_sunk<S: Scalar>(built: &Built<S>, pipeline: &Pipeline) -> Result<(), SimulateError> {
    let system = &built.system;
    for barrier in built.bearers.colliders() {
        let obstacle = barrier.at(0.0);
        let sunk = (0..system.count)
            .into_par_iter()
            .filter(|&i| system.inverse_mass[i].to_f64() > 0.0)
            .map(|i| {
                let (distance, ..) = obstacle.pose.surface(&obstacle.solid, system.position(i));
                (system.radius(i) - distance, i)
            })
            // Of equally deep ones the first, whoever looked where.
            .reduce(|| (0.0, 0), |a, b| if b.0 > a.0 { b } else { a });
        let (depth, i) = sunk;
        if depth > SUNK * system.radius(i) {
            let body = built.rest.body[i] as usize;
            let near = system.position(i).to_array();
            return Err(SimulateError::Sunk {
                body: pipeline
                    .bodies
                    .get(body)
                    .map_or_else(|| body.to_string(), |body| body.name.clone()),
                collider: barrier.collider.name.clone(),
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
    if let Some(lacking) = lacking_for_steps(pipeline, backend) {
        return Err(lacking);
    }
    match lacking(pipeline) {
        Some(lacking) if backend == Backend::Gpu => Err(lacking),
        _ => Ok(()),
    }
}

/// What of a pipeline its integrator lacks.
fn lacking_for_steps(pipeline: &Pipeline, backend: Backend) -> Option<SimulateError> {
    let lack = |option, value, allowed| {
        Some(SimulateError::Unsupported {
            option,
            value,
            allowed,
        })
    };
    let settings = &pipeline.simulate;
    let integrator = settings.integrator;
    let minimises = matches!(integrator, Integrator::BackwardEuler | Integrator::Midpoint);
    if pipeline.output.convergence.is_some() && !minimises {
        return lack(
            "output.convergence with simulate.integrator",
            integrator.name(),
            "backward_euler, midpoint: steps that find a minimum",
        );
    }
    if pipeline.output.convergence.is_some() && settings.contact == ContactLaw::Barrier {
        return lack(
            "output.convergence with simulate.contact",
            "barrier",
            "penalty",
        );
    }
    if !integrator.is_implicit() {
        // Its stiffness has no bound, so no explicit step is short enough.
        return match settings.contact {
            ContactLaw::Barrier => lack(
                "simulate.contact in explicit steps",
                "barrier",
                "penalty; or simulate.integrator = \"backward_euler\", \"midpoint\", \"linearly_implicit\"",
            ),
            ContactLaw::Penalty => None,
        };
    }
    if settings.bond_law() == Law::Bdem {
        return lack(
            "simulate.law in implicit steps",
            "bdem",
            "manifold, cosserat: laws with an energy",
        );
    }
    if backend == Backend::Gpu {
        return lack("backend of implicit steps", "gpu", "cpu, auto");
    }
    if pipeline.bodies.iter().any(|body| body.rigid) {
        return lack("body.rigid in implicit steps", "true", "false");
    }
    if pipeline.output.work {
        return lack("output.work in implicit steps", "true", "false");
    }
    let materials = pipeline.materials.iter().map(|one| one.rolling_friction);
    let pairs = pipeline
        .pairs
        .iter()
        .filter_map(|pair| pair.rolling_friction);
    let rolling = materials.chain(pairs).any(|friction| friction > 0.0);
    if rolling && settings.implicit.friction == Friction::Lagged {
        return lack(
            "rolling_friction in implicit steps",
            "above 0",
            "0; or simulate.implicit.friction = \"projected\"",
        );
    }
    None
}

/// What of a pipeline graphics processors lack, so that `auto` takes the CPU.
fn lacking(pipeline: &Pipeline) -> Option<SimulateError> {
    let lack = |option, value, allowed| {
        Some(SimulateError::Unsupported {
            option,
            value,
            allowed,
        })
    };
    if pipeline.bodies.iter().any(|body| body.rigid) {
        return lack(
            "body.rigid on backend gpu",
            "true",
            "false; or --backend cpu",
        );
    }
    if pipeline.output.work {
        return lack(
            "output.work on backend gpu",
            "true",
            "false; or --backend cpu",
        );
    }
    let mut shapes = pipeline.colliders.iter().map(|collider| &collider.shape);
    if shapes.any(|shape| matches!(shape, ColliderShape::Mesh { .. })) {
        return lack(
            "collider.shape.type on backend gpu",
            "mesh",
            "half_space, box, sphere, cylinder; or --backend cpu",
        );
    }
    let actions = pipeline.attachments.iter().map(|one| &one.action);
    let on_cores = actions.filter_map(|action| match action {
        Action::Spring { .. } => Some("spring"),
        Action::Pressure { .. } => Some("pressure"),
        Action::Clamp { .. } | Action::Force { .. } | Action::Gauge {} => None,
    });
    if let Some(name) = on_cores.into_iter().next() {
        return lack(
            "attach.action.type on backend gpu",
            name,
            "clamp, force, gauge; or --backend cpu",
        );
    }
    let mut materials = pipeline.materials.iter();
    if materials.any(|material| material.hydrostatic_strength.is_some()) {
        return lack(
            "material.hydrostatic_strength on backend gpu",
            "a strength",
            "none; or --backend cpu",
        );
    }
    let materials = pipeline.materials.iter().map(|one| one.rolling_friction);
    let pairs = pipeline
        .pairs
        .iter()
        .filter_map(|pair| pair.rolling_friction);
    if materials.chain(pairs).any(|friction| friction > 0.0) {
        return lack(
            "rolling_friction on backend gpu",
            "above 0",
            "0; or --backend cpu",
        );
    }
    None
}
