//! Boundary elements against bodies whose stress is known.

mod answers;
mod bodies;
mod iterations;
mod manufactured;
mod multipole;
mod solved;
