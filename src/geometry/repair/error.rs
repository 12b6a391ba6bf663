//! Errors of mesh repair: what is wrong, where, and what to do.

use glam::DVec3;

use crate::geometry::check::ShortPosition;

/// One of several solids of a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct SolidSummary {
    /// Number of triangles of its surfaces.
    pub triangles: usize,
    /// Centre of its bounding box, m.
    pub middle: DVec3,
}

/// Why a mesh cannot be repaired. Vertices and triangles are numbered from 0 as in the input mesh; positions
/// are in its coordinates.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RepairError {
    /// The mesh has no triangles.
    #[error("mesh has no triangles; choose a file with faces")]
    Empty,
    /// A triangle uses a vertex that does not exist.
    #[error(
        "triangle {triangle} uses vertex {vertex} of {vertices}; the file is damaged, export it again"
    )]
    NoSuchVertex {
        /// Its number.
        triangle: usize,
        /// The vertex.
        vertex: u32,
        /// Number of vertices.
        vertices: usize,
    },
    /// A coordinate is NaN or infinite.
    #[error(
        "vertex {vertex}, a corner of triangle {triangle}, is not finite: {}, {}, {}; correct its position or remove its triangles",
        .place.x, .place.y, .place.z
    )]
    NotFinite {
        /// Its number.
        vertex: u32,
        /// The first triangle that uses it.
        triangle: usize,
        /// Its coordinates.
        place: DVec3,
    },
    /// Too small or too large for volumes and moments of inertia in double precision.
    #[error(
        "mesh is {size:.1e} m across, outside the supported range of 1e-12 m to 1e12 m; check the unit of the file"
    )]
    UnsupportedSize {
        /// Diagonal of its bounding box, m.
        size: f64,
    },
    /// So far from the origin that coordinates have lost precision.
    #[error(
        "mesh of {size:.3e} m lies {distance:.1e} m from its origin, where coordinates lose too much precision; \
         move it to its origin in the program that made it"
    )]
    FarFromOrigin {
        /// Diagonal of its bounding box, m.
        size: f64,
        /// Distance from the origin to the centre of its bounding box, m.
        distance: f64,
    },
    /// All vertices lie in one plane or line, or the remaining triangles bound no volume.
    #[error("mesh is flat near {} and bounds no volume; give it thickness", ShortPosition(*.near))]
    NoVolume {
        /// Its centre.
        near: DVec3,
    },
    /// Edges with a triangle on one side only.
    #[error(
        "mesh is open: {edges} boundary edges, the first between vertices {} and {} of triangle {triangle} near {}; close it",
        .vertices[0], .vertices[1], ShortPosition(*.near)
    )]
    Open {
        /// Number of such edges.
        edges: usize,
        /// Ends of the first such edge.
        vertices: [u32; 2],
        /// Its triangle.
        triangle: u32,
        /// Its centre.
        near: DVec3,
    },
    /// Edges where more than two triangles meet that do not bound separate solids.
    #[error(
        "{count} triangles meet at the edge between vertices {} and {} near {} ({edges} such edges in all); \
         remove inner walls and fins so that two remain",
        .vertices[0], .vertices[1], ShortPosition(*.near)
    )]
    NonManifold {
        /// Number of such edges.
        edges: usize,
        /// Number of triangles at the first.
        count: usize,
        /// Ends of the first such edge.
        vertices: [u32; 2],
        /// Its centre.
        near: DVec3,
    },
    /// A one-sided surface, such as a Klein bottle.
    #[error(
        "the surface with triangle {triangle} near {} has only one side, so it has no inside; remodel it",
        ShortPosition(*.near)
    )]
    OneSided {
        /// A triangle where the two winding senses meet.
        triangle: u32,
        /// Its centre.
        near: DVec3,
    },
    /// Triangles that meet elsewhere than at common corners and edges.
    #[error(
        "mesh cuts or touches itself: {pairs} pairs of triangles, the first {} and {} near {}; \
         unite its parts in a modelling program or move them apart",
        .triangles[0], .triangles[1], ShortPosition(*.near)
    )]
    SelfCrossing {
        /// Number of pairs of triangles.
        pairs: usize,
        /// The first pair.
        triangles: [u32; 2],
        /// Centre of its first triangle.
        near: DVec3,
    },
    /// A triangle without a normal that could not be removed.
    #[error("triangle {triangle} near {} is degenerate: its corners lie on a line; remove it and close the hole", ShortPosition(*.near))]
    Degenerate {
        /// Its number.
        triangle: u32,
        /// Its centre.
        near: DVec3,
    },
    /// The mesh bounds several solids.
    #[error("mesh bounds {} solids: {}; use one at a time (`repair::solids` separates them)", .0.len(), SolidList(.0))]
    Several(Vec<SolidSummary>),
}

/// Prints the first few solids.
struct SolidList<'a>(&'a [SolidSummary]);

impl std::fmt::Display for SolidList<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const SHOWN: usize = 4;
        for (k, part) in self.0.iter().take(SHOWN).enumerate() {
            let comma = if k > 0 { ", " } else { "" };
            write!(
                f,
                "{comma}{} triangles near {}",
                part.triangles,
                ShortPosition(part.middle)
            )?;
        }
        if self.0.len() > SHOWN {
            write!(f, " and more")?;
        }
        Ok(())
    }
}
