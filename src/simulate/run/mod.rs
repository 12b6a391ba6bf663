//! The loop over frames: from a packed store to frames, breaks, history, fragments and states.

mod drive;
mod inputs;
mod writer;

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::simulate::error::SimulateError;
use crate::simulate::method::Method;
use crate::simulate::resolve::{self, Prepared, Schedule};
use crate::simulate::run_state::state::State;
use crate::spec::{Backend, Pipeline};
use crate::store::{Store, StoreError, layout};

/// Where a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At the packing.
    Anew,
    /// At the newest state that is whole; at the packing when there is none yet.
    Newest,
    /// At the state of this frame.
    State(u32),
}

/// How a run is asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// Overrides the pipeline's backend.
    pub backend: Option<Backend>,
    /// Overrides the pipeline's graphics adapter; the backend is then a graphics processor.
    pub adapter: Option<String>,
    /// Where to begin.
    pub start: Start,
    /// End earlier or later than the pipeline says, s.
    pub until: Option<f64>,
    /// Frame of a state that another store left to this one: it may belong to other physics.
    pub inherited: Option<u32>,
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
    /// What is wrong with a newer state than the one that the run went on from.
    pub damaged: Option<String>,
}

/// Runs the stage on a packed store.
///
/// `stop` ends the run after the frames in progress. Frames, breaks, history, fragments and states are
/// written whole, in order.
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
    let (mut pipeline, _) = resolve::choose::choose(store, &pipeline)?;
    let prepared = Prepared::new(store, &pipeline)?;
    let plan = prepared.schedule(&pipeline);
    let mut backend = options.backend.unwrap_or(pipeline.simulate.backend);
    if options.adapter.is_some() {
        pipeline.simulate.gpu.adapter.clone_from(&options.adapter);
        backend = Backend::Gpu;
    }
    let inputs = inputs::hash(prepared.hash(), &pipeline);
    let mut method = prepared.start(&pipeline, backend, plan.dt)?;
    let resumed = resume(store, method.as_mut(), options, inputs, plan.longest)?;
    let course = course(store, &pipeline, resumed.as_ref(), &plan)?;
    let keep = pipeline.simulate.keep_states as usize;
    let writer = writer::Writer::start(store.clone(), &pipeline.output, keep);
    let mut progress = Progress {
        frame: course.start,
        last: course.last.max(course.start),
        broken: 0,
        fragments: 0,
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
    let driven = drive::drive(method.as_mut(), &course, stop, &mut record);
    writer.finish()?;
    driven?;
    Ok(Outcome {
        place: method.place().name,
        frame: progress.frame,
        interrupted: progress.frame < course.last,
        steps: u64::from(progress.frame - course.start) * course.steps_per_frame,
        damaged: resumed.and_then(|resumed| resumed.newer),
    })
}

/// The frames that a run is to write; those that stand in their way are removed.
fn course(
    store: &Store,
    pipeline: &Pipeline,
    resumed: Option<&Resumed>,
    plan: &Schedule,
) -> Result<drive::Course, SimulateError> {
    let (start, last, steps_per_frame) = match resumed {
        Some(from) => {
            // A run that goes on keeps its step.
            let rate = pipeline.time.frames_per_second;
            let steps = steps_per_frame(rate, from.dt)?;
            let frames = ((pipeline.time.end - from.time) / (1.0 / rate) + 1e-9).floor();
            store.clear_after(&layout::made_by("simulate"), from.frame)?;
            (from.frame, from.frame.saturating_add(frames as u32), steps)
        }
        None => {
            // What later stages made of other frames would not fit these.
            store.clear(&layout::made_after("pack"))?;
            (0, plan.frames, plan.steps_per_frame)
        }
    };
    Ok(drive::Course {
        start,
        anew: resumed.is_none(),
        last,
        steps_per_frame,
        state_every: pipeline.simulate.frames_per_state(steps_per_frame),
    })
}

/// Where a run goes on.
struct Resumed {
    frame: u32,
    time: f64,
    dt: f64,
    /// What is wrong with a newer state.
    newer: Option<String>,
}

/// Restores the state asked for; `None` when the run is to begin at the packing.
fn resume(
    store: &Store,
    method: &mut dyn Method,
    options: &Options,
    inputs: u64,
    longest: f64,
) -> Result<Option<Resumed>, SimulateError> {
    let Some((state, newer)) = kept_state(store, options.start)? else {
        return Ok(None);
    };
    let newer = newer.map(|error| error.to_string());
    let (frame, dt) = (state.frame, state.dt);
    if state.inputs != inputs {
        if options.inherited != Some(frame) {
            return Err(SimulateError::Changed { frame });
        }
        if dt > longest * (1.0 + 1e-9) {
            return Err(SimulateError::StepTooLong { frame, dt, longest });
        }
    }
    method
        .restore(&state)
        .map_err(|source| SimulateError::State { frame, source })?;
    let time = state.step as f64 * dt;
    Ok(Some(Resumed {
        frame,
        time,
        dt,
        newer,
    }))
}

/// Reads the state to begin with, if any, and tells what is wrong with a newer one.
fn kept_state(
    store: &Store,
    start: Start,
) -> Result<Option<(State, Option<StoreError>)>, SimulateError> {
    let kept = store.numbers("state", "rkyv")?;
    match start {
        Start::Anew => Ok(None),
        Start::State(frame) if kept.contains(&frame) => {
            Ok(Some((State::read(store, frame)?, None)))
        }
        Start::State(frame) => {
            let kept: Vec<_> = kept.iter().map(u32::to_string).collect();
            let kept = match kept[..] {
                [] => "none".to_owned(),
                _ => kept.join(", "),
            };
            Err(SimulateError::NoState { frame, kept })
        }
        Start::Newest => {
            let mut damaged = None;
            for frame in kept.into_iter().rev() {
                match State::read(store, frame) {
                    Ok(state) => return Ok(Some((state, damaged))),
                    // An older state leads to the same frames.
                    Err(error @ StoreError::Damaged { .. }) => damaged = damaged.or(Some(error)),
                    Err(error) => return Err(error.into()),
                }
            }
            damaged.map_or(Ok(None), |error| Err(error.into()))
        }
    }
}

/// Frame of the state that a run which starts so would go on from.
pub fn resumable(store: &Store, start: Start) -> Result<Option<u32>, SimulateError> {
    Ok(kept_state(store, start)?.map(|(state, _)| state.frame))
}

/// Steps of `dt` from frame to frame at this rate, where that is a whole number.
fn steps_per_frame(rate: f64, dt: f64) -> Result<u64, SimulateError> {
    let steps = 1.0 / (rate * dt);
    let whole = steps.round();
    if whole >= 1.0 && (steps - whole).abs() <= 1e-6 * whole.min(1e3) {
        return Ok(whole as u64);
    }
    // Rounded to what a person would write; the tolerance above takes it.
    let rate_of = |steps: f64| (1e9 / (steps.max(1.0) * dt)).round() / 1e9;
    Err(SimulateError::FrameRate {
        rate,
        dt,
        per_second: rate_of(1.0),
        below: rate_of(steps.ceil()),
        above: rate_of(steps.floor()),
    })
}
