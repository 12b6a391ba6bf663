//! Where the vertex of a marching-cubes polygon lies inside its cell.
//!
//! The polygon's corners are points on crossed grid edges, each with the normal of the surface there: that of the skin's
//! triangle, or of the crack F_a = F_b. The vertex minimises the squared distances to their tangent planes, as in dual
//! contouring (Ju et al. 2002), starting from the mean; directions in which the planes say little are left at the mean.
//! That keeps the edges of a box and the rims of a crack sharp, and a smooth surface smooth.

use glam::{DMat3, DVec3};

use super::body::Solid;
use super::field::{Field, OUTSIDE};
use super::table::edge_corners;
use crate::math;

/// Directions with less than this fraction of the largest eigenvalue stay at the mean: edges blunter than about 35° are
/// treated as smooth.
const SHARP: f64 = 0.1;
/// Share of a cell's edge that a vertex keeps away from its walls, so that neighbours never coincide.
const INSET: f64 = 0.02;

/// How far a vertex on a rim may leave its cell, cells: rims pass beside the cells that their corners pick out.
const RIM_SLACK: f64 = 0.25;

/// Point of the surface on a crossed edge of a cell.
#[derive(Clone, Copy, Debug)]
pub struct Crossing {
    /// Position, m.
    pub point: DVec3,
    /// Unit normal up to sign, or zero if unknown.
    pub normal: DVec3,
    /// Whether the edge passes through the skin.
    pub skin: bool,
}

/// A cell and the owners of its corners.
#[derive(Debug)]
pub struct Cell<'a> {
    /// Grid and skin.
    pub solid: &'a Solid,
    /// Fields at the nodes.
    pub field: &'a Field,
    /// Node at corner 0.
    pub node: usize,
    /// Owner of each corner.
    pub owners: [u32; 8],
}

impl<'a> Cell<'a> {
    /// The cell whose corner 0 is `node`.
    pub fn at(solid: &'a Solid, field: &'a Field, node: usize) -> Self {
        let mut cell = Cell {
            solid,
            field,
            node,
            owners: [OUTSIDE; 8],
        };
        cell.owners = std::array::from_fn(|corner| field.owner[cell.corner_node(corner)]);
        cell
    }

    fn corner_node(&self, corner: usize) -> usize {
        let [sx, sy, sz] = self.solid.grid.strides();
        self.node + sx * (corner & 1) + sy * (corner >> 1 & 1) + sz * (corner >> 2)
    }

    /// Set of the corners that `piece` owns.
    pub fn inside(&self, piece: u32) -> u8 {
        (0..8).fold(0, |set, corner| {
            set | u8::from(self.owners[corner] == piece) << corner
        })
    }

    /// The point on every edge whose ends have different owners.
    pub fn crossings(&self) -> [Option<Crossing>; 12] {
        // Normals of the cracks that pass through this cell, by pair of owners.
        let mut cracks: Vec<(u32, u32, DVec3)> = Vec::new();
        std::array::from_fn(|edge| {
            let axis = edge / 4;
            let [start, end] = edge_corners(edge);
            let (a, b) = (self.owners[start], self.owners[end]);
            if a == b {
                return None;
            }
            let node = self.corner_node(start);
            if a == OUTSIDE || b == OUTSIDE {
                let known = self.solid.crossing_on(node, axis);
                let middle = || self.on_edge(node, axis, 0.5);
                return Some(Crossing {
                    point: known.map_or_else(middle, |c| c.point),
                    normal: known.map_or(DVec3::ZERO, |c| c.normal),
                    skin: true,
                });
            }
            let along = node + self.solid.grid.strides()[axis];
            // Negative at the start, which a owns, and positive at the end.
            let t = match (self.difference(node, a, b), self.difference(along, a, b)) {
                (Some(g0), Some(g1)) if g0 < g1 => (g0 / (g0 - g1)).clamp(INSET, 1.0 - INSET),
                _ => 0.5,
            };
            let pair = (a.min(b), a.max(b));
            let known = cracks.iter().find(|c| (c.0, c.1) == pair).map(|c| c.2);
            let normal = known.unwrap_or_else(|| {
                let gradient = self.gradient(pair.0, pair.1);
                let normal = gradient.map_or(DVec3::ZERO, |(_, g)| g.normalize_or_zero());
                cracks.push((pair.0, pair.1, normal));
                normal
            });
            Some(Crossing {
                point: self.on_edge(node, axis, t),
                normal,
                skin: false,
            })
        })
    }

    fn on_edge(&self, node: usize, axis: usize, t: f64) -> DVec3 {
        let grid = &self.solid.grid;
        grid.position(grid.coords(node)) + DVec3::AXES[axis] * (t * grid.spacing)
    }

    fn difference(&self, node: usize, a: u32, b: u32) -> Option<f64> {
        Some(self.field.value(node, a)? - self.field.value(node, b)?)
    }

    /// Mean (m) and gradient of F_a − F_b over the cell, if enough corners know both.
    fn gradient(&self, a: u32, b: u32) -> Option<(f64, DVec3)> {
        let g: [Option<f64>; 8] =
            std::array::from_fn(|corner| self.difference(self.corner_node(corner), a, b));
        let mut slopes = [0.0; 3];
        for (axis, slope) in slopes.iter_mut().enumerate() {
            let (mut sum, mut count) = (0.0, 0.0);
            for edge in 4 * axis..4 * axis + 4 {
                let [start, end] = edge_corners(edge);
                if let (Some(g0), Some(g1)) = (g[start], g[end]) {
                    sum += g1 - g0;
                    count += 1.0;
                }
            }
            if count == 0.0 {
                return None;
            }
            *slope = sum / (count * self.solid.grid.spacing);
        }
        let known = g.iter().flatten();
        let mean = known.clone().sum::<f64>() / known.count() as f64;
        Some((mean, DVec3::from(slopes)))
    }

    /// Where two fragments meet the skin, the plane of the crack between them: the corners of the cell may all lie
    /// beside the crack or outside, so that no crossing tells where it passes.
    pub fn rim(&self) -> Option<Crossing> {
        let mut pieces = self.owners.iter().copied().filter(|&o| o != OUTSIDE);
        let a = pieces.next()?;
        let b = pieces.clone().find(|&o| o != a)?;
        let two = pieces.all(|o| o == a || o == b);
        if !two || !self.owners.contains(&OUTSIDE) {
            return None;
        }
        let (mean, gradient) = self.gradient(a.min(b), a.max(b))?;
        let grid = &self.solid.grid;
        let centre = grid.position(grid.coords(self.node)) + DVec3::splat(0.5 * grid.spacing);
        let step = gradient * (mean / gradient.length_squared());
        (step.length() < grid.spacing).then(|| Crossing {
            point: centre - step,
            normal: gradient.normalize_or_zero(),
            skin: false,
        })
    }

    /// The vertex of a polygon with these corners, and with the plane of [`Cell::rim`]. Also whether the skin has an
    /// edge there.
    pub fn vertex<'b>(
        &self,
        corners: impl Iterator<Item = &'b Crossing> + Clone,
        rim: Option<&'b Crossing>,
    ) -> (DVec3, bool) {
        let count = corners.clone().count() as f64;
        let mean = corners.clone().map(|c| c.point).sum::<DVec3>() / count;
        let (mut a, mut b) = (DMat3::ZERO, DVec3::ZERO);
        for c in corners.clone().chain(rim) {
            let n = c.normal;
            a += DMat3::from_cols(n * n.x, n * n.y, n * n.z);
            b += n * n.dot(c.point - mean);
        }
        let (values, axes) = eigen(a);
        let largest = values.max_element();
        let mut x = mean;
        for m in 0..3 {
            if values[m] > SHARP * largest {
                x += axes.col(m) * (axes.col(m).dot(b) / values[m]);
            }
        }
        let grid = &self.solid.grid;
        let lo = grid.position(grid.coords(self.node)) + DVec3::splat(INSET * grid.spacing);
        let hi = lo + DVec3::splat((1.0 - 2.0 * INSET) * grid.spacing);
        let slack = DVec3::splat(if rim.is_some() {
            RIM_SLACK * grid.spacing
        } else {
            0.0
        });
        let x = x.clamp(lo - slack, hi + slack);
        if !corners.clone().any(|c| c.skin) {
            return (x, false);
        }
        let mut skin = DMat3::ZERO;
        for n in corners.filter(|c| c.skin).map(|c| c.normal) {
            skin += DMat3::from_cols(n * n.x, n * n.y, n * n.z);
        }
        let mut values = eigen(skin).0.to_array();
        values.sort_unstable_by(f64::total_cmp);
        let sharp = values[1] > SHARP * values[2];
        // Half a cell at most: farther away the nearest point may be on the other side of a thin part.
        let reach = 0.5 * grid.spacing;
        let nearest = self.solid.triangles.nearest(&self.solid.skin, x, reach);
        (nearest.map_or(x, |(point, _)| point), sharp)
    }
}

/// Eigenvalues and eigenvectors (columns) of a symmetric matrix.
fn eigen(a: DMat3) -> (DVec3, DMat3) {
    let (values, vectors) = math::eigen(a.to_cols_array_2d());
    (values.into(), DMat3::from_cols_array_2d(&vectors))
}
