//! Why a material could not be calibrated.

use crate::pack::PackError;
use crate::plot::PlotError;
use crate::simulate::SimulateError;
use crate::store::StoreError;

/// Why a material could not be calibrated.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    /// The pipeline or the options do not allow it.
    #[error("{0}")]
    Refused(String),
    /// A body or a specimen could not be packed.
    #[error(transparent)]
    Pack(#[from] PackError),
    /// A specimen could not be simulated.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    /// A file could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The chart could not be written.
    #[error(transparent)]
    Plot(#[from] PlotError),
}

impl CalibrateError {
    /// Whether the pipeline, the options or the folder are at fault.
    pub fn caused_by_user(&self) -> bool {
        match self {
            CalibrateError::Refused(_) => true,
            CalibrateError::Pack(error) => error.caused_by_user(),
            CalibrateError::Simulate(error) => error.caused_by_user(),
            CalibrateError::Store(error) => error.caused_by_user(),
            CalibrateError::Plot(error) => error.caused_by_user(),
        }
    }
}
