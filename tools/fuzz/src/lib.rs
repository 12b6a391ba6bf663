//! What the targets share: the bounds that every input must keep, and a small store to put altered files into.

mod bounds;
mod shot;

pub use bounds::bounded;
pub use shot::{ACROSS, Shot, seed};
