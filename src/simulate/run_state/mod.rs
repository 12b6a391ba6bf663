//! Data that a run records: frames, mean loads, states to resume from.

pub mod averages;
mod fragment_sums;
pub mod frame_element;
pub mod sections;
pub mod snapshot;
pub mod state;
pub mod state_in_parts;
pub mod system_sections;
