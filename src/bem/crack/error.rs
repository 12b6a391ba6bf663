//! Why a body was not fractured.

use crate::bem::solver::SolveError;
use crate::bem::surface::SurfaceError;
use crate::geometry::cut::CutError;

/// Why a body was not fractured.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FractureError {
    /// The mesh does not bound a solid.
    #[error(transparent)]
    Surface(#[from] SurfaceError),
    /// The response of a body or piece without a crack could not be computed.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// The reactions of the clamps of a piece cannot be computed.
    #[error("its clamps hold the same part of its surface twice, or too little of it")]
    Supports,
    /// A length or strength that is not positive.
    #[error("{0} must be positive")]
    NotPositive(&'static str),
    /// Steps so short that cracks would need too much memory and time.
    #[error(
        "steps of {step:.3e} m are too short for this body; the shortest allowed is {least:.3e} m"
    )]
    TooFine {
        /// Length of a step, m.
        step: f64,
        /// The shortest allowed, m.
        least: f64,
    },
    /// The opening of a crack could not be computed.
    #[error("the opening of the crack could not be computed: {0}")]
    Opening(SolveError),
    /// A crack went through a body, but the body could not be cut along it.
    #[error("the crack went through, but the cut along it failed: {0}")]
    Cut(CutError),
    /// A crack reached the largest number of steps.
    #[error(
        "the crack still grew after {0} steps, the limit for one crack; with longer steps it gets farther"
    )]
    Steps(u32),
}

impl FractureError {
    /// Whether a crack began and could not be followed to its end; otherwise the body or piece itself was refused.
    pub fn concerns_crack(&self) -> bool {
        matches!(
            self,
            FractureError::Opening(_) | FractureError::Cut(_) | FractureError::Steps(_)
        )
    }
}
