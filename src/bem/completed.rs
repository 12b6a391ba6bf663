//! The equations of a free body, made well conditioned.

use glam::DMat3;

use super::cavity::Cavity;
use super::layers::Layers;
use super::rigid::RigidMotions;
use crate::parallel::prelude::*;
use crate::solve::Operator;

/// B⁻¹ (A + P + cavities): A is the double layer of a free body, which takes rigid motions to nothing, P the
/// projection on them, B the blocks of A that take each node to itself. These are about ½ where the surface
/// is smooth and as small as the solid angle of the solid at a tip.
///
/// With loads in balance, P changes no more of the solution than to choose the one whose rigid part is zero
/// in the mean over the surface.
pub struct Completed<'a> {
    layer: &'a dyn Layers,
    motions: &'a RigidMotions,
    cavities: &'a [Cavity],
    inverse: Vec<DMat3>,
}

impl<'a> Completed<'a> {
    /// Of a free body's layers.
    pub fn new(layer: &'a dyn Layers, motions: &'a RigidMotions, cavities: &'a [Cavity]) -> Self {
        let invert = |block: &[[f64; 3]; 3]| {
            let columns = DMat3::from_cols_array_2d(block);
            // A block that is singular to rounding would take the others with it.
            match columns.inverse() {
                inverse if inverse.is_finite() => inverse.transpose(),
                _ => DMat3::IDENTITY,
            }
        };
        Completed {
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

impl Operator<3> for Completed<'_> {
    fn times(&self, x: &[[f64; 3]], y: &mut [[f64; 3]]) {
        self.layer.times(x, y);
        self.motions.add_projection(x, y);
        for cavity in self.cavities {
            cavity.add_left(x, y);
        }
        self.precondition(y);
    }
}
