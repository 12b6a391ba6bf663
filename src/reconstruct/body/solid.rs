//! The volume between a body's skin, and the grid that its cracks are drawn on.

use glam::DVec3;

use super::skin::Skin;
use crate::geometry::occupancy::Occupancy;
use crate::geometry::{NodeGrid, TriMesh};
use crate::reconstruct::error::ReconstructError;

/// Cells between the skin's bounds and the border of the grid.
const MARGIN: usize = 3;
/// The grid is moved by this out of the middle of the bounds, cells: faces of boxes would often lie on its nodes.
const SHIFT: DVec3 = DVec3::new(0.137, 0.211, 0.319);

/// The skin and its grid.
#[derive(Debug)]
pub struct Solid {
    /// The grid that all cracks of the body are drawn on.
    pub grid: NodeGrid,
    /// Its nodes inside the skin, and where its lines pass through it.
    pub occupancy: Occupancy,
    /// The skin.
    pub skin: Skin,
    /// Depth of the grain on crack faces, m.
    pub grain: f64,
    /// How far simplified surfaces may move, m; 0 keeps all triangles.
    pub simplify: f64,
}

impl Solid {
    /// Lays a grid of cells `spacing` (m) about the skin, whose edges are divided where longer than `longest` (m).
    pub fn new(
        body: u32,
        skin: TriMesh,
        spacing: f64,
        longest: f64,
    ) -> Result<Self, ReconstructError> {
        let (lo, hi) = skin.bounds().ok_or(ReconstructError::EmptySkin { body })?;
        let cells =
            ((hi - lo) / spacing + DVec3::splat(2.0 * MARGIN as f64 + 2.0)).element_product();
        // Nodes are numbered by u32, and memory ends earlier still.
        if cells.is_nan() || cells >= ReconstructError::MAX_NODES {
            return Err(ReconstructError::GridTooLarge { body, cells });
        }
        let mut grid = NodeGrid::around(lo, hi, spacing, MARGIN);
        grid.origin += SHIFT * spacing;
        let skin = Skin::new(skin, longest);
        Ok(Solid {
            occupancy: Occupancy::new(&skin.mesh, &grid),
            skin,
            grid,
            grain: 0.0,
            simplify: 0.0,
        })
    }

    /// Nodes at the corners of the cell at `node`, corner `c` at bits (x, y, z) of `c`.
    pub fn corners(&self, node: usize) -> [usize; 8] {
        let [sx, sy, sz] = self.grid.strides();
        std::array::from_fn(|c| node + sx * (c & 1) + sy * (c >> 1 & 1) + sz * (c >> 2))
    }

    /// Whether a node lies inside the skin.
    pub fn is_inside(&self, node: usize) -> bool {
        self.occupancy.inside[node]
    }

    /// The same skin on a grid moved a little, differently for every `attempt`.
    pub fn aside(&self, attempt: u32) -> Self {
        let mut grid = self.grid.clone();
        let part = SHIFT * f64::from(attempt);
        grid.origin += (part - part.floor() - 0.5) * 0.5 * grid.spacing;
        Solid {
            occupancy: Occupancy::new(&self.skin.mesh, &grid),
            grid,
            skin: self.skin.clone(),
            grain: self.grain,
            simplify: self.simplify,
        }
    }
}
