//! Cuts a closed mesh along an open sheet of triangles whose rim lies outside, into closed pieces.
//!
//! Signs are exact and every crossing of an edge with a triangle is one point, so that the pieces fit vertex
//! on vertex. Sheet and body must be in general position: a corner of one in the plane of a triangle of the
//! other is refused, and the caller moves the sheet a little.

mod crossing;
mod divide;
mod error;
mod facet;
mod parts;
mod pieces;
#[cfg(test)]
mod tests;
mod tidy;

pub use error::CutError;
pub use facet::Origin;
pub use pieces::{Piece, cut};
