//! Interface between the loop over frames and the methods of time integration.

use crate::columns::Frames;
use crate::math::Lanes;
use crate::simulate::error::{SimulateError, StateError};
use crate::simulate::run_state::snapshot::Snapshot;
use crate::simulate::run_state::state::State;
use crate::simulate::run_state::state_in_parts::StatePart;
use crate::simulate::share::ranks::Traffic;
use crate::simulate::share::shared::Shared;
use crate::simulate::source::Source;
use crate::spec::{Backend, MethodName, Pipeline};

/// A captured frame.
#[derive(Clone, Debug)]
pub struct Capture {
    /// Tables of the frame.
    pub snapshot: Snapshot,
    /// The complete state, for bitwise continuation, if it was requested.
    pub state: Option<State>,
}

/// Hardware that a method runs on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Platform {
    /// Description for the user.
    pub name: String,
    /// Bytes of device memory in use; `None` on the CPU.
    pub device_bytes: Option<u64>,
}

impl Platform {
    /// All CPU cores, with lanes of type `L`.
    pub fn on_cores<L: Lanes>() -> Self {
        Platform {
            name: format!(
                "CPU, {} threads, {} lanes of {} bytes",
                rayon::current_num_threads(),
                L::WIDTH,
                size_of::<L::Scalar>()
            ),
            device_bytes: None,
        }
    }
}

/// Run time and memory traffic of one pass of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PassCost {
    /// Name of the pass.
    pub name: &'static str,
    /// Seconds since the method was built, summed over all threads.
    pub seconds: f64,
    /// Least memory traffic of one step, bytes: every column of the pass is read or written once.
    pub bytes: u64,
}

impl PassCost {
    /// Shares of the passes in the time of all, for a line of text.
    pub fn shares(costs: &[Self]) -> String {
        let all: f64 = costs.iter().map(|cost| cost.seconds).sum();
        let share = |cost: &Self| format!("{} {:.1} %", cost.name, 100.0 * cost.seconds / all);
        costs.iter().map(share).collect::<Vec<_>>().join(", ")
    }
}

/// A built scene, or the error.
type Prepared = Result<Box<dyn Prepare>, SimulateError>;

/// Functions by which `resolve` checks and builds a method.
#[derive(Clone, Copy, Debug)]
pub struct MethodEntry {
    /// An error if the pipeline needs something that the method lacks on this backend.
    pub refuse: fn(&Pipeline, Backend) -> Option<SimulateError>,
    /// Builds the scene for the method, or what this rank needs of it if ranks share it.
    pub prepare: fn(&dyn Source, &Pipeline, Option<Shared>) -> Prepared,
    /// As `prepare`, but only as far as the start can be [checked](Prepare::check_start).
    pub prepare_start: fn(&dyn Source, &Pipeline) -> Prepared,
}

/// A scene built for a method; built once and used for all queries.
pub trait Prepare: Send {
    /// Hash of all numbers of the packing.
    fn hash(&self) -> u64;
    /// Critical time step of explicit central differences, s.
    fn critical(&self, pipeline: &Pipeline) -> f64;
    /// Time step over the critical one, unless the pipeline gives the step in seconds.
    fn step_over_critical(&self, pipeline: &Pipeline) -> f64;
    /// Returns an error for an invalid start, such as a body inside a collider.
    fn check_start(&self, pipeline: &Pipeline) -> Result<(), SimulateError>;
    /// Starts the run at time zero.
    fn start(
        self: Box<Self>,
        pipeline: &Pipeline,
        backend: Backend,
        dt: f64,
    ) -> Result<Box<dyn Method>, SimulateError>;
}

/// Fails if what the pipeline asks for runs in one process only.
pub fn require_ranks(pipeline: &Pipeline) -> Result<(), SimulateError> {
    let (option, value, allowed) = match pipeline.method() {
        MethodName::Voronoi => ("simulate.method on several ranks", "voronoi", "bonds"),
        MethodName::Implicit => {
            let integrator = pipeline.simulate.integrator.name();
            (
                "simulate.integrator on several ranks",
                integrator,
                "explicit",
            )
        }
        MethodName::Explicit => return Ok(()),
    };
    Err(one_process(option, value, allowed))
}

/// The error of what runs in one process only.
pub fn one_process(option: &'static str, value: &'static str, allowed: &str) -> SimulateError {
    SimulateError::Unsupported {
        option,
        value,
        allowed: format!("{allowed}; or a run in one process"),
    }
}

/// A run of a scene by one method, backend and precision.
///
/// Stepping and delivery are separate, so that a device can continue while a frame is read back and recorded.
/// After a failure the run cannot continue.
pub trait Method: Send {
    /// Takes steps; velocities are then those at the end of the last step. A device may still be computing
    /// when this returns; its failures are reported by the next delivery.
    fn advance(&mut self, steps: u64) -> Result<(), SimulateError>;
    /// Steps requested so far, including those before a restored state.
    fn step(&self) -> u64;
    /// Captures the frame after the steps requested so far, and the state if `state`.
    fn capture(&mut self, frame: u32, state: bool) -> Result<(), SimulateError>;
    /// Waits for the oldest capture that is not yet delivered, and returns it. Every break is reported once,
    /// in the first frame after it.
    ///
    /// # Panics
    /// If no capture is outstanding.
    fn deliver(&mut self) -> Result<Capture, SimulateError>;
    /// As [`deliver`](Self::deliver), but a frame of many elements may come in parts: their rows are then passed to
    /// `take` first, in order, and the frame that is returned has none.
    fn deliver_in_parts(
        &mut self,
        _take: &mut dyn FnMut(Frames),
    ) -> Result<Capture, SimulateError> {
        self.deliver()
    }
    /// The present state without a frame: a large run need not hold both at once. `None` if states come only
    /// with captures.
    fn state_without_frame(&mut self, _frame: u32) -> Option<State> {
        None
    }
    /// As [`state_without_frame`](Self::state_without_frame), but a large state may be passed to `take` in parts.
    fn state_in_parts(&mut self, frame: u32, take: &mut dyn FnMut(StatePart)) {
        if let Some(state) = self.state_without_frame(frame) {
            take(StatePart::Head(Box::new(state.into())));
        }
    }
    /// Whether [`state_without_frame`](Self::state_without_frame) returns a state.
    fn has_state_without_frame(&self) -> bool {
        false
    }
    /// Hardware that the method runs on.
    fn platform(&self) -> Platform;
    /// Captures that may be outstanding while the next frame is computed: 0 computes in place, 1 lets a
    /// device continue.
    fn ahead(&self) -> usize {
        0
    }
    /// Costs of the passes of a step; empty if they are not measured.
    fn costs(&self) -> Vec<PassCost> {
        Vec::new()
    }
    /// What this rank sent to others in its steps; `None` if it is alone.
    fn traffic(&self) -> Option<Traffic> {
        None
    }
    /// Continues from a state of the same packing and pipeline, in a method that has not stepped yet.
    fn restore(&mut self, state: &State) -> Result<(), StateError>;

    /// Captures and delivers a frame; no other capture may be outstanding.
    fn snapshot(&mut self, frame: u32) -> Result<Snapshot, SimulateError> {
        self.capture(frame, false)?;
        Ok(self.deliver()?.snapshot)
    }
    /// Captures and delivers a state; the frame and its breaks are dropped.
    fn state(&mut self, frame: u32) -> Result<State, SimulateError> {
        self.capture(frame, true)?;
        Ok(self.deliver()?.state.expect("it was asked for"))
    }
}
