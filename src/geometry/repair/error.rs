//! Why a mesh cannot be repaired: what is wrong, where, and what to do.

use glam::DVec3;

use crate::geometry::check::Near;

/// One solid of several.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Triangles of its surfaces.
    pub triangles: usize,
    /// Middle of its box, m.
    pub middle: DVec3,
}

/// Why a mesh cannot be repaired. Vertices and triangles are numbered from 0 as in the mesh given; places are
/// in its coordinates.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RepairError {
    /// No triangles at all.
    #[error("mesh has no triangles; choose a file with faces")]
    Empty,
    /// A triangle of a vertex that is not there.
    #[error(
        "triangle {triangle} uses vertex {vertex} of {vertices}; the file is damaged, export it again"
    )]
    NoSuchVertex {
        /// Its number.
        triangle: usize,
        /// The vertex.
        vertex: u32,
        /// Vertices there are.
        vertices: usize,
    },
    /// A coordinate that is NaN or infinite.
    #[error(
        "vertex {vertex}, a corner of triangle {triangle}, is not finite: {}, {}, {}; give it a place or remove its triangles",
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
    /// Too small or too large for volumes and moments of inertia in doubles.
    #[error(
        "mesh is {size:.1e} m across, but 1e-12 m to 1e12 m can be computed with; check the unit of the file"
    )]
    Size {
        /// Diagonal of its box, m.
        size: f64,
    },
    /// So far from its origin that coordinates have lost their digits.
    #[error(
        "mesh of {size:.3e} m lies {distance:.1e} m off its origin, where coordinates keep too few digits; \
         move it to its origin in the program that made it"
    )]
    Far {
        /// Diagonal of its box, m.
        size: f64,
        /// From the origin to its middle, m.
        distance: f64,
    },
    /// All vertices in one plane or line, or what is left bounds nothing.
    #[error("mesh is flat about {} and bounds no volume; give it thickness", Near(*.near))]
    NoVolume {
        /// Its middle.
        near: DVec3,
    },
    /// Edges with a triangle on one side only.
    #[error(
        "mesh is open: {edges} boundary edges, the first between vertices {} and {} of triangle {triangle} near {}; close it",
        .vertices[0], .vertices[1], Near(*.near)
    )]
    Open {
        /// How many.
        edges: usize,
        /// Ends of the first.
        vertices: [u32; 2],
        /// Its triangle.
        triangle: u32,
        /// Its middle.
        near: DVec3,
    },
    /// Edges where more than two triangles meet that bound no separate solids.
    #[error(
        "{count} triangles meet at the edge between vertices {} and {} near {}, and {edges} edges are like it; \
         remove inner walls and fins so that two are left",
        .vertices[0], .vertices[1], Near(*.near)
    )]
    NonManifold {
        /// Such edges.
        edges: usize,
        /// Triangles at the first.
        count: usize,
        /// Ends of the first.
        vertices: [u32; 2],
        /// Its middle.
        near: DVec3,
    },
    /// A surface with one side, as a Klein bottle has.
    #[error(
        "the surface with triangle {triangle} near {} has one side only, so that it has no inside; remodel it",
        Near(*.near)
    )]
    OneSided {
        /// The triangle where both senses meet.
        triangle: u32,
        /// Its centre.
        near: DVec3,
    },
    /// Triangles that meet elsewhere than at common corners and edges.
    #[error(
        "mesh cuts or touches itself: {pairs} pairs of triangles, the first {} and {} near {}; \
         unite its parts in a modelling program or move them apart",
        .triangles[0], .triangles[1], Near(*.near)
    )]
    SelfCrossing {
        /// Pairs of triangles.
        pairs: usize,
        /// The first.
        triangles: [u32; 2],
        /// Centre of its first triangle.
        near: DVec3,
    },
    /// A triangle without a normal that could not be removed.
    #[error("triangle {triangle} near {} is degenerate: its corners lie on a line; remove it and close the hole", Near(*.near))]
    Degenerate {
        /// Its number.
        triangle: u32,
        /// Its centre.
        near: DVec3,
    },
    /// Several solids.
    #[error("mesh bounds {} solids: {}; take them one at a time (`repair::solids` parts them)", .0.len(), List(.0))]
    Several(Vec<Part>),
}

/// The first few solids.
struct List<'a>(&'a [Part]);

impl std::fmt::Display for List<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const MOST: usize = 4;
        for (k, part) in self.0.iter().take(MOST).enumerate() {
            let comma = if k > 0 { ", " } else { "" };
            write!(
                f,
                "{comma}{} triangles about {}",
                part.triangles,
                Near(part.middle)
            )?;
        }
        if self.0.len() > MOST {
            write!(f, " and more")?;
        }
        Ok(())
    }
}
