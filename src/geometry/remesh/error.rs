//! Why a mesh cannot be remeshed.

use glam::DVec3;

use crate::geometry::check::Near;

/// Why a mesh cannot be remeshed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RemeshError {
    /// Not a length.
    #[error("the wanted edge is {0} m long; it must be positive and finite")]
    Length(f64),
    /// Far more triangles than anything can be done with.
    #[error("edges of {edge:.3e} m would make {triangles:.1e} triangles; ask for longer ones")]
    TooFine {
        /// Wanted, m.
        edge: f64,
        /// About as many.
        triangles: f64,
    },
    /// Not closed, wound inconsistently, or surfaces that share vertices.
    #[error("the mesh is no closed manifold at vertex {vertex}; repair it first")]
    NotManifold {
        /// Its number.
        vertex: u32,
    },
    /// The new triangles cut each other.
    #[error(
        "with edges of {edge:.3e} m the surface would cut itself near {}; ask for edges no longer than its walls are thick",
        Near(*.near)
    )]
    SelfCrossing {
        /// Wanted, m.
        edge: f64,
        /// Where.
        near: DVec3,
    },
}
