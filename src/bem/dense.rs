//! The double layer as a stored matrix: exact panel integrals, one block for each pair of nodes. It is the
//! reference, for up to about ten thousand nodes.

use std::sync::Arc;

use super::basis::Basis;
use super::elastic::Elastic;
use super::layers::{Layers, add_times};
use super::panel::{double_layer, single_layer};
use super::traction::Traction;
use crate::math::{Mat3, Vec3};
use crate::parallel::prelude::*;
use crate::solve::Operator;

/// The layers, with the double layer stored as a matrix of 72 n² bytes for n nodes.
pub struct DenseLayers<'a> {
    basis: Arc<Basis<'a>>,
    elastic: Elastic,
    blocks: Vec<[[f64; 3]; 3]>,
}

impl<'a> DenseLayers<'a> {
    /// Integrates every panel at every node.
    pub fn new(basis: &Arc<Basis<'a>>, elastic: Elastic) -> Self {
        let count = basis.len();
        let row = |node: usize| {
            let mut row = vec![Mat3::diagonal(0.0); count];
            for t in 0..basis.surface.len() {
                let double = double_layer(basis, elastic.poisson, node, t);
                for (other, block) in basis.of_panel(t).iter().zip(double.nodes) {
                    row[*other as usize] = row[*other as usize] + block;
                }
                row[node] = row[node] - Mat3::diagonal(double.harmonic);
            }
            row.into_iter().map(|block| block.rows.map(Vec3::to_f64))
        };
        DenseLayers {
            basis: basis.clone(),
            elastic,
            blocks: (0..count).into_par_iter().flat_map_iter(row).collect(),
        }
    }
}

impl Operator<3> for DenseLayers<'_> {
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

impl Layers for DenseLayers<'_> {
    fn single(&self, tractions: &[Traction]) -> Vec<[f64; 3]> {
        let at = |node: usize| {
            let of = |(t, traction): (usize, &Traction)| {
                single_layer(&self.basis, self.elastic, node, t, traction)
            };
            let shares = tractions.iter().enumerate().map(of);
            shares.fold(Vec3::zero(), |sum, u| sum + u).to_f64()
        };
        (0..self.basis.len()).into_par_iter().map(at).collect()
    }

    fn diagonal(&self) -> Vec<[[f64; 3]; 3]> {
        let own = self.blocks.iter().step_by(self.basis.len() + 1);
        own.copied().collect()
    }
}
