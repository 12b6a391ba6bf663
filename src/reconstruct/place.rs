//! Where the vertex of a loop lies inside its cell.
//!
//! The loop's corners are points on crossed grid edges, each with the normal of the surface there: that of the skin's
//! triangle, or of the crack between two sides. The vertex minimises the squared distances to their tangent planes, as in dual
//! contouring (Ju et al. 2002), starting from the mean; directions in which the planes say little are left at the mean.
//! That keeps the edges of a box and the rims of a crack sharp, and a smooth surface smooth.

use glam::{DMat3, DVec3};

use super::cell::{Crossed, edge_corners};
use super::cells::CrackCells;
use super::cracks::Cracks;
use super::owners::{FAR, Owners};
use super::solid::Solid;
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
    /// Position on the edge, m.
    pub point: DVec3,
    /// A point of the surface's tangent plane, m.
    pub plane: DVec3,
    /// Unit normal up to sign, or zero if unknown.
    pub normal: DVec3,
    /// Whether the edge passes through the skin.
    pub skin: bool,
}

/// A cell that surfaces pass through.
#[derive(Clone, Copy, Debug)]
pub struct Cell<'a> {
    /// Grid and skin.
    pub solid: &'a Solid,
    /// Owners of the nodes.
    pub owners: &'a Owners,
    /// Node at corner 0.
    pub node: usize,
    /// What passes through.
    pub crossed: Crossed,
}

impl Cell<'_> {
    /// Owner of a corner.
    pub fn owner(&self, corner: usize) -> u32 {
        self.owners.owner[self.corner_node(corner)]
    }

    fn corner_node(&self, corner: usize) -> usize {
        let [sx, sy, sz] = self.solid.grid.strides();
        self.node + sx * (corner & 1) + sy * (corner >> 1 & 1) + sz * (corner >> 2)
    }

    /// The point on every crossed edge.
    pub fn crossings(&self, cells: &CrackCells) -> [Option<Crossing>; 12] {
        let mut crossings = [None; 12];
        for &(edge, number) in cells.edges(self.node) {
            let cut = &self.owners.cut[number as usize];
            let (start, axis) = (edge_corners(edge as usize)[0], edge as usize / 4);
            let grid = &self.solid.grid;
            let from = grid.position(grid.coords(self.corner_node(start)));
            crossings[edge as usize] = Some(Crossing {
                point: from + DVec3::AXES[axis] * (cut.along * grid.spacing),
                plane: cut.point,
                normal: cut.normal,
                skin: false,
            });
        }
        for (edge, crossing) in crossings.iter_mut().enumerate() {
            let [start, end] = edge_corners(edge);
            if self.crossed.is_outside(start) != self.crossed.is_outside(end) {
                let known = self.solid.crossing_on(self.corner_node(start), edge / 4);
                *crossing = Some(Crossing {
                    point: known.point,
                    plane: known.point,
                    normal: known.normal,
                    skin: true,
                });
            }
        }
        crossings
    }

    /// Where two sides meet the skin, the plane of the crack between them: the corners of the cell may all lie
    /// beside the crack or outside, so that no crossing tells where it passes.
    pub fn rim(&self, cracks: &Cracks) -> Option<Crossing> {
        if self.crossed.outside == 0 {
            return None;
        }
        let owners = (0..8).map(|corner| self.owner(corner));
        let mut owners = owners.filter(|&owner| owner < FAR);
        let a = owners.next()?;
        let b = owners.clone().find(|&owner| cracks.parts(a, owner))?;
        let two = owners.all(|owner| !cracks.parts(a, owner) || !cracks.parts(b, owner));
        if !two {
            return None;
        }
        let grid = &self.solid.grid;
        let centre = grid.position(grid.coords(self.node)) + DVec3::splat(0.5 * grid.spacing);
        let (point, normal) = cracks.between(centre, [a, b]);
        (normal != DVec3::ZERO && point.distance(centre) < grid.spacing).then_some(Crossing {
            point,
            plane: point,
            normal,
            skin: false,
        })
    }

    /// The vertex of a loop with these corners, and with the plane of [`Cell::rim`]. Also whether the skin has an
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
            b += n * n.dot(c.plane - mean);
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
        (self.solid.on_skin(x), sharp)
    }
}

/// Eigenvalues and eigenvectors (columns) of a symmetric matrix.
fn eigen(a: DMat3) -> (DVec3, DMat3) {
    let (values, vectors) = math::eigen(a.to_cols_array_2d());
    (values.into(), DMat3::from_cols_array_2d(&vectors))
}
