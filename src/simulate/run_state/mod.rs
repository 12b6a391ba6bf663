//! What a run records and keeps: frames, mean loads, states to resume from.

pub mod averages;
mod parts;
pub mod snapshot;
pub mod state;
