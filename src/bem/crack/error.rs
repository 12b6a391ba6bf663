//! Why a body was not fractured.

use crate::bem::solver::SolveError;
use crate::bem::surface::SurfaceError;

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
}
