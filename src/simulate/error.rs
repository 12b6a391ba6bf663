//! Why a simulation does not start or stops.

use crate::store::StoreError;

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
    /// A pressure has nothing to act on.
    #[error(
        "attach {attachment:?}: none of its elements that can move lies at the surface of the body; make the region larger"
    )]
    NoSurface {
        /// Name of the attachment.
        attachment: String,
    },
    /// A clamp holds a part of a rigid body.
    #[error(
        "attach {attachment:?} holds {held} of the {count} elements of body {body:?}, which is rigid; \
         one clamp must hold all of it, or none any: make the region larger or smaller"
    )]
    PartClamped {
        /// Name of the attachment.
        attachment: String,
        /// Its body.
        body: String,
        /// Elements that it holds.
        held: usize,
        /// Elements of the body.
        count: usize,
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
    /// A cell has more neighbours than a device has room for.
    #[error(
        "an element has {found} neighbours at rest; on a device at most {limit}: take --backend cpu"
    )]
    TooManyNeighbours {
        /// Most neighbours.
        found: usize,
        /// Most that there may be.
        limit: usize,
    },
    /// A choice that is not there.
    #[error("{option} {value:?} is not available here; allowed: {allowed}")]
    Unsupported {
        /// The option.
        option: &'static str,
        /// What was asked for.
        value: &'static str,
        /// What can be had.
        allowed: String,
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
    /// An implicit step was not solved.
    #[error(
        "step {step} (t = {time:.6e} s): Newton's method has not converged in {iterations} iterations: forces out of balance \
         are {residual:.1e} of those at work (simulate.implicit.tolerance is {tolerance:.1e}); the last frame written is good. A shorter time.step, more \
         simulate.implicit.halvings or more simulate.implicit.iterations may help"
    )]
    NotConverged {
        /// Step.
        step: u64,
        /// Its end, s.
        time: f64,
        /// Iterations done.
        iterations: u32,
        /// Forces out of balance over those at work.
        residual: f64,
        /// What would have been small enough.
        tolerance: f64,
    },
    /// Something went through something within the shortest step.
    #[error(
        "step {step} (t = {time:.6e} s): an element would pass through another or through a collider within the shortest step, which \
         simulate.contact = \"barrier\" forbids; the last frame written is good. A shorter time.step, more simulate.implicit.halvings or stiffer \
         contacts (contact_young) may help"
    )]
    Passed {
        /// Step.
        step: u64,
        /// Its end, s.
        time: f64,
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
        "state {frame} belongs to another packing or other physics; --branch NEW_DIR goes on from it in a store of its own, \
         without --resume the run starts anew"
    )]
    Changed {
        /// Frame of the state.
        frame: u32,
    },
    /// A state that is not kept.
    #[error("no state {frame} is kept; there are: {kept}")]
    NoState {
        /// Frame asked for.
        frame: u32,
        /// Frames of the states.
        kept: String,
    },
    /// Frames that do not fall on the steps of the run that goes on.
    #[error(
        "time.frames_per_second = {rate}: a frame is not a whole number of the run's steps of {dt:.6e} s, {per_second} a second; \
         a rate that goes on: {below} or {above}"
    )]
    FrameRate {
        /// Frames a second asked for.
        rate: f64,
        /// Time step, s.
        dt: f64,
        /// Steps a second.
        per_second: f64,
        /// Nearest lower rate that fits.
        below: f64,
        /// Nearest higher rate that fits.
        above: f64,
    },
    /// A time step too long for the changed physics.
    #[error(
        "state {frame} goes on with its time step of {dt:.4e} s, and the changed physics needs {longest:.4e} s or less; start anew"
    )]
    StepTooLong {
        /// Frame of the state.
        frame: u32,
        /// Its time step, s.
        dt: f64,
        /// Longest step now, s.
        longest: f64,
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

/// Why a state does not fit the run that wants to continue from it.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// Lengths differ.
    #[error("{what}: {found} entries in the state, {wanted} in the packing")]
    Length {
        /// What is counted.
        what: &'static str,
        /// In the state.
        found: usize,
        /// In the run.
        wanted: usize,
    },
    /// Single against double precision.
    #[error(
        "the state is of {found}-byte numbers, the run of {wanted}-byte ones (simulate.precision)"
    )]
    Precision {
        /// In the state.
        found: usize,
        /// In the run.
        wanted: usize,
    },
    /// A section that the run needs.
    #[error("the state has no section {section:?}: another method wrote it")]
    Missing {
        /// Its name.
        section: &'static str,
    },
    /// A section that another version of this program wrote.
    #[error(
        "the state has section {section:?} of version {found}; this program reads version {wanted}"
    )]
    Version {
        /// Its name.
        section: &'static str,
        /// In the state.
        found: u32,
        /// What can be read.
        wanted: u32,
    },
    /// A section that makes no sense.
    #[error("section {section:?} of the state: {why}")]
    Unreadable {
        /// Its name.
        section: &'static str,
        /// Why.
        why: String,
    },
    /// The graphics processor failed.
    #[error(transparent)]
    Device(#[from] crate::gpu::GpuError),
    /// A friction spring has no pair.
    #[error("{lost} contacts of the state are out of reach in the packing")]
    LostContacts {
        /// Their number.
        lost: usize,
    },
}

impl SimulateError {
    /// A value of an option that a method does not take, as its `refuse` returns it.
    pub fn lack(option: &'static str, value: &'static str, allowed: &str) -> Option<Self> {
        Some(SimulateError::Unsupported {
            option,
            value,
            allowed: allowed.to_owned(),
        })
    }

    /// Whether the pipeline, the store or what was asked for is at fault, not the run.
    pub fn caused_by_user(&self) -> bool {
        match self {
            SimulateError::Packing(_)
            | SimulateError::EmptyAttachment { .. }
            | SimulateError::NoSurface { .. }
            | SimulateError::PartClamped { .. }
            | SimulateError::Sunk { .. }
            | SimulateError::Unsupported { .. }
            | SimulateError::TooManyNeighbours { .. }
            | SimulateError::TooShort { .. }
            | SimulateError::Changed { .. }
            | SimulateError::NoState { .. }
            | SimulateError::FrameRate { .. }
            | SimulateError::StepTooLong { .. }
            | SimulateError::TooManySteps { .. } => true,
            SimulateError::NotFinite { .. }
            | SimulateError::NotConverged { .. }
            | SimulateError::Passed { .. } => false,
            SimulateError::State { source, .. } => source.caused_by_user(),
            SimulateError::Gpu(error) => error.caused_by_user(),
            SimulateError::Store(error) => error.caused_by_user(),
        }
    }
}

impl StateError {
    /// Whether a state of other settings was asked to go on.
    fn caused_by_user(&self) -> bool {
        match self {
            // Damaged states are refused before: these are whole, and of another packing or precision.
            StateError::Length { .. }
            | StateError::Precision { .. }
            | StateError::Missing { .. }
            | StateError::Version { .. }
            | StateError::Unreadable { .. }
            | StateError::LostContacts { .. } => true,
            StateError::Device(error) => error.caused_by_user(),
        }
    }
}
