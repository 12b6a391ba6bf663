//! The cells of a body as polyhedra that share corners.

use std::collections::HashMap;

use crate::parallel::prelude::*;
use glam::DVec3;

use crate::columns::{Faces, NONE};
use crate::geometry::convex::Convex;
use crate::geometry::hash_grid::HashGrid;
use crate::math::UnionFind;
use crate::reconstruct::error::ReconstructError;

/// Corners nearer to each other than this part of a cell's size are one.
const JOINED: f64 = 1e-4;
/// Half the edge of the box that a cell is cut from, over the radius of the ball of its volume; larger by
/// [`GROW`] where that is too small.
const ROOM: f64 = 8.0;
const GROW: f64 = 8.0;
/// Times that the box grows.
const TRIES: u32 = 6;

/// A face as one of its cells has it.
#[derive(Clone, Debug)]
pub struct Polygon {
    /// The cell, by its place in the body.
    pub cell: u32,
    /// The cell beyond; [`NONE`] where the face is free.
    pub other: u32,
    /// Row of its bond in the packing; [`NONE`] where the face is free.
    pub bond: u32,
    /// Corners, counterclockwise from outside; at least three.
    pub corners: Vec<u32>,
}

/// The cells of a body at rest.
#[derive(Clone, Debug)]
pub struct Complex {
    /// Corners, m.
    pub corners: Vec<DVec3>,
    /// Faces, cell by cell: those between two cells twice.
    pub polygons: Vec<Polygon>,
    /// Cells at each corner, ascending.
    pub around: Vec<Vec<u32>>,
}

/// A face of a cell in the table, and whether its normal points out of that cell.
type Side = (u32, bool);

impl Complex {
    /// Of the elements `rows` of a packing, at these centres and with these radii; nothing where they are no cells.
    ///
    /// # Errors
    /// Faces that do not close a cell.
    pub fn new(
        body: u32,
        table: &Faces,
        rows: &[u32],
        centres: &[DVec3],
        radii: &[f64],
    ) -> Result<Option<Self>, ReconstructError> {
        let places: HashMap<u32, u32> = rows.iter().copied().zip(0..).collect();
        let mut sides: Vec<Vec<Side>> = vec![Vec::new(); rows.len()];
        for face in 0..table.id.len() as u32 {
            let at = face as usize;
            if let Some(&cell) = places.get(&table.i[at]) {
                sides[cell as usize].push((face, true));
            }
            if !table.is_free(at)
                && let Some(&cell) = places.get(&table.j[at])
            {
                sides[cell as usize].push((face, false));
            }
        }
        if sides.iter().all(Vec::is_empty) {
            return Ok(None);
        }
        let solid = |cell: usize| solid(table, &sides[cell], centres[cell], radii[cell]);
        let solids: Vec<Option<Convex>> = (0..rows.len()).into_par_iter().map(solid).collect();
        if let Some(cell) = solids.iter().position(Option::is_none) {
            return Err(ReconstructError::OpenCell {
                body,
                cell: rows[cell],
            });
        }
        let size = radii.iter().sum::<f64>() / radii.len() as f64;
        let mut points = Vec::new();
        let mut polygons = Vec::new();
        for (cell, solid) in (0u32..).zip(solids.into_iter().flatten()) {
            for face in solid.faces {
                let row = face.tag as usize;
                let [i, j] = [table.i[row], table.j[row]];
                let other = if i == rows[cell as usize] { j } else { i };
                let first = points.len() as u32;
                points.extend_from_slice(&face.corners);
                polygons.push(Polygon {
                    cell,
                    other: places.get(&other).copied().unwrap_or(NONE),
                    bond: table.bond[row],
                    corners: (first..points.len() as u32).collect(),
                });
            }
        }
        Ok(Some(Self::joined(points, polygons, JOINED * size)))
    }

    /// Joins corners nearer to each other than `reach` (m); polygons that are left without area go.
    fn joined(points: Vec<DVec3>, mut polygons: Vec<Polygon>, reach: f64) -> Self {
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
        Complex {
            corners,
            polygons,
            around,
        }
    }
}

/// A cell cut out of a box by the planes of its faces, which are the tags; nothing where they leave it open.
fn solid(table: &Faces, sides: &[Side], centre: DVec3, radius: f64) -> Option<Convex> {
    let mut room = ROOM * radius;
    for _ in 0..TRIES {
        let half = DVec3::splat(room);
        let mut solid = Convex::cuboid(centre - half, centre + half, [NONE; 6]);
        for &(face, outwards) in sides {
            let row = face as usize;
            let normal = table.normal(row);
            let normal = if outwards { normal } else { -normal };
            solid.cut(normal, normal.dot(table.centre(row)), face);
        }
        if !solid.faces.is_empty() && solid.faces.iter().all(|face| face.tag != NONE) {
            return Some(solid);
        }
        room *= GROW;
    }
    None
}
