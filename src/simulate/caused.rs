//! Which of a run's errors the user caused: a new one must be decided here.

use super::SimulateError;
use super::state::StateError;

impl SimulateError {
    /// Whether the pipeline, the store or what was asked for is at fault, not the run.
    pub fn caused_by_user(&self) -> bool {
        match self {
            SimulateError::Packing(_)
            | SimulateError::EmptyAttachment { .. }
            | SimulateError::NoSurface { .. }
            | SimulateError::PartClamped { .. }
            | SimulateError::Sunk { .. }
            | SimulateError::Unsupported { .. }
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
            | StateError::LostContacts { .. } => true,
            StateError::Device(error) => error.caused_by_user(),
        }
    }
}
