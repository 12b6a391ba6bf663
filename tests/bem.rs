//! Boundary elements against bodies whose stress is known.

mod answers;
pub mod bodies;
mod iterations;
mod manufactured;
mod solved;
