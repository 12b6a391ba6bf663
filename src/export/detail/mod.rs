//! Surfaces with fewer triangles, by count or by distance from a camera.
//!
//! A fragment has one reduced mesh for as long as its full mesh stays the same, so that nothing flickers and formats
//! share arrays between frames. The mesh consists of vertices of the full one, which keep all their columns. Its error
//! is checked by measured distances, not only by the estimate of the simplification.

mod apply;
mod corners;
mod fidelity;
mod full;
mod limits;
mod plan;
mod projection;
mod reduce;
mod survey;
mod topology;

pub use apply::Reduction;
pub use limits::{DetailLimits, DetailSummary, DetailView};
pub use plan::plan;

#[cfg(test)]
mod tests;
