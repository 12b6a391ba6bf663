//! Cells of a body as polyhedra that share corners.

use std::collections::HashMap;

use crate::parallel::prelude::*;
use glam::DVec3;

use crate::columns::{Faces, NONE};
use crate::geometry::convex::Convex;
use crate::geometry::hash_grid::HashGrid;
use crate::math::UnionFind;
use crate::reconstruct::error::ReconstructError;

/// Corners closer to each other than this fraction of the mean cell radius are merged.
const MERGE_FRACTION: f64 = 1e-4;
/// Half the edge of the box that a cell is cut from, in radii of the cell; enlarged by [`BOX_GROWTH`] as long
/// as the box is too small.
const BOX_HALF_EDGE: f64 = 8.0;
const BOX_GROWTH: f64 = 8.0;
/// Number of box sizes to try.
const MAX_BOX_TRIES: u32 = 6;

/// A face as seen from one of its two cells.
#[derive(Clone, Debug)]
pub struct CellPolygon {
    /// Index of the cell in the body.
    pub cell: u32,
    /// Index of the cell on the other side; [`NONE`] if the face is free.
    pub other: u32,
    /// Row of its bond in the packing; [`NONE`] if the face is free.
    pub bond: u32,
    /// Corner indices, counter-clockwise seen from outside the cell; at least three.
    pub corners: Vec<u32>,
}

/// Cells of a body at rest.
#[derive(Clone, Debug)]
pub struct CellComplex {
    /// Corner positions, m.
    pub corners: Vec<DVec3>,
    /// Faces, cell by cell. A face between two cells appears twice.
    pub polygons: Vec<CellPolygon>,
    /// Cells that meet at each corner, in ascending order.
    pub around: Vec<Vec<u32>>,
}

/// Index of a face in the table, and whether its normal points out of the cell.
type OrientedFace = (u32, bool);

impl CellComplex {
    /// Builds the cells of the elements `rows` of a packing, with these centres and radii (m). Returns `None`
    /// if the elements have no faces.
    ///
    /// # Errors
    /// Fails if the faces of a cell do not close it.
    pub fn new(
        body: u32,
        table: &Faces,
        rows: &[u32],
        centres: &[DVec3],
        radii: &[f64],
    ) -> Result<Option<Self>, ReconstructError> {
        let index_of_row: HashMap<u32, u32> = rows.iter().copied().zip(0..).collect();
        let mut sides: Vec<Vec<OrientedFace>> = vec![Vec::new(); rows.len()];
        for face in 0..table.id.len() as u32 {
            let at = face as usize;
            if let Some(&cell) = index_of_row.get(&table.i[at]) {
                sides[cell as usize].push((face, true));
            }
            if !table.is_free(at)
                && let Some(&cell) = index_of_row.get(&table.j[at])
            {
                sides[cell as usize].push((face, false));
            }
        }
        if sides.iter().all(Vec::is_empty) {
            return Ok(None);
        }
        let polyhedron =
            |cell: usize| cell_polyhedron(table, &sides[cell], centres[cell], radii[cell]);
        let polyhedra: Vec<Option<Convex>> =
            (0..rows.len()).into_par_iter().map(polyhedron).collect();
        if let Some(cell) = polyhedra.iter().position(Option::is_none) {
            return Err(ReconstructError::OpenCell {
                body,
                cell: rows[cell],
            });
        }
        let size = radii.iter().sum::<f64>() / radii.len() as f64;
        let mut points = Vec::new();
        let mut polygons = Vec::new();
        for (cell, polyhedron) in (0u32..).zip(polyhedra.into_iter().flatten()) {
            for face in polyhedron.faces {
                let row = face.tag as usize;
                let [i, j] = [table.i[row], table.j[row]];
                let other = if i == rows[cell as usize] { j } else { i };
                let first = points.len() as u32;
                points.extend_from_slice(&face.corners);
                polygons.push(CellPolygon {
                    cell,
                    other: index_of_row.get(&other).copied().unwrap_or(NONE),
                    bond: table.bond[row],
                    corners: (first..points.len() as u32).collect(),
                });
            }
        }
        Ok(Some(Self::merged(points, polygons, MERGE_FRACTION * size)))
    }

    /// Merges corners closer to each other than `reach` (m), and drops polygons that lose their area by that.
    fn merged(points: Vec<DVec3>, mut polygons: Vec<CellPolygon>, reach: f64) -> Self {
        let grid = HashGrid::new(points.len(), reach, |k| points[k]);
        let mut sets = UnionFind::new(points.len());
        for (k, p) in points.iter().enumerate() {
            grid.around(*p, |other| {
                if (other as usize) < k && points[other as usize].distance(*p) <= reach {
                    sets.join(other, k as u32);
                }
            });
        }
        let roots = sets.roots();
        let mut numbers = vec![NONE; points.len()];
        let mut corners = Vec::new();
        for (k, &root) in roots.iter().enumerate() {
            if root as usize == k {
                numbers[k] = corners.len() as u32;
                corners.push(points[k]);
            }
        }
        let mut around: Vec<Vec<u32>> = vec![Vec::new(); corners.len()];
        for polygon in &mut polygons {
            for corner in &mut polygon.corners {
                *corner = numbers[roots[*corner as usize] as usize];
            }
            polygon.corners.dedup();
            while polygon.corners.len() > 1 && polygon.corners.first() == polygon.corners.last() {
                polygon.corners.pop();
            }
            for &corner in &polygon.corners {
                around[corner as usize].push(polygon.cell);
            }
        }
        polygons.retain(|polygon| polygon.corners.len() >= 3);
        for cells in &mut around {
            cells.sort_unstable();
            cells.dedup();
        }
        CellComplex {
            corners,
            polygons,
            around,
        }
    }
}

/// Cuts a cell out of a box by the planes of its faces; the indices of the faces become the tags. Returns
/// `None` if the planes do not close the cell.
fn cell_polyhedron(
    table: &Faces,
    sides: &[OrientedFace],
    centre: DVec3,
    radius: f64,
) -> Option<Convex> {
    let mut half_edge = BOX_HALF_EDGE * radius;
    for _ in 0..MAX_BOX_TRIES {
        let half = DVec3::splat(half_edge);
        let mut polyhedron = Convex::cuboid(centre - half, centre + half, [NONE; 6]);
        for &(face, outwards) in sides {
            let row = face as usize;
            let normal = table.normal(row);
            let normal = if outwards { normal } else { -normal };
            polyhedron.cut(normal, normal.dot(table.centre(row)), face);
        }
        if !polyhedron.faces.is_empty() && polyhedron.faces.iter().all(|face| face.tag != NONE) {
            return Some(polyhedron);
        }
        half_edge *= BOX_GROWTH;
    }
    None
}
