//! The layers as sums over point forces, which a fast multipole method takes, and a sparse correction near each vertex.
//!
//! ```text
//! A u ≈ Σ_q 2G U(x, y_q) m_q A_q  −  Σ_q m_q A_q/(4π|x − y_q|)  +  Σ_q u_q A_q ∂(1/4πr)/∂n  +  (exact − points) of near panels
//! ```
//!
//! y_q: three points a panel, which integrate second degree exactly; A_q, u_q: a third of its area, displacement there; m_q: m of the panel. Point forces at
//! Poisson's ratio → −∞ have the displacement f/(4πGr): the second and the third sum are one of these, over two sources a little before and behind each point,
//! which carry ±u A/2h as a dipole, h being their distance from it, and −m A/2 each. What the row of a rigid shift leaves goes on the diagonal, so that shifts
//! are taken to nothing exactly.

use std::f64::consts::PI;
use std::ops::{Add, Mul};

use glam::DVec3;

use super::elastic::Elastic;
use super::layers::{Layers, add_times};
use super::panel::{double_layer, single_layer, swept_rows};
use super::points::{PointForces, Summation};
use super::surface::{Surface, plain};
use crate::geometry::hash_grid::HashGrid;
use crate::laws::kelvin;
use crate::math::{Mat3, Vec3};
use crate::parallel::prelude::*;
use crate::solve::Operator;

/// Distance of a vertex from a panel's centroid over the panel's longest edge, below which the panel is near: stress then errs by
/// a few parts in ten thousand, and by ten times that at 3.
const NEAR: f64 = 4.0;
/// Part of the way from the centroid to a corner at which each of a panel's three points stands.
const CORNER: f64 = 0.5;
/// Half the distance of a dipole's ends over the panel's longest edge.
const ARM: f64 = 0.1;
/// Poisson's ratio at which a point force's displacement is f/(4πGr) to rounding.
const HARMONIC: f64 = -1e15;

/// Near blocks, and the sums of the rest.
pub struct Split<'a> {
    surface: &'a Surface,
    elastic: Elastic,
    /// Near panels of each vertex.
    panels: Vec<Vec<u32>>,
    /// Column and block of each vertex's near correction, the diagonal first.
    near: Vec<Vec<(u32, [[f64; 3]; 3])>>,
    kelvin: Box<dyn PointForces>,
    harmonic: Box<dyn PointForces>,
}

impl<'a> Split<'a> {
    /// Integrates near panels, and prepares the sums.
    pub fn new(surface: &'a Surface, elastic: Elastic, sums: &dyn Summation) -> Self {
        let targets = surface.mesh.positions.clone();
        let panels = 0..surface.len();
        let nodes = panels.clone().flat_map(|t| points(surface, t)).collect();
        let kelvin = sums.between(nodes, targets.clone(), elastic.poisson);
        let ends = panels.flat_map(|t| ends(surface, t)).flatten().collect();
        let harmonic = sums.between(ends, targets, HARMONIC);
        let panels = near_panels(surface);
        let row = |(vertex, panels): (usize, &Vec<u32>)| {
            near_row(surface, elastic.poisson, vertex, panels)
        };
        let near = panels.par_iter().enumerate().map(row).collect();
        let mut split = Split {
            surface,
            elastic,
            panels,
            near,
            kelvin,
            harmonic,
        };
        let mut left = vec![[0.0; 3]; surface.mesh.positions.len()];
        // A shift in x leaves the same there as any other in its direction.
        split.times(&vec![[1.0, 0.0, 0.0]; left.len()], &mut left);
        for (row, left) in split.near.iter_mut().zip(left) {
            for k in 0..3 {
                row[0].1[k][k] -= left[0];
            }
        }
        split
    }
}

/// Points of a panel: nearer to one corner each, at these barycentric coordinates.
fn points(surface: &Surface, t: usize) -> [DVec3; 3] {
    let corners = surface.mesh.corners(t);
    let middle = surface.centroids[t] * (1.0 - CORNER);
    corners.map(|corner| middle + corner * CORNER)
}

/// Value at each point of what is linear on the panel.
fn at_points<T: Copy + Add<Output = T> + Mul<f64, Output = T>>(corners: [T; 3]) -> [T; 3] {
    let [a, b, c] = corners;
    let middle = (a + b + c) * ((1.0 - CORNER) / 3.0);
    corners.map(|corner| middle + corner * CORNER)
}

/// Places of the two ends of the dipole of each point of a panel, before and behind.
fn ends(surface: &Surface, t: usize) -> [[DVec3; 2]; 3] {
    let arm = surface.normals[t] * (ARM * surface.sizes[t]);
    points(surface, t).map(|point| [point + arm, point - arm])
}

/// Panels near each vertex, in their order: one grid for each size, doubling.
fn near_panels(surface: &Surface) -> Vec<Vec<u32>> {
    let smallest = surface.sizes.iter().copied().fold(f64::INFINITY, f64::min);
    let class = |t: usize| (surface.sizes[t] / smallest).log2().floor() as usize;
    let mut classes: Vec<Vec<u32>> = Vec::new();
    for t in 0..surface.len() {
        let class = class(t);
        classes.resize(classes.len().max(class + 1), Vec::new());
        classes[class].push(t as u32);
    }
    let grids: Vec<(HashGrid, Vec<u32>)> = classes
        .into_iter()
        .enumerate()
        .filter(|(_, members)| !members.is_empty())
        .map(|(class, members)| {
            let cell = NEAR * smallest * 2.0f64.powi(class as i32 + 1);
            let place = |k: usize| surface.centroids[members[k] as usize];
            (HashGrid::new(members.len(), cell, place), members)
        })
        .collect();
    let near = |x: &DVec3| {
        let mut found = Vec::new();
        for (grid, members) in &grids {
            grid.around(*x, |k| {
                let t = members[k as usize] as usize;
                if x.distance(surface.centroids[t]) < NEAR * surface.sizes[t] {
                    found.push(t as u32);
                }
            });
        }
        found.sort_unstable();
        found
    };
    surface.mesh.positions.par_iter().map(near).collect()
}

/// Exact less point sums of near panels: what each corner adds at a vertex.
fn near_row(
    surface: &Surface,
    poisson: f64,
    vertex: usize,
    panels: &[u32],
) -> Vec<(u32, [[f64; 3]; 3])> {
    let mut blocks = vec![(vertex as u32, Mat3::diagonal(0.0))];
    for t in panels.iter().map(|t| *t as usize) {
        let exact = double_layer(surface, poisson, vertex, t);
        let points = point_double(surface, poisson, vertex, t);
        for (c, corner) in surface.mesh.triangles[t].into_iter().enumerate() {
            blocks.push((corner, exact.corners[c] - points[c]));
        }
    }
    // The diagonal stays first, others by column.
    blocks[1..].sort_by_key(|(column, _)| *column);
    let mut row: Vec<(u32, [[f64; 3]; 3])> = Vec::new();
    for group in blocks.chunk_by(|a, b| a.0 == b.0) {
        let sum = group
            .iter()
            .fold(Mat3::diagonal(0.0), |sum, (_, b)| sum + *b);
        row.push((group[0].0, sum.rows.map(Vec3::to_f64)));
    }
    row
}

/// Blocks of a panel's corners as the point sums have them.
fn point_double(surface: &Surface, poisson: f64, vertex: usize, t: usize) -> [Mat3<f64>; 3] {
    let x = surface.mesh.positions[vertex];
    let third = surface.areas[t] / 3.0;
    let (mut swept, mut dipoles) = (Mat3::diagonal(0.0), [0.0; 3]);
    for (k, (point, ends)) in points(surface, t).iter().zip(ends(surface, t)).enumerate() {
        let [before, behind] = ends.map(|end| 1.0 / (4.0 * PI * x.distance(end)));
        swept = swept + double_kelvin(x - *point, poisson);
        swept = swept - Mat3::diagonal((before + behind) / 2.0);
        dipoles[k] = (before - behind) / (2.0 * ARM * surface.sizes[t]);
    }
    // Shape functions at the points are as the points' at the corners.
    let shares = at_points(dipoles);
    let rows = swept_rows(surface, t);
    [0, 1, 2].map(|c| (swept.product(rows[c]) + Mat3::diagonal(shares[c])) * third)
}

/// 2G U, which is symmetric.
fn double_kelvin(r: DVec3, poisson: f64) -> Mat3<f64> {
    let [a, b, c] =
        DVec3::AXES.map(|axis| kelvin::displacement(plain(r), plain(axis), 0.5, poisson));
    Mat3::new(a, b, c)
}

impl Operator<3> for Split<'_> {
    fn times(&self, x: &[[f64; 3]], y: &mut [[f64; 3]]) {
        let surface = self.surface;
        let densities = |t: usize| {
            let corners = surface.mesh.triangles[t].map(|v| Vec3::from_f64(x[v as usize]));
            let pairs = swept_rows(surface, t).into_iter().zip(corners);
            let swept = pairs.fold(Vec3::zero(), |sum, (rows, u)| sum + rows.times(u));
            let third = surface.areas[t] / 3.0;
            let force = DVec3::from(swept.to_f64()) * third;
            let strength = third / (2.0 * ARM * surface.sizes[t]);
            at_points(corners).map(|u| {
                let dipole = DVec3::from(u.to_f64()) * strength;
                [force, dipole - force / 2.0, -dipole - force / 2.0]
            })
        };
        let panels = 0..surface.len();
        let densities: Vec<[DVec3; 3]> = panels.into_par_iter().flat_map_iter(densities).collect();
        let forces: Vec<DVec3> = densities.iter().map(|d| d[0]).collect();
        let ends: Vec<DVec3> = densities.iter().flat_map(|d| [d[1], d[2]]).collect();
        let far = self.kelvin.displacement(&forces, 0.5);
        let harmonic = self.harmonic.displacement(&ends, 1.0);
        let rows = self.near.par_iter().zip(&far).zip(&harmonic);
        y.par_iter_mut()
            .zip(rows)
            .for_each(|(y, ((near, far), harmonic))| {
                *y = (*far + *harmonic).to_array();
                for (column, block) in near {
                    add_times(block, &x[*column as usize], y);
                }
            });
    }
}

impl Layers for Split<'_> {
    fn single(&self, tractions: &[DVec3]) -> Vec<[f64; 3]> {
        let (surface, elastic) = (self.surface, self.elastic);
        let pairs = tractions.iter().zip(&surface.areas);
        let forces: Vec<DVec3> = pairs
            .flat_map(|(t, area)| [*t * (*area / 3.0); 3])
            .collect();
        let far = self.kelvin.displacement(&forces, elastic.shear);
        let row = |((vertex, panels), far): ((usize, &Vec<u32>), DVec3)| {
            let x = surface.mesh.positions[vertex];
            let of = |t: &u32| {
                let t = *t as usize;
                let force = plain(forces[3 * t]);
                let at = points(surface, t).map(|point| {
                    kelvin::displacement(plain(x - point), force, elastic.shear, elastic.poisson)
                });
                let point = at[0] + at[1] + at[2];
                single_layer(surface, elastic, vertex, t, tractions[t]) - point
            };
            let near = panels.iter().map(of).fold(Vec3::zero(), |sum, u| sum + u);
            (far + DVec3::from(near.to_f64())).to_array()
        };
        let vertices = self.panels.par_iter().enumerate().zip(far);
        vertices.map(row).collect()
    }

    fn diagonal(&self) -> Vec<[[f64; 3]; 3]> {
        let own = |row: &Vec<(u32, [[f64; 3]; 3])>, vertex: u32| {
            let mut sum = [[0.0; 3]; 3];
            for (column, block) in row {
                if *column == vertex {
                    let pairs = sum.as_flattened_mut().iter_mut().zip(block.as_flattened());
                    pairs.for_each(|(sum, b)| *sum += b);
                }
            }
            sum
        };
        (0..).zip(&self.near).map(|(v, row)| own(row, v)).collect()
    }
}
