//! Cuts a closed mesh into closed pieces along an open sheet of triangles whose rim lies outside the mesh.
//!
//! Signs are exact, and every crossing of an edge with a triangle is a single point, so that the pieces match
//! vertex by vertex. Sheet and body must be in general position: if a corner of one lies in the plane of a
//! triangle of the other, the cut is refused and the caller moves the sheet a little.

mod crossing;
mod divide;
mod error;
mod facet;
mod parts;
mod pieces;
mod slivers;
#[cfg(test)]
mod tests;

pub use error::CutError;
pub use facet::FacetOrigin;
pub use pieces::{CutPiece, cut};
