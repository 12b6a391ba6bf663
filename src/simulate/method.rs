//! The seam between the loop over frames and whatever steps in time.

use crate::math::Lanes;
use crate::simulate::error::{SimulateError, StateError};
use crate::simulate::run_state::snapshot::Snapshot;
use crate::simulate::run_state::state::State;
use crate::simulate::source::Source;
use crate::spec::{Backend, Pipeline};

/// A frame that was asked for.
#[derive(Clone, Debug)]
pub struct Capture {
    /// Its tables.
    pub snapshot: Snapshot,
    /// Everything needed to continue bitwise, where that was asked for.
    pub state: Option<State>,
}

/// What a method runs on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// In words.
    pub name: String,
    /// Bytes of device memory in use; none on the CPU.
    pub device_bytes: Option<u64>,
}

impl Place {
    /// All cores, with lanes of type `L`.
    pub fn on_cores<L: Lanes>() -> Self {
        Place {
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

/// What one pass of the step has cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PassCost {
    /// Its name.
    pub name: &'static str,
    /// Seconds of all threads together since the method was made.
    pub seconds: f64,
    /// Least memory traffic of one step, bytes: every column that the pass touches read or written once.
    pub bytes: u64,
}

/// A scene built, or why it cannot be.
type Prepared = Result<Box<dyn Prepare>, SimulateError>;

/// A method as `resolve` finds it.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// What of a pipeline it lacks on a backend.
    pub refuse: fn(&Pipeline, Backend) -> Option<SimulateError>,
    /// Builds its scene.
    pub prepare: fn(&dyn Source, &Pipeline) -> Prepared,
}

/// A scene built for a method, once for all that is asked of it.
pub trait Prepare: Send {
    /// Hash of all numbers of the packing.
    fn hash(&self) -> u64;
    /// Critical step of explicit central differences, s.
    fn critical(&self, pipeline: &Pipeline) -> f64;
    /// Length of a step over the critical one, where the pipeline gives none in seconds.
    fn part_of_critical(&self, pipeline: &Pipeline) -> f64;
    /// Refuses a start that cannot go well, such as a body inside a collider.
    fn check_start(&self, pipeline: &Pipeline) -> Result<(), SimulateError>;
    /// The run at time zero.
    fn start(
        self: Box<Self>,
        pipeline: &Pipeline,
        backend: Backend,
        dt: f64,
    ) -> Result<Box<dyn Method>, SimulateError>;
}

/// A method, backend and precision at work on one scene.
///
/// Work and results are apart, so that a device can go on while a frame is read back and recorded. A failure
/// leaves no state to go on from.
pub trait Method: Send {
    /// Takes steps and leaves velocities at the end of the last. A device may still be at work when this
    /// returns; its failures come with the next delivery.
    fn advance(&mut self, steps: u64) -> Result<(), SimulateError>;
    /// Steps asked for so far; those before a restored state count.
    fn step(&self) -> u64;
    /// Asks for the frame as it stands after the steps asked for so far, and for the state when `state`.
    fn capture(&mut self, frame: u32, state: bool) -> Result<(), SimulateError>;
    /// The oldest capture not yet delivered; waits for it. Every break is handed over once, with the first
    /// frame after it.
    ///
    /// # Panics
    /// When no capture is outstanding.
    fn deliver(&mut self) -> Result<Capture, SimulateError>;
    /// The state where a method in place stands, without a frame: a large run need not hold both at once.
    /// None where states come with captures only.
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
    /// Continues from a state of the same packing and pipeline, in a method that has not stepped yet.
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
