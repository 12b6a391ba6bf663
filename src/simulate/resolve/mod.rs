//! Selects the method for a pipeline and its time step, and refuses unsupported combinations. Only this
//! module depends on the methods. Each method chooses its backend and precision itself, as in
//! `methods/explicit/mod.rs`, and lists what it refuses in its `refuse.rs`.

pub mod choose;
mod prepared;

pub use prepared::{PreparedScene, Schedule, method, schedule, validate};
