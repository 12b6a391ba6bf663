//! Runs a simulation: from a packed store to frames, breaks, history, fragments and states.

mod drive;
mod inputs;
mod record;
mod writer;

pub use record::Progress;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::ranks::transport::{self, Transport};
use crate::simulate::error::SimulateError;
use crate::simulate::method::{Method, PassCost, one_process};
use crate::simulate::resolve::choose::choose_by;
use crate::simulate::resolve::{PreparedScene, Schedule};
use crate::simulate::run_state::state::State;
use crate::simulate::share::ranks::Traffic;
use crate::simulate::share::shared::Shared;
use crate::spec::{Backend, Integrator, Pipeline};
use crate::store::{Store, StoreError, layout};
use record::Recorder;

/// Where a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At the packing.
    Packing,
    /// At the newest intact state; at the packing if there is none.
    Newest,
    /// At the state of this frame.
    State(u32),
}

/// Options of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Overrides the pipeline's backend.
    pub backend: Option<Backend>,
    /// Overrides the pipeline's graphics adapter and selects the GPU backend.
    pub adapter: Option<String>,
    /// Where to begin.
    pub start: Start,
    /// Overrides the pipeline's end time, s.
    pub until: Option<f64>,
    /// Frame of a state copied from another store: it may belong to other physics.
    pub inherited: Option<u32>,
}

/// Result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Device that it ran on.
    pub place: String,
    /// Last frame written.
    pub frame: u32,
    /// Whether it was stopped before the end; it can then be resumed.
    pub interrupted: bool,
    /// Steps taken in this run, up to the last frame.
    pub steps: u64,
    /// Costs of the passes of a step; empty if they are not measured.
    pub costs: Vec<PassCost>,
    /// What this rank sent to others in its steps; `None` if it is alone.
    pub traffic: Option<Traffic>,
    /// What is wrong with a state newer than the one from which the run resumed.
    pub damaged: Option<String>,
}

/// Runs the simulation of a packed store.
///
/// `stop` ends the run after the frames in progress. Frames, breaks, history, fragments and states are written
/// atomically, in order.
pub fn run(
    store: &Store,
    pipeline: &Pipeline,
    options: &Options,
    stop: &AtomicBool,
    on_frame: &mut dyn FnMut(Progress),
) -> Result<Outcome, SimulateError> {
    run_on_ranks(store, pipeline, options, None, stop, on_frame)
}

/// As [`run`], together with other ranks if there is a transport: all ranks call it with the same arguments. Each reads
/// the store; rank 0 alone writes. Any rank's `stop` ends the run.
///
/// # Errors
/// Those of [`run`]; the run or a state would need what several ranks do not support. Errors of values that are not
/// finite are those of all ranks; other errors are of this one, and the others wait for it.
pub fn run_on_ranks(
    store: &Store,
    pipeline: &Pipeline,
    options: &Options,
    transport: Option<Arc<dyn Transport>>,
    stop: &AtomicBool,
    on_frame: &mut dyn FnMut(Progress),
) -> Result<Outcome, SimulateError> {
    let ranks = AgreeingRanks(transport);
    let shared = ranks.0.as_ref().map(Shared::new);
    let mut pipeline = pipeline.clone();
    if let Some(end) = options.until {
        pipeline.time.end = end;
    }
    let interval = 1.0 / pipeline.time.frames_per_second;
    if pipeline.time.end.is_nan() || pipeline.time.end < interval * (1.0 - 1e-9) {
        let end = pipeline.time.end;
        return Err(SimulateError::TooShort { end, interval });
    }
    let prepare = |pipeline: &Pipeline| {
        let prepared = PreparedScene::on_ranks(store, pipeline, shared.clone())?;
        // Different scenes have no common time step.
        ranks.compare([inputs::hash(prepared.hash(), pipeline), 0, 0])?;
        let schedule = prepared.schedule(pipeline);
        Ok::<_, SimulateError>((prepared, schedule))
    };
    let backend = backend(&pipeline, options, shared.is_some())?;
    // All ranks choose together, or none does.
    let chooses = pipeline.simulate.integrator == Integrator::Auto;
    ranks.compare([chooses.into(), 0, 0])?;
    let (mut pipeline, _) = choose_by(&pipeline, |explicit| Ok(prepare(explicit)?.1))?;
    let (prepared, schedule) = prepare(&pipeline)?;
    if options.adapter.is_some() {
        pipeline.simulate.gpu.adapter.clone_from(&options.adapter);
    }
    let inputs = inputs::hash(prepared.hash(), &pipeline);
    ranks.compare([inputs, schedule.dt.to_bits(), schedule.steps_per_frame])?;
    let mut method = prepared.start(&pipeline, backend, schedule.dt)?;
    let resumed = restore_state(store, method.as_mut(), options, inputs, schedule.longest)?;
    let course = plan_course(&pipeline, resumed.as_ref(), &schedule)?;
    // Every rank has read the state; now files may be removed.
    let begin = method.step();
    ranks.compare([begin, course.steps_per_frame, course.last.into()])?;
    let keep = pipeline.simulate.keep_states as usize;
    let writer = match ranks.is_first() {
        false => None,
        true => {
            remove_replaced(store, resumed.as_ref())?;
            let elements = store.element_count()?;
            let output = &pipeline.output;
            Some(writer::Writer::start(store.clone(), output, keep, elements))
        }
    };
    let mut recorder = Recorder::new(writer, inputs, (course.start, course.last), on_frame);
    let mut takes = |frame, delivery| {
        // Only rank 0 receives the parts of frames and states.
        let is_part = matches!(
            delivery,
            drive::Delivery::Part(_) | drive::Delivery::StateBytes(_)
        );
        let takes_more = recorder.record(frame, delivery);
        is_part || !ranks.any(!takes_more)
    };
    let mut stops = || ranks.any(stop.load(Ordering::Relaxed));
    let driven = drive::drive(method.as_mut(), &course, &mut stops, &mut takes);
    let frame = recorder.finish();
    // No rank ends while rank 0 writes: a signal would then end them all.
    ranks.any(false);
    let frame = frame?;
    driven?;
    Ok(Outcome {
        place: method.platform().name,
        frame,
        interrupted: frame < course.last,
        steps: u64::from(frame - course.start) * course.steps_per_frame,
        costs: method.costs(),
        traffic: method.traffic(),
        damaged: resumed.and_then(|resumed| resumed.damaged),
    })
}

/// The backend of a run.
///
/// # Errors
/// Several ranks are to run on a graphics processor.
fn backend(
    pipeline: &Pipeline,
    options: &Options,
    on_ranks: bool,
) -> Result<Backend, SimulateError> {
    let backend = match options.adapter {
        Some(_) => Backend::Gpu,
        None => options.backend.unwrap_or(pipeline.simulate.backend),
    };
    match backend {
        Backend::Gpu if on_ranks => {
            let option = "simulate.backend on several ranks";
            Err(one_process(option, "gpu", "cpu"))
        }
        _ if on_ranks => Ok(Backend::Cpu),
        _ => Ok(backend),
    }
}

/// What all ranks of a run decide together.
struct AgreeingRanks(Option<Arc<dyn Transport>>);

impl AgreeingRanks {
    /// Whether this rank writes.
    fn is_first(&self) -> bool {
        transport::is_first(self.0.as_ref())
    }

    /// Fails unless all ranks have the same numbers.
    fn compare(&self, own: [u64; 3]) -> Result<(), SimulateError> {
        let Some(transport) = &self.0 else {
            return Ok(());
        };
        let all = transport.gather_all(bytemuck::bytes_of(&own));
        match all.iter().position(|other| *other != all[0]) {
            None => Ok(()),
            Some(rank) => Err(SimulateError::RanksDiffer { rank }),
        }
    }

    /// Whether any rank says so.
    fn any(&self, own: bool) -> bool {
        let Some(transport) = &self.0 else {
            return own;
        };
        let mut most = [f64::from(u8::from(own))];
        transport.largest(&mut most);
        most != [0.0]
    }
}

/// Removes files that those of the run replace.
fn remove_replaced(store: &Store, resumed: Option<&Resumed>) -> Result<(), StoreError> {
    match resumed {
        Some(from) => store.clear_after(&layout::made_by("simulate"), from.frame),
        // Files that later stages made from older frames would not match the new ones.
        None => store.clear(&layout::made_after("pack")),
    }
}

/// Plans the frames that a run writes.
fn plan_course(
    pipeline: &Pipeline,
    resumed: Option<&Resumed>,
    schedule: &Schedule,
) -> Result<drive::Course, SimulateError> {
    let (start, last, steps_per_frame) = match resumed {
        Some(from) => {
            // A resumed run keeps its time step.
            let rate = pipeline.time.frames_per_second;
            let steps = steps_per_frame(rate, from.dt)?;
            let frames = ((pipeline.time.end - from.time) / (1.0 / rate) + 1e-9).floor();
            (from.frame, from.frame.saturating_add(frames as u32), steps)
        }
        None => (0, schedule.frames, schedule.steps_per_frame),
    };
    Ok(drive::Course {
        start,
        writes_start: resumed.is_none(),
        last,
        steps_per_frame,
        state_every: pipeline.simulate.frames_per_state(steps_per_frame),
    })
}

/// The state from which a run resumes.
struct Resumed {
    frame: u32,
    time: f64,
    dt: f64,
    /// What is wrong with a newer state, if any.
    damaged: Option<String>,
}

/// Restores the requested state; `None` if the run begins at the packing.
fn restore_state(
    store: &Store,
    method: &mut dyn Method,
    options: &Options,
    inputs: u64,
    longest: f64,
) -> Result<Option<Resumed>, SimulateError> {
    let Some((state, damaged)) = state_to_resume(store, options.start)? else {
        return Ok(None);
    };
    let damaged = damaged.map(|error| error.to_string());
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
        damaged,
    }))
}

/// Reads the state from which to resume, if any, and returns the error of a newer, damaged one.
fn state_to_resume(
    store: &Store,
    start: Start,
) -> Result<Option<(State, Option<StoreError>)>, SimulateError> {
    let kept = store.numbers("state", "rkyv")?;
    match start {
        Start::Packing => Ok(None),
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
                    // An older state gives the same frames.
                    Err(error @ StoreError::Damaged { .. }) => damaged = damaged.or(Some(error)),
                    Err(error) => return Err(error.into()),
                }
            }
            damaged.map_or(Ok(None), |error| Err(error.into()))
        }
    }
}

/// Frame of the state from which a run with this start would resume.
pub fn resumable(store: &Store, start: Start) -> Result<Option<u32>, SimulateError> {
    Ok(state_to_resume(store, start)?.map(|(state, _)| state.frame))
}

/// Steps of `dt` per frame at this frame rate; an error if that is not a whole number.
fn steps_per_frame(rate: f64, dt: f64) -> Result<u64, SimulateError> {
    let steps = 1.0 / (rate * dt);
    let whole = steps.round();
    if whole >= 1.0 && (steps - whole).abs() <= 1e-6 * whole.min(1e3) {
        return Ok(whole as u64);
    }
    // Rounded to what a person would type; the tolerance above accepts it.
    let rate_of = |steps: f64| (1e9 / (steps.max(1.0) * dt)).round() / 1e9;
    Err(SimulateError::FrameRate {
        rate,
        dt,
        per_second: rate_of(1.0),
        below: rate_of(steps.ceil()),
        above: rate_of(steps.floor()),
    })
}
