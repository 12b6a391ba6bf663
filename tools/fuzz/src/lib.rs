//! Shared by the targets: the bounds for every input, and a small store for altered files.

mod bounds;
mod shot;

pub use bounds::bounded;
pub use shot::{ACROSS, Shot, seed};
