//! Errors that prevent or end a simulation.

use crate::store::StoreError;

/// Errors that prevent or end a simulation.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// The tables of a packing are inconsistent.
    #[error("packing: {0}")]
    Packing(String),
    /// Ranks read different data.
    #[error(
        "rank {rank} reads another packing, pipeline or state than rank 0; all ranks of a run need the same store, \
         on a file system that shows all of them the same files"
    )]
    RanksDiffer {
        /// The first rank that differs from rank 0.
        rank: usize,
    },
    /// Ranks, which all compute what sleeps, came to other numbers.
    #[error(
        "rank {rank} computed the fragments that sleep otherwise than rank 0 up to step {step}; all ranks need \
         processors and system libraries that round alike, or simulate.sleep = false"
    )]
    SleepDiffers {
        /// The first rank that differs from rank 0.
        rank: usize,
        /// The step.
        step: u64,
    },
    /// An attachment has no elements.
    #[error(
        "attach {attachment:?}: no element of body {body:?} lies in its region at rest; make the region larger"
    )]
    EmptyAttachment {
        /// Name of the attachment.
        attachment: String,
        /// Body of the attachment.
        body: String,
    },
    /// A pressure acts on no surface element.
    #[error(
        "attach {attachment:?}: none of its elements that can move lies at the surface of the body; make the region larger"
    )]
    NoSurface {
        /// Name of the attachment.
        attachment: String,
    },
    /// A clamp holds only part of a rigid body.
    #[error(
        "attach {attachment:?} holds {held} of the {count} elements of body {body:?}, which is rigid; \
         a clamp must hold all of them or none: make the region larger or smaller"
    )]
    PartClamped {
        /// Name of the attachment.
        attachment: String,
        /// Body of the attachment.
        body: String,
        /// Number of elements that the clamp holds.
        held: usize,
        /// Number of elements of the body.
        count: usize,
    },
    /// A body starts inside a collider.
    #[error(
        "body {body:?} starts inside collider {collider:?}, up to {depth:.4e} m deep near ({x:.4}, {y:.4}, {z:.4}); move the body \
         by ({:.4}, {:.4}, {:.4}) m, or the collider (a mesh keeps its file's origin, other shapes are centred on their position)",
        .out[0], .out[1], .out[2]
    )]
    StartsInside {
        /// Name of the body.
        body: String,
        /// Name of the collider.
        collider: String,
        /// Penetration depth of the deepest element, m.
        depth: f64,
        /// x of that element, m.
        x: f64,
        /// y of that element, m.
        y: f64,
        /// z of that element, m.
        z: f64,
        /// Shift of the body that frees that element, m.
        out: [f64; 3],
    },
    /// An element has more neighbours than a device supports.
    #[error(
        "an element has {found} neighbours at rest; graphics processors support at most {limit}: use --backend cpu"
    )]
    TooManyNeighbours {
        /// Largest number of neighbours.
        found: usize,
        /// Largest supported number.
        limit: usize,
    },
    /// An option has a value that is not supported.
    #[error("{option} {value:?} is not available here; allowed: {allowed}")]
    Unsupported {
        /// Name of the option.
        option: &'static str,
        /// The requested value.
        value: &'static str,
        /// The supported values.
        allowed: String,
    },
    /// The run ends before its first frame.
    #[error(
        "the run ends at {end:.4e} s, before its first frame at {interval:.4e} s; make it longer"
    )]
    TooShort {
        /// Requested end, s.
        end: f64,
        /// Time between frames, s.
        interval: f64,
    },
    /// A number is not finite.
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
    /// An implicit step did not converge.
    #[error(
        "step {step} (t = {time:.6e} s): Newton's method has not converged in {iterations} iterations: the residual force is \
         {residual:.1e} of the acting forces (simulate.implicit.tolerance is {tolerance:.1e}); the last frame written is good. A shorter time.step, more \
         simulate.implicit.halvings or more simulate.implicit.iterations may help"
    )]
    NotConverged {
        /// Step.
        step: u64,
        /// Time at the end of the step, s.
        time: f64,
        /// Iterations done.
        iterations: u32,
        /// Residual force over the acting forces.
        residual: f64,
        /// Required residual.
        tolerance: f64,
    },
    /// With barrier contacts, an element would pass through another or a collider even in the shortest step.
    #[error(
        "step {step} (t = {time:.6e} s): an element would pass through another or through a collider within the shortest step, which \
         simulate.contact = \"barrier\" forbids; the last frame written is good. A shorter time.step, more simulate.implicit.halvings or stiffer \
         contacts (contact_young) may help"
    )]
    PassesThrough {
        /// Step.
        step: u64,
        /// Time at the end of the step, s.
        time: f64,
    },
    /// A state cannot be continued.
    #[error("state {frame}: {source}")]
    State {
        /// Frame of the state.
        frame: u32,
        /// Reason.
        source: StateError,
    },
    /// Packing or pipeline changed since the state was written.
    #[error(
        "state {frame} belongs to another packing or other physics; --branch NEW_DIR continues from it in a new store, \
         without --resume the run starts again"
    )]
    Changed {
        /// Frame of the state.
        frame: u32,
    },
    /// The requested state was not kept.
    #[error("state {frame} was not kept; available: {kept}")]
    NoState {
        /// Frame requested.
        frame: u32,
        /// Frames of the kept states.
        kept: String,
    },
    /// Frames that do not coincide with steps of the continued run.
    #[error(
        "time.frames_per_second = {rate}: the time between frames is not a multiple of the run's time step of {dt:.6e} s, {per_second} steps per second; \
         rates that fit: {below} or {above}"
    )]
    FrameRate {
        /// Requested frames per second.
        rate: f64,
        /// Time step, s.
        dt: f64,
        /// Steps per second.
        per_second: f64,
        /// Nearest lower rate that fits.
        below: f64,
        /// Nearest higher rate that fits.
        above: f64,
    },
    /// The time step of the state is too long for the changed physics.
    #[error(
        "a run from state {frame} keeps its time step of {dt:.4e} s, which is too long for the changed physics (at most {longest:.4e} s); start a new run"
    )]
    StepTooLong {
        /// Frame of the state.
        frame: u32,
        /// Time step of the state, s.
        dt: f64,
        /// Longest permitted step, s.
        longest: f64,
    },
    /// More steps than a device can count.
    #[error(
        "a run on a graphics processor takes at most {limit} steps; a larger element radius or a shorter run needs fewer"
    )]
    TooManySteps {
        /// Largest number of steps.
        limit: u64,
    },
    /// The graphics processor failed.
    #[error(transparent)]
    Gpu(#[from] crate::gpu::GpuError),
    /// The frame store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Reasons why a run cannot continue from a state.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// Tables have different lengths.
    #[error("{what}: {found} entries in the state, {expected} in the packing")]
    Length {
        /// Name of the table.
        what: &'static str,
        /// Entries in the state.
        found: usize,
        /// Entries in the run.
        expected: usize,
    },
    /// State and run have different precisions.
    #[error(
        "the state has {found}-byte numbers, the run {expected}-byte ones (simulate.precision)"
    )]
    Precision {
        /// Bytes per number in the state.
        found: usize,
        /// Bytes per number in the run.
        expected: usize,
    },
    /// The state lacks a section that the run needs.
    #[error("the state has no section {section:?}: another method wrote it")]
    Missing {
        /// Name of the section.
        section: &'static str,
    },
    /// The state has fragments that are asleep, and the run has no sleep.
    #[error("the state is of a run with simulate.sleep = true; set it, or start from the packing")]
    Asleep,
    /// A section was written by another version of this program.
    #[error(
        "the state has section {section:?} of version {found}; this program reads version {expected}"
    )]
    Version {
        /// Name of the section.
        section: &'static str,
        /// Version in the state.
        found: u32,
        /// Version that this program reads.
        expected: u32,
    },
    /// A section has invalid contents.
    #[error("section {section:?} of the state: {why}")]
    Unreadable {
        /// Name of the section.
        section: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// The graphics processor failed.
    #[error(transparent)]
    Device(#[from] crate::gpu::GpuError),
    /// Friction springs without a listed contact.
    #[error(
        "{lost} contacts of the state join elements that are too far apart in the packing; use the packing of that run"
    )]
    LostContacts {
        /// Number of such springs.
        lost: usize,
    },
}

impl SimulateError {
    /// Error for a value of an option that a method does not support, as `refuse` returns it.
    pub fn unsupported(option: &'static str, value: &'static str, allowed: &str) -> Option<Self> {
        Some(SimulateError::Unsupported {
            option,
            value,
            allowed: allowed.to_owned(),
        })
    }

    /// Whether the pipeline, the store or the command line is at fault, not the run.
    pub fn caused_by_user(&self) -> bool {
        match self {
            SimulateError::Packing(_)
            | SimulateError::EmptyAttachment { .. }
            | SimulateError::NoSurface { .. }
            | SimulateError::PartClamped { .. }
            | SimulateError::StartsInside { .. }
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
            | SimulateError::PassesThrough { .. }
            | SimulateError::RanksDiffer { .. }
            | SimulateError::SleepDiffers { .. } => false,
            SimulateError::State { source, .. } => source.caused_by_user(),
            SimulateError::Gpu(error) => error.caused_by_user(),
            SimulateError::Store(error) => error.caused_by_user(),
        }
    }
}

impl StateError {
    /// Whether the user asked to continue from a state of other settings.
    fn caused_by_user(&self) -> bool {
        match self {
            // Damaged states are refused earlier: these are intact but belong to another packing or precision.
            StateError::Length { .. }
            | StateError::Precision { .. }
            | StateError::Missing { .. }
            | StateError::Asleep
            | StateError::Version { .. }
            | StateError::Unreadable { .. }
            | StateError::LostContacts { .. } => true,
            StateError::Device(error) => error.caused_by_user(),
        }
    }
}
