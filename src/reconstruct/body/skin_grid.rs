//! The skin of a body, and the grid on which its cracks are found.

use glam::DVec3;

use super::skin::Skin;
use crate::geometry::occupancy::Occupancy;
use crate::geometry::{NodeGrid, TriMesh};
use crate::reconstruct::error::ReconstructError;

/// Number of cells between the bounds of the skin and the border of the grid.
const MARGIN_CELLS: usize = 3;
/// Offset of the grid from the middle of the bounds, cells. Without it, faces of boxes would often lie on
/// grid nodes.
const GRID_SHIFT: DVec3 = DVec3::new(0.137, 0.211, 0.319);

/// The skin of a body and its grid.
#[derive(Debug)]
pub struct SkinGrid {
    /// Grid for all cracks of the body.
    pub grid: NodeGrid,
    /// Which nodes lie inside the skin, and where grid lines cross it.
    pub occupancy: Occupancy,
    /// The skin.
    pub skin: Skin,
    /// Amplitude of the roughness of crack faces, m.
    pub roughness: f64,
    /// Maximum deviation of simplified surfaces, m; 0 keeps all triangles.
    pub simplify: f64,
}

impl SkinGrid {
    /// Lays a grid of cell size `spacing` (m) around the skin, whose edges are subdivided until none is
    /// longer than `longest` (m).
    pub fn new(
        body: u32,
        skin: TriMesh,
        spacing: f64,
        longest: f64,
    ) -> Result<Self, ReconstructError> {
        let (lo, hi) = skin.bounds().ok_or(ReconstructError::EmptySkin { body })?;
        let cells =
            ((hi - lo) / spacing + DVec3::splat(2.0 * MARGIN_CELLS as f64 + 2.0)).element_product();
        // Nodes are numbered by u32, and memory runs out even earlier.
        if cells.is_nan() || cells >= ReconstructError::MAX_NODES {
            return Err(ReconstructError::GridTooLarge { body, cells });
        }
        let mut grid = NodeGrid::around(lo, hi, spacing, MARGIN_CELLS);
        grid.origin += GRID_SHIFT * spacing;
        let skin = Skin::new(skin, longest);
        Ok(SkinGrid {
            occupancy: Occupancy::new(&skin.mesh, &grid),
            skin,
            grid,
            roughness: 0.0,
            simplify: 0.0,
        })
    }

    /// Nodes at the corners of the cell at `node`. The bits of corner `c` are its offsets along x, y and z.
    pub fn corner_nodes(&self, node: usize) -> [usize; 8] {
        let [sx, sy, sz] = self.grid.strides();
        std::array::from_fn(|c| node + sx * (c & 1) + sy * (c >> 1 & 1) + sz * (c >> 2))
    }

    /// Whether a node lies inside the skin.
    pub fn is_inside(&self, node: usize) -> bool {
        self.occupancy.inside[node]
    }

    /// A copy with the grid shifted by a fraction of a cell, differently for each `attempt`.
    pub fn with_shifted_grid(&self, attempt: u32) -> Self {
        let mut grid = self.grid.clone();
        let part = GRID_SHIFT * f64::from(attempt);
        grid.origin += (part - part.floor() - 0.5) * 0.5 * grid.spacing;
        SkinGrid {
            occupancy: Occupancy::new(&self.skin.mesh, &grid),
            grid,
            skin: self.skin.clone(),
            roughness: self.roughness,
            simplify: self.simplify,
        }
    }
}
