//! Solvers for large sparse symmetric systems with six unknowns per element: three of translation, and three
//! of rotation times a length, so that all are lengths.
//!
//! Conjugate gradients over 6×6 blocks, preconditioned by their diagonal or by algebraic multigrid; MINRES
//! for indefinite matrices; GMRES for matrices without symmetry. Rows are summed in a fixed order and vectors
//! in chunks of a fixed size, so results have the same bits for any number of threads. The module does not
//! depend on bonds.

pub mod aggregate;
pub mod block;
mod dense;
pub mod gmres;
pub mod gradients;
pub mod lanczos;
pub mod lu;
pub mod matrix;
pub mod minimal;
pub mod multigrid;
pub mod prolong;
pub mod recycle;
pub mod scaled;
mod smooth;
pub mod vector;
pub mod wide;

pub use block::{Block, Six};
pub use gmres::gmres;
pub use gradients::{Operator, Precondition, SolveReport, conjugate_gradients};
pub use lu::Lu;
pub use matrix::{BlockMatrix, Diagonal};
pub use minimal::minimal_residuals;
pub use multigrid::Multigrid;
pub use recycle::Recycled;
pub use scaled::ScaledMatrix;
