//! Why a mesh cannot be remeshed.

use glam::DVec3;

use crate::geometry::check::ShortPosition;

/// Why a mesh cannot be remeshed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RemeshError {
    /// The edge length is not positive and finite.
    #[error("the edge length is {0} m; it must be positive and finite")]
    InvalidLength(f64),
    /// More triangles than can be handled.
    #[error("edges of {edge:.3e} m would make {triangles:.1e} triangles; use longer edges")]
    TooFine {
        /// Requested edge length, m.
        edge: f64,
        /// Approximate number of triangles.
        triangles: f64,
    },
    /// The mesh is not closed, is wound inconsistently, or has surfaces that share vertices.
    #[error("the mesh is not a closed manifold at vertex {vertex}; repair it first")]
    NotManifold {
        /// Index of the vertex.
        vertex: u32,
    },
    /// The new triangles cut each other.
    #[error(
        "with edges of {edge:.3e} m the surface would cut itself near {}; use edges no longer than its walls are thick",
        ShortPosition(*.near)
    )]
    SelfCrossing {
        /// Requested edge length, m.
        edge: f64,
        /// Where the surface would cut itself, m.
        near: DVec3,
    },
}
