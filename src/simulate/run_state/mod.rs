//! Data that a run records: frames, mean loads, states to resume from.

pub mod averages;
mod fragment_sums;
pub mod sections;
pub mod snapshot;
pub mod state;
