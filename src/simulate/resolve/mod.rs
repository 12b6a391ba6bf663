//! Which method runs a pipeline, with what time step; what is refused. The only module that knows the
//! methods. Each chooses its backend and precision itself, as `methods/explicit/mod.rs` does, and says what
//! it refuses in a file `refuse.rs`.

pub mod choose;
mod prepared;

pub use prepared::{Prepared, Schedule, method, schedule};
