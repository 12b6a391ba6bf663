//! Which method runs a pipeline, with what time step; what is refused. The only module that knows the methods.

pub mod choose;
mod prepared;

pub use prepared::{Prepared, Schedule, method, schedule};
