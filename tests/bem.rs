//! Boundary elements for bodies whose stress is known.

mod answers;
mod bent;
pub mod bodies;
mod iterations;
mod manufactured;
mod multipole;
mod slopes;
pub mod solved;
