//! Why a body was not fractured.

use crate::bem::solver::SolveError;
use crate::bem::surface::SurfaceError;
use crate::geometry::cut::CutError;

/// Why a body was not fractured.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FractureError {
    /// A mesh that bounds no solid.
    #[error(transparent)]
    Surface(#[from] SurfaceError),
    /// A body whose response was not found.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// Supports of a piece whose reactions do not follow.
    #[error("what holds it holds the same part of its surface twice, or too little of it")]
    Supports,
    /// A length or strength that is not positive.
    #[error("{0} must be positive")]
    NotPositive(&'static str),
    /// Steps so short that cracks would need more memory and time than there is.
    #[error(
        "steps of {step:.3e} m are too short for this body; the shortest allowed is {least:.3e} m"
    )]
    TooFine {
        /// Length of a step, m.
        step: f64,
        /// The shortest allowed, m.
        least: f64,
    },
    /// A crack that went through a body which could not be cut along it.
    #[error("a crack went through, but the cut failed: {0}")]
    Cut(CutError),
    /// A crack that used up its steps.
    #[error(
        "a crack still grew after {0} steps, the most that one takes; longer steps take it farther"
    )]
    Steps(u32),
}
