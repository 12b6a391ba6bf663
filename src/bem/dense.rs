//! The double layer as a stored matrix: exact panel integrals, a block for every pair of vertices; the reference, for up to some ten thousand triangles.

use glam::DVec3;

use super::elastic::Elastic;
use super::layers::{Layers, add_times};
use super::panel::{double_layer, single_layer};
use super::surface::Surface;
use crate::math::{Mat3, Vec3};
use crate::parallel::prelude::*;
use crate::solve::Operator;

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
            row.into_iter().map(|block| block.rows.map(Vec3::to_f64))
        };
        Dense {
            surface,
            elastic,
            blocks: (0..vertices).into_par_iter().flat_map_iter(row).collect(),
        }
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
    fn single(&self, tractions: &[DVec3]) -> Vec<[f64; 3]> {
        let at = |vertex: usize| {
            let of = |(t, traction): (usize, &DVec3)| {
                single_layer(self.surface, self.elastic, vertex, t, *traction)
            };
            let shares = tractions.iter().enumerate().map(of);
            shares.fold(Vec3::zero(), |sum, u| sum + u).to_f64()
        };
        let vertices = 0..self.surface.mesh.positions.len();
        vertices.into_par_iter().map(at).collect()
    }

    fn diagonal(&self) -> Vec<[[f64; 3]; 3]> {
        let vertices = self.surface.mesh.positions.len();
        self.blocks.iter().step_by(vertices + 1).copied().collect()
    }
}
