//! The six rigid motions of a body, up to which the displacement of a free body is determined.

use glam::DVec3;

use super::basis::Basis;
use crate::solve::vector::{add_scaled, dot};

/// Displacements of the nodes in rigid motions, orthonormal with respect to the mean over the surface.
#[derive(Clone, Debug)]
pub struct RigidMotions {
    motions: Vec<Vec<[f64; 3]>>,
    /// The motions weighted with each node's share of the area: their scalar products with displacements are
    /// means over the surface.
    weighted: Vec<Vec<[f64; 3]>>,
}

impl RigidMotions {
    /// Three translations and three rotations, orthonormalized one after the other.
    pub fn new(basis: &Basis) -> Self {
        let surface = basis.surface;
        let shares: Vec<f64> = basis.areas.iter().map(|a| a / surface.area).collect();
        let mut all = RigidMotions {
            motions: Vec::new(),
            weighted: Vec::new(),
        };
        let axes = [DVec3::X, DVec3::Y, DVec3::Z];
        for k in 0..6 {
            let at = |x: &DVec3| match k {
                0..3 => axes[k],
                _ => axes[k - 3].cross(*x - surface.mass.centre),
            };
            let mut motion: Vec<_> = basis.places.iter().map(|x| at(x).to_array()).collect();
            all.remove(&mut motion);
            let weigh = |motion: &[[f64; 3]]| -> Vec<[f64; 3]> {
                let pairs = motion.iter().zip(&shares);
                pairs.map(|(m, share)| m.map(|m| m * share)).collect()
            };
            let length = dot(&motion, &weigh(&motion)).sqrt();
            motion
                .as_flattened_mut()
                .iter_mut()
                .for_each(|m| *m /= length);
            all.weighted.push(weigh(&motion));
            all.motions.push(motion);
        }
        all
    }

    /// Removes the rigid part from displacements of the nodes.
    pub fn remove(&self, field: &mut [[f64; 3]]) {
        for (motion, weighted) in self.motions.iter().zip(&self.weighted) {
            let part = dot(weighted, field);
            add_scaled(field, -part, motion);
        }
    }

    /// `y += P x`, P the projection on rigid motions.
    pub fn add_projection(&self, x: &[[f64; 3]], y: &mut [[f64; 3]]) {
        for (motion, weighted) in self.motions.iter().zip(&self.weighted) {
            add_scaled(y, dot(weighted, x), motion);
        }
    }
}
