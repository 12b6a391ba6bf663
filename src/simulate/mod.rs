//! Time integration with fracture: from a packing to frames, breaks, history, fragments and states.
//!
//! Meets the other stages only in the frame store.

pub mod bond_pass;
mod bond_tasks;
pub mod bonds;
mod breaks;
mod build;
mod colliders;
pub mod contact_pass;
pub mod contacts;
mod costs;
pub mod cpu;
pub mod device;
mod drive;
pub mod engine;
mod fragments;
pub mod motion_pass;
mod orient;
mod pair_list;
mod pair_pass;
mod parts;
mod record;
mod rows;
pub mod source;
mod stability;
pub mod state;
pub mod system;
mod wall_list;
mod writer;

use std::sync::atomic::AtomicBool;
use std::time::Instant;

pub use build::{Built, build};
pub use engine::{
    Capture, Engine, PassCost, Place, Prepared, Schedule, Snapshot, engine, schedule,
};
use state::{State, StateError};

use crate::spec::{Backend, Pipeline};
use crate::store::{Store, StoreError};

/// Why a simulation does not start or stops.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// Elements and bonds do not fit together.
    #[error("packing: {0}")]
    Packing(String),
    /// An attachment holds nothing.
    #[error(
        "attach {attachment:?}: no element of body {body:?} lies in its region at rest; make the region larger"
    )]
    EmptyAttachment {
        /// Name of the attachment.
        attachment: String,
        /// Its body.
        body: String,
    },
    /// A body starts inside a collider.
    #[error(
        "body {body:?} starts inside collider {collider:?}, up to {depth:.4e} m deep near ({x:.4}, {y:.4}, {z:.4}); move one of them \
         (a mesh keeps its file's origin, other shapes are centred on their position)"
    )]
    Sunk {
        /// Body.
        body: String,
        /// Collider.
        collider: String,
        /// How deep an element reaches in, m.
        depth: f64,
        /// Where that element is, m.
        x: f64,
        /// Where that element is, m.
        y: f64,
        /// Where that element is, m.
        z: f64,
    },
    /// A choice that is not there.
    #[error("{option} {value:?} is not available here; allowed: {allowed}")]
    Unsupported {
        /// The option.
        option: &'static str,
        /// What was asked for.
        value: &'static str,
        /// What can be had.
        allowed: &'static str,
    },
    /// Nothing to do.
    #[error(
        "the run ends at {end:.4e} s, before its first frame at {interval:.4e} s; make it longer"
    )]
    TooShort {
        /// End asked for, s.
        end: f64,
        /// Time from frame to frame, s.
        interval: f64,
    },
    /// A number went wrong.
    #[error(
        "step {step} (t = {time:.6e} s): element {element} is no longer finite; \
         the last frame written is good. A smaller time.fraction or time.step may help"
    )]
    NotFinite {
        /// Step.
        step: u64,
        /// Time, s.
        time: f64,
        /// First such element.
        element: u32,
    },
    /// A state cannot be continued.
    #[error("state {frame}: {source}")]
    State {
        /// Frame of the state.
        frame: u32,
        /// Why.
        source: StateError,
    },
    /// Packing or pipeline changed since the state was written.
    #[error(
        "state {frame} belongs to another packing or other physics; run simulate without --resume to start anew"
    )]
    Changed {
        /// Frame of the state.
        frame: u32,
    },
    /// More steps than a device can count.
    #[error(
        "a run on a graphics processor takes at most {limit} steps; a larger element radius or a shorter run needs fewer"
    )]
    TooManySteps {
        /// The most.
        limit: u64,
    },
    /// The graphics processor failed.
    #[error(transparent)]
    Gpu(#[from] crate::gpu::GpuError),
    /// The frame store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How a run is asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// Overrides the pipeline's backend.
    pub backend: Option<Backend>,
    /// Overrides the pipeline's graphics adapter; the backend is then a graphics processor.
    pub adapter: Option<String>,
    /// Continue from the newest state.
    pub resume: bool,
    /// End earlier or later than the pipeline says, s.
    pub until: Option<f64>,
}

/// Where a run stands, after every frame.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Frame just done.
    pub frame: u32,
    /// Last frame of the run.
    pub last: u32,
    /// Bonds broken so far.
    pub broken: u32,
    /// Fragments now.
    pub fragments: u32,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What it ran on.
    pub place: String,
    /// Last frame written.
    pub frame: u32,
    /// Whether the user stopped it; it can then be resumed.
    pub interrupted: bool,
    /// Steps taken in this run, up to the last frame.
    pub steps: u64,
}

/// Runs the stage on a packed store.
///
/// `stop` ends the run after the frames in progress. Frames, breaks, history, fragments and states are written whole, in order.
pub fn run(
    store: &Store,
    pipeline: &Pipeline,
    options: &Options,
    stop: &AtomicBool,
    on_frame: &mut dyn FnMut(Progress),
) -> Result<Outcome, SimulateError> {
    let mut pipeline = pipeline.clone();
    if let Some(end) = options.until {
        pipeline.time.end = end;
    }
    let interval = 1.0 / pipeline.time.frames_per_second;
    if pipeline.time.end.is_nan() || pipeline.time.end < interval * (1.0 - 1e-9) {
        let end = pipeline.time.end;
        return Err(SimulateError::TooShort { end, interval });
    }
    let prepared = Prepared::new(store, &pipeline)?;
    let plan = prepared.schedule(&pipeline);
    let mut backend = options.backend.unwrap_or(pipeline.simulate.backend);
    if options.adapter.is_some() {
        pipeline.simulate.gpu.adapter.clone_from(&options.adapter);
        backend = Backend::Gpu;
    }
    let inputs = inputs_hash(prepared.hash(), &pipeline);
    let mut engine = prepared.engine(&pipeline, backend, plan.dt)?;
    let resumed = if options.resume {
        resume(store, engine.as_mut(), inputs)?
    } else {
        None
    };
    let first = match resumed {
        Some(frame) => frame,
        None => {
            // What later stages made of other frames would not fit these.
            for kind in FOLDERS
                .iter()
                .chain(&["meshes", "exports", "preview", "plots"])
            {
                store.clear(kind)?;
            }
            0
        }
    };
    for kind in FOLDERS {
        store.clear_temporaries(kind)?;
    }
    let settings = &pipeline.simulate;
    let keep = settings.keep_states as usize;
    let writer = writer::Writer::start(store.clone(), &pipeline.output, keep);
    let mut progress = Progress {
        frame: first,
        last: plan.frames.max(first),
        broken: 0,
        fragments: 0,
    };
    let course = drive::Course {
        start: first,
        anew: resumed.is_none(),
        last: plan.frames,
        steps_per_frame: plan.steps_per_frame,
        state_every: settings.frames_per_state(plan.steps_per_frame),
    };
    let mut clock = Instant::now();
    let mut record = |frame: u32, delivery: drive::Delivery| {
        let (capture, state_follows) = match delivery {
            drive::Delivery::Frame {
                capture,
                state_follows,
            } => (capture, state_follows),
            drive::Delivery::State(mut state) => {
                state.inputs = inputs;
                return writer.send(writer::Job::State(state));
            }
        };
        let mut snapshot = capture.snapshot;
        snapshot.history.seconds = vec![clock.elapsed().as_secs_f64()];
        clock = Instant::now();
        progress.frame = frame;
        progress.broken = snapshot.history.broken[0];
        progress.fragments = snapshot.history.fragments[0];
        let mut alive = writer.send(writer::Job::Frame(frame, Box::new(snapshot)));
        if let Some(mut state) = capture.state {
            state.inputs = inputs;
            alive &= writer.send(writer::Job::State(Box::new(state)));
        }
        on_frame(progress);
        // A state is large: the frame leaves memory before it comes.
        alive && (!state_follows || writer.wait())
    };
    let driven = drive::drive(engine.as_mut(), &course, stop, &mut record);
    writer.finish()?;
    driven?;
    Ok(Outcome {
        place: engine.place().name,
        frame: progress.frame,
        interrupted: progress.frame < plan.frames,
        steps: u64::from(progress.frame - first) * plan.steps_per_frame,
    })
}

/// Folders that the stage writes.
const FOLDERS: [&str; 5] = ["frames", "breaks", "history", "fragments", "state"];

/// Restores the newest state that is whole; `None` when there is none yet.
fn resume(
    store: &Store,
    engine: &mut dyn Engine,
    inputs: u64,
) -> Result<Option<u32>, SimulateError> {
    let mut damaged = None;
    let mut found = None;
    for frame in store.numbers("state", "rkyv")?.into_iter().rev() {
        match State::read(store, frame) {
            Ok(state) => {
                found = Some((frame, state));
                break;
            }
            // An older state leads to the same frames.
            Err(error @ StoreError::Damaged { .. }) => damaged = damaged.or(Some(error)),
            Err(error) => return Err(error.into()),
        }
    }
    let Some((frame, state)) = found else {
        return damaged.map_or(Ok(None), |error| Err(error.into()));
    };
    if state.inputs != inputs {
        return Err(SimulateError::Changed { frame });
    }
    engine
        .restore(&state)
        .map_err(|source| SimulateError::State { frame, source })?;
    Ok(Some(frame))
}

/// Hash of all that the course of a run follows from; not of its end, backend or what is kept.
fn inputs_hash(packing: u64, pipeline: &Pipeline) -> u64 {
    let mut physics = pipeline.clone();
    physics.time.end = 0.0;
    physics.simulate.backend = Backend::Auto;
    physics.simulate.gpu = Default::default();
    physics.simulate.keep_states = 0;
    physics.simulate.state_every = None;
    physics.output = Default::default();
    physics.export = Default::default();
    physics.preview = Default::default();
    physics.reconstruct = Default::default();
    let mut hash = xxhash_rust::xxh3::Xxh3::new();
    hash.update(format!("{physics:?}").as_bytes());
    hash.update(&packing.to_le_bytes());
    hash.digest()
}
