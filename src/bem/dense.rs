//! The double layer as a stored matrix: exact panel integrals, a block for every pair of vertices; the reference, for up to some ten thousand triangles.

use super::panel::{Elastic, double_layer, single_layer};
use super::surface::Surface;
use super::triangle::M;
use crate::math::{Mat3, Vec3};
use crate::parallel::prelude::*;
use crate::solve::Operator;

/// The layers of a surface as [`solve`](crate::solve) takes them.
pub trait Layers: Operator<3> {
    /// Displacement of the vertices, m, by tractions on the panels, Pa.
    fn single(&self, tractions: &[glam::DVec3]) -> Vec<[f64; 3]>;
}

/// The matrix, 72 n² bytes for n vertices.
pub struct Dense<'a> {
    surface: &'a Surface,
    elastic: Elastic,
    blocks: Vec<[[f64; 3]; 3]>,
}

impl<'a> Dense<'a> {
    /// Integrates every panel at every vertex.
    pub fn new(surface: &'a Surface, elastic: Elastic) -> Self {
        let vertices = surface.mesh.positions.len();
        let row = |vertex: usize| {
            let mut row = vec![Mat3::diagonal(0.0); vertices];
            for t in 0..surface.len() {
                let double = double_layer(surface, elastic.poisson, vertex, t);
                for (corner, block) in surface.mesh.triangles[t].iter().zip(double.corners) {
                    row[*corner as usize] = row[*corner as usize] + block;
                }
                row[vertex] = row[vertex] - Mat3::diagonal(double.harmonic);
            }
            row.into_iter().map(rows)
        };
        Dense {
            surface,
            elastic,
            blocks: (0..vertices).into_par_iter().flat_map_iter(row).collect(),
        }
    }
}

/// A matrix as plain numbers.
pub fn rows(block: M) -> [[f64; 3]; 3] {
    block.rows.map(Vec3::to_f64)
}

/// Adds a block times a vector.
pub fn add_times(block: &[[f64; 3]; 3], x: &[f64; 3], sum: &mut [f64; 3]) {
    for (sum, row) in sum.iter_mut().zip(block) {
        *sum += row[0] * x[0] + row[1] * x[1] + row[2] * x[2];
    }
}

impl Operator<3> for Dense<'_> {
    fn times(&self, x: &[[f64; 3]], y: &mut [[f64; 3]]) {
        y.par_iter_mut()
            .zip(self.blocks.par_chunks(x.len()))
            .for_each(|(y, row)| {
                *y = [0.0; 3];
                for (block, x) in row.iter().zip(x) {
                    add_times(block, x, y);
                }
            });
    }
}

impl Layers for Dense<'_> {
    fn single(&self, tractions: &[glam::DVec3]) -> Vec<[f64; 3]> {
        let at = |vertex: usize| {
            let of = |(t, traction): (usize, &glam::DVec3)| {
                single_layer(self.surface, self.elastic, vertex, t, *traction)
            };
            let shares = tractions.iter().enumerate().map(of);
            shares.fold(Vec3::zero(), |sum, u| sum + u).to_f64()
        };
        let vertices = 0..self.surface.mesh.positions.len();
        vertices.into_par_iter().map(at).collect()
    }
}
