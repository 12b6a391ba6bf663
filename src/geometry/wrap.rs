//! Wraps any mesh, even an open or overlapping one: the surface where its winding number is ½.
//!
//! A grid is laid over the mesh. Its cells that the surface crosses get one vertex per sheet (manifold dual
//! contouring: Ju et al. 2002, Nielson 2004), placed by the planes of the triangles that the cell's edges cross, so
//! that sharp edges stay sharp. Memory and time grow with the number of these cells.

mod cells;
mod crossings;
mod mend;
mod vertices;

use super::bvh::Bvh;
use super::carry::carry_uv;
use super::check::MeshDefect;
use super::mesh::TriMesh;
use super::winding::Winding;
use cells::SurfaceCells;
use vertices::DualSurface;

/// Maximum number of cells of the grid that the surface crosses.
const MAX_CELLS: f64 = 3e7;
/// Largest fraction of the area of the mesh that may be missing from the wrap before its cells are halved.
const MAX_MISSING: f64 = 2e-3;
/// Number of times that cells may be halved.
const MAX_HALVINGS: u32 = 2;

/// Why a mesh cannot be wrapped.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WrapError {
    /// The winding number is nowhere above one half.
    #[error("the mesh encloses nothing: its winding number is nowhere above one half")]
    EnclosesNothing,
    /// The grid would have too many cells.
    #[error(
        "a wrap with cells of {cell:.3e} m needs about {cells:.1e} cells, but at most {MAX_CELLS:.0e} are possible; \
         cells of {least:.3e} m would do: use larger elements"
    )]
    TooFine {
        /// Edge of a cell, m.
        cell: f64,
        /// Number of cells.
        cells: f64,
        /// Smallest possible edge of a cell, m.
        least: f64,
    },
    /// The wrap bounds no solid.
    #[error("the wrapped {0}")]
    Faulty(MeshDefect),
}

/// A wrap.
#[derive(Clone, Debug, PartialEq)]
pub struct Wrap {
    /// The closed surface, with the texture of the mesh.
    pub surface: TriMesh,
    /// Edge of the cells of its grid, m.
    pub cell: f64,
    /// Fraction of the area of the mesh that is missing, as parts are thinner than a cell.
    pub missing: f64,
}

/// The closed surface where the winding number of `mesh` is ½, on a grid with cells of edge `cell` (m). Cells are
/// halved, at most twice, if parts of the mesh are thinner than a cell; what is missing even then is returned.
///
/// Vertices lie on the mesh where it is near. Across holes the surface is that of the winding number.
///
/// # Errors
///
/// Meshes that enclose nothing, and grids that are too fine.
pub fn wrap(mesh: &TriMesh, mut cell: f64) -> Result<Wrap, WrapError> {
    let missing_in = |wrap: &Result<TriMesh, WrapError>, cell: f64| {
        let found = wrap.as_ref().map(|surface| missing(mesh, surface, cell));
        found.unwrap_or(1.0)
    };
    let mut best = surface(mesh, cell);
    let mut missing = missing_in(&best, cell);
    for _ in 0..MAX_HALVINGS {
        if missing <= MAX_MISSING || matches!(best, Err(WrapError::TooFine { .. })) {
            break;
        }
        match surface(mesh, cell / 2.0) {
            // A coarse wrap is better than none.
            Err(WrapError::TooFine { .. }) if best.is_ok() => break,
            finer => best = finer,
        }
        cell /= 2.0;
        missing = missing_in(&best, cell);
    }
    let mut surface = best?;
    carry_uv(mesh, &mut surface);
    Ok(Wrap {
        surface,
        cell,
        missing,
    })
}

fn surface(mesh: &TriMesh, cell: f64) -> Result<TriMesh, WrapError> {
    // A sheet crosses about two cells per cell of its area.
    let cells = 2.0 * mesh.area() / (cell * cell);
    if cells.is_nan() || cells > MAX_CELLS {
        let least = cell * (cells / MAX_CELLS).sqrt();
        return Err(WrapError::TooFine { cell, cells, least });
    }
    let winding = Winding::new(mesh);
    let mut cells = SurfaceCells::new(mesh, &winding, cell);
    loop {
        if cells.crossed().is_empty() {
            return Err(WrapError::EnclosesNothing);
        }
        let dual = DualSurface::new(mesh, &winding, &cells);
        // Where two sheets meet along an edge of the surface, they are joined.
        match dual.pinched_nodes(&cells) {
            nodes if nodes.is_empty() => return Ok(mend::untangle(dual)),
            nodes => cells.fill(&nodes, &winding),
        }
    }
}

/// Fraction of the area of a mesh that lies at the border of the wound region, but farther than a cell from its wrap.
fn missing(mesh: &TriMesh, surface: &TriMesh, cell: f64) -> f64 {
    let (bvh, winding) = (Bvh::new(surface), Winding::new(mesh));
    let (mut missing, mut all) = (0.0, 0.0);
    for t in 0..mesh.triangles.len() {
        let [a, b, c] = mesh.corners(t);
        let (centre, area) = ((a + b + c) / 3.0, mesh.area_of(t));
        all += area;
        if bvh.any_within(surface, centre, cell) {
            continue;
        }
        let step = (b - a).cross(c - a).normalize_or_zero() * (1e-3 * cell);
        if winding.contains(centre - step) != winding.contains(centre + step) {
            missing += area;
        }
    }
    missing / all
}

#[cfg(test)]
mod tests;
