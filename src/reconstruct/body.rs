//! What stays the same over all frames of a body: elements and bonds at rest, the grid, the skin on it.

use glam::DVec3;
use rayon::prelude::*;

use super::ReconstructError;
use super::bins::ElementBins;
use crate::columns::{Bonds, Elements};
use crate::geometry::distance::signed_distance;
use crate::geometry::nearest::TriangleBins;
use crate::geometry::{NodeGrid, TriMesh};

/// Cells between the skin's bounds and the border of the grid.
const MARGIN: usize = 2;
/// Half width of the band in which the distance to the skin is exact, cells. Every node of a cell that the skin
/// crosses lies within √3 cells of it.
const BAND: f64 = 2.0;

/// Edge of the bins that elements are sorted into, radii.
pub const BIN: f64 = 3.0;

/// A body at rest.
#[derive(Debug)]
pub struct Body {
    /// Index of the `[[body]]`.
    pub index: u32,
    /// Row of each of its elements in the packing, ascending.
    pub rows: Vec<u32>,
    /// Rest position of each of its elements, m.
    pub positions: Vec<DVec3>,
    /// Mean radius of its elements, m.
    pub radius: f64,
    /// Its bonds.
    pub bonds: Vec<RestBond>,
    /// Elements sorted into bins.
    pub bins: ElementBins,
    /// The volume between its skin; `None` for loose elements, which are balls.
    pub solid: Option<Solid>,
}

/// A bond at rest. Ends count within the body.
#[derive(Clone, Copy, Debug)]
pub struct RestBond {
    /// One end.
    pub i: u32,
    /// The other end.
    pub j: u32,
    /// Half the rest vector from `i` to `j`, m.
    pub half: DVec3,
}

/// The skin and its grid.
#[derive(Debug)]
pub struct Solid {
    /// The grid that all surfaces of the body are drawn on.
    pub grid: NodeGrid,
    /// Distance to the skin at each node, m; negative inside.
    pub distance: Vec<f32>,
    /// The skin.
    pub skin: TriMesh,
    /// Its triangles in bins.
    pub triangles: TriangleBins,
    /// Where grid edges pass through the skin, ordered by `edge`.
    pub crossings: Vec<SkinCrossing>,
}

/// Point where a grid edge passes through the skin.
#[derive(Clone, Copy, Debug)]
pub struct SkinCrossing {
    /// Three times the edge's lower node, plus its axis.
    pub edge: u64,
    /// The point of the skin nearest to the crossing, m.
    pub point: DVec3,
    /// Unit normal of the skin there.
    pub normal: DVec3,
}

impl Body {
    /// Gathers the elements of every body. `skin` gives the skin of a body that has bonds.
    pub fn all(
        elements: &Elements,
        bonds: &Bonds,
        voxel: f64,
        mut skin: impl FnMut(u32) -> Result<TriMesh, ReconstructError>,
    ) -> Result<Vec<Self>, ReconstructError> {
        let count = elements
            .body
            .iter()
            .max()
            .map_or(0, |&last| last as usize + 1);
        let mut rows: Vec<Vec<u32>> = vec![Vec::new(); count];
        let mut local = vec![0_u32; elements.body.len()];
        for (row, &body) in elements.body.iter().enumerate() {
            local[row] = rows[body as usize].len() as u32;
            rows[body as usize].push(row as u32);
        }
        let mut of_body: Vec<Vec<RestBond>> = vec![Vec::new(); count];
        for (b, (&i, &j)) in bonds.i.iter().zip(&bonds.j).enumerate() {
            let (i, j) = (i as usize, j as usize);
            let direction = DVec3::new(bonds.dx[b], bonds.dy[b], bonds.dz[b]);
            // A bond between bodies holds two skins together; it has no face of its own.
            if elements.body[i] == elements.body[j] {
                of_body[elements.body[i] as usize].push(RestBond {
                    i: local[i],
                    j: local[j],
                    half: direction * (0.5 * bonds.l0[b]),
                });
            }
        }
        let mut bodies = Vec::new();
        for (index, (rows, bonds)) in rows.into_iter().zip(of_body).enumerate() {
            if rows.is_empty() {
                continue;
            }
            let positions: Vec<DVec3> = rows
                .iter()
                .map(|&row| row as usize)
                .map(|row| DVec3::new(elements.x[row], elements.y[row], elements.z[row]))
                .collect();
            let sum: f64 = rows.iter().map(|&row| elements.r[row as usize]).sum();
            let radius = sum / rows.len() as f64;
            let solid = if bonds.is_empty() {
                None
            } else {
                Some(Solid::new(
                    index as u32,
                    skin(index as u32)?,
                    voxel * radius,
                )?)
            };
            bodies.push(Body {
                index: index as u32,
                bins: ElementBins::new(&positions, BIN * radius),
                rows,
                positions,
                radius,
                bonds,
                solid,
            });
        }
        Ok(bodies)
    }
}

impl Solid {
    /// Lays a grid of cells `spacing` (m) about the skin.
    pub fn new(body: u32, skin: TriMesh, spacing: f64) -> Result<Self, ReconstructError> {
        let (lo, hi) = skin.bounds().ok_or(ReconstructError::EmptySkin { body })?;
        let cells =
            ((hi - lo) / spacing + DVec3::splat(2.0 * MARGIN as f64 + 2.0)).element_product();
        // Nodes are numbered by u32, and memory ends earlier still.
        if cells.is_nan() || cells >= ReconstructError::MAX_NODES {
            return Err(ReconstructError::GridTooLarge { body, cells });
        }
        let grid = NodeGrid::around(lo, hi, spacing, MARGIN);
        let distance = signed_distance(&skin, &grid, BAND * spacing);
        let triangles = TriangleBins::new(&skin, 2.0 * spacing);
        let mut solid = Solid {
            grid,
            distance,
            skin,
            triangles,
            crossings: Vec::new(),
        };
        solid.crossings = solid.find_crossings();
        Ok(solid)
    }

    /// Whether a node lies inside the skin.
    pub fn is_inside(&self, node: usize) -> bool {
        self.distance[node] < 0.0
    }

    fn find_crossings(&self) -> Vec<SkinCrossing> {
        let [nx, ny, nz] = self.grid.nodes;
        let strides = self.grid.strides();
        let layers: Vec<Vec<SkinCrossing>> = (0..nz - 1)
            .into_par_iter()
            .map(|k| {
                let mut found = Vec::new();
                for j in 0..ny - 1 {
                    for i in 0..nx - 1 {
                        let node = self.grid.index([i, j, k]);
                        for (axis, stride) in strides.into_iter().enumerate() {
                            if self.is_inside(node) != self.is_inside(node + stride) {
                                found.push(self.crossing([i, j, k], axis));
                            }
                        }
                    }
                }
                found
            })
            .collect();
        layers.concat()
    }

    fn crossing(&self, at: [usize; 3], axis: usize) -> SkinCrossing {
        let node = self.grid.index(at);
        let s0 = f64::from(self.distance[node]);
        let s1 = f64::from(self.distance[node + self.grid.strides()[axis]]);
        let along = DVec3::AXES[axis];
        let guess = self.grid.position(at) + along * (self.grid.spacing * s0 / (s0 - s1));
        let nearest = self.triangles.nearest(&self.skin, guess, self.grid.spacing);
        let (point, normal) = nearest.map_or((guess, DVec3::ZERO), |(point, t)| {
            let [a, b, c] = self.skin.corners(t);
            (point, (b - a).cross(c - a).normalize_or_zero())
        });
        SkinCrossing {
            edge: 3 * node as u64 + axis as u64,
            point,
            normal,
        }
    }

    /// The crossing on the edge that leaves `node` along `axis`, if the skin passes there.
    pub fn crossing_on(&self, node: usize, axis: usize) -> Option<&SkinCrossing> {
        let edge = 3 * node as u64 + axis as u64;
        let at = self
            .crossings
            .binary_search_by_key(&edge, |c| c.edge)
            .ok()?;
        Some(&self.crossings[at])
    }
}
