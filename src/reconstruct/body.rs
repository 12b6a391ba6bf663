//! What stays the same over all frames of a body: elements and bonds at rest, the grid, the skin on it.

use glam::DVec3;
use rayon::prelude::*;

use super::ReconstructError;
use crate::columns::{Bonds, Elements};
use crate::geometry::distance::signed_distance;
use crate::geometry::nearest::TriangleBins;
use crate::geometry::{NodeGrid, TriMesh};

/// Cells between the skin's bounds and the border of the grid.
const MARGIN: usize = 2;
/// Half width of the band in which the distance to the skin is exact, cells. Every node of a cell that the skin
/// crosses lies within √3 cells of it.
const BAND: f64 = 2.0;

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
                Some(Solid::new(index, skin(index as u32)?, voxel * radius)?)
            };
            bodies.push(Body {
                index: index as u32,
                bins: ElementBins::new(&positions, 3.0 * radius),
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
    pub fn new(body: usize, skin: TriMesh, spacing: f64) -> Result<Self, ReconstructError> {
        let (lo, hi) = skin.bounds().ok_or(ReconstructError::EmptySkin { body })?;
        let cells =
            ((hi - lo) / spacing + DVec3::splat(2.0 * MARGIN as f64 + 2.0)).element_product();
        // Nodes are numbered by u32, and memory ends earlier still.
        if !(cells < ReconstructError::MAX_NODES) {
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

/// Points sorted into cubic bins.
#[derive(Clone, Debug)]
pub struct ElementBins {
    origin: DVec3,
    edge: f64,
    bins: [usize; 3],
    first: Vec<u32>,
    points: Vec<u32>,
}

impl ElementBins {
    /// Sorts points into bins of this edge length (m), made longer where that would need far more bins than points.
    pub fn new(positions: &[DVec3], edge: f64) -> Self {
        let lo = positions.iter().copied().fold(DVec3::INFINITY, DVec3::min);
        let hi = positions
            .iter()
            .copied()
            .fold(DVec3::NEG_INFINITY, DVec3::max);
        let limit = 64.0 + 8.0 * positions.len() as f64;
        let crowd = ((hi - lo) / edge + DVec3::ONE).element_product() / limit;
        let edge = edge * crowd.max(1.0); // more than enough: bins shrink with the cube
        let bins = ((hi - lo) / edge)
            .floor()
            .to_array()
            .map(|n| n as usize + 1);
        let mut this = ElementBins {
            origin: lo,
            edge,
            bins,
            first: vec![0; bins.iter().product::<usize>() + 1],
            points: vec![0; positions.len()],
        };
        let of: Vec<usize> = positions
            .iter()
            .map(|&p| this.flat(this.bin_of(p)))
            .collect();
        for &bin in &of {
            this.first[bin + 1] += 1;
        }
        for bin in 1..this.first.len() {
            this.first[bin] += this.first[bin - 1];
        }
        let mut next = this.first.clone();
        for (point, &bin) in of.iter().enumerate() {
            this.points[next[bin] as usize] = point as u32;
            next[bin] += 1;
        }
        this
    }

    fn flat(&self, [i, j, k]: [usize; 3]) -> usize {
        (k * self.bins[1] + j) * self.bins[0] + i
    }

    /// Number of bins.
    pub fn len(&self) -> usize {
        self.first.len() - 1
    }

    /// The bin whose box, or whose nearest face, holds `p`.
    pub fn bin_of(&self, p: DVec3) -> [usize; 3] {
        let at = (p - self.origin) / self.edge;
        std::array::from_fn(|axis| at[axis].clamp(0.0, self.bins[axis] as f64 - 1.0) as usize)
    }

    /// Points of a bin, by flat index.
    pub fn points(&self, bin: usize) -> &[u32] {
        &self.points[self.first[bin] as usize..self.first[bin + 1] as usize]
    }

    /// Visits every bin that the box of half edge `reach` (m) about `p` touches.
    pub fn each_bin(&self, p: DVec3, reach: f64, mut visit: impl FnMut(usize)) {
        let lo = self.bin_of(p - DVec3::splat(reach));
        let hi = self.bin_of(p + DVec3::splat(reach));
        for k in lo[2]..=hi[2] {
            for j in lo[1]..=hi[1] {
                for i in lo[0]..=hi[0] {
                    visit(self.flat([i, j, k]));
                }
            }
        }
    }

    /// Flat index of the bin that holds `p`.
    pub fn flat_of(&self, p: DVec3) -> usize {
        self.flat(self.bin_of(p))
    }

    /// Visits every bin that touches bin `at`, itself included.
    pub fn each_around(&self, at: usize, mut visit: impl FnMut(usize)) {
        let row = at / self.bins[0];
        let c = [at % self.bins[0], row % self.bins[1], row / self.bins[1]];
        let lo = c.map(|i| i.saturating_sub(1));
        let hi: [usize; 3] = std::array::from_fn(|axis| (c[axis] + 1).min(self.bins[axis] - 1));
        for k in lo[2]..=hi[2] {
            for j in lo[1]..=hi[1] {
                for i in lo[0]..=hi[0] {
                    visit(self.flat([i, j, k]));
                }
            }
        }
    }

    /// Length of a bin's edge, m.
    pub fn edge(&self) -> f64 {
        self.edge
    }

    /// Length over which a growing search has seen every bin, m.
    pub fn diameter(&self) -> f64 {
        self.edge * (self.bins[0] + self.bins[1] + self.bins[2]) as f64
    }
}
