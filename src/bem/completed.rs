//! The equations of a free body, completed so that they have a unique solution, and preconditioned.

use glam::DMat3;

use super::cavity::Cavity;
use super::layers::Layers;
use super::rigid::RigidMotions;
use crate::parallel::prelude::*;
use crate::solve::Operator;

/// B⁻¹ (A + P + cavities). A is the double layer of a free body, which maps rigid motions to zero; P is the
/// projection on rigid motions; B are the diagonal 3×3 blocks of A. These blocks are about ½ where the
/// surface is smooth, and as small as the solid's solid angle at a sharp corner.
///
/// If the loads balance, P only selects the solution whose mean rigid motion over the surface is zero.
pub struct CompletedEquations<'a> {
    layer: &'a dyn Layers,
    motions: &'a RigidMotions,
    cavities: &'a [Cavity],
    inverse: Vec<DMat3>,
}

impl<'a> CompletedEquations<'a> {
    /// Completes the layers of a free body.
    pub fn new(layer: &'a dyn Layers, motions: &'a RigidMotions, cavities: &'a [Cavity]) -> Self {
        let invert = |block: &[[f64; 3]; 3]| {
            let columns = DMat3::from_cols_array_2d(block);
            // A nearly singular block would spoil the other equations.
            match columns.inverse() {
                inverse if inverse.is_finite() => inverse.transpose(),
                _ => DMat3::IDENTITY,
            }
        };
        CompletedEquations {
            layer,
            motions,
            cavities,
            inverse: layer.diagonal().iter().map(invert).collect(),
        }
    }

    /// `y = B⁻¹ y`.
    pub fn precondition(&self, y: &mut [[f64; 3]]) {
        y.par_iter_mut()
            .zip(&self.inverse)
            .for_each(|(y, inverse)| *y = (*inverse * glam::DVec3::from(*y)).to_array());
    }
}

impl Operator<3> for CompletedEquations<'_> {
    fn times(&self, x: &[[f64; 3]], y: &mut [[f64; 3]]) {
        self.layer.times(x, y);
        self.motions.add_projection(x, y);
        for cavity in self.cavities {
            cavity.add_left(x, y);
        }
        self.precondition(y);
    }
}
