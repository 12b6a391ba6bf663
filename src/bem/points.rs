//! Sums over point forces: the far field, and where a fast multipole method goes in.

use glam::DVec3;

use super::surface::plain;
use crate::laws::kelvin;
use crate::math::Vec3;
use crate::parallel::prelude::*;

/// Displacement of many places by point forces at many others, both fixed.
pub trait PointForces: Send + Sync {
    /// Displacement of each place, m, by forces, N, one for each source, in a solid of this shear modulus, Pa.
    fn displacement(&self, forces: &[DVec3], shear: f64) -> Vec<DVec3>;
}

/// Makes the sums of sources and targets, m, at a Poisson's ratio.
pub trait Summation {
    /// The sums.
    fn between(
        &self,
        sources: Vec<DVec3>,
        targets: Vec<DVec3>,
        poisson: f64,
    ) -> Box<dyn PointForces>;
}

/// Every pair for itself.
pub struct Direct;

struct Pairs {
    sources: Vec<DVec3>,
    targets: Vec<DVec3>,
    poisson: f64,
}

impl Summation for Direct {
    fn between(
        &self,
        sources: Vec<DVec3>,
        targets: Vec<DVec3>,
        poisson: f64,
    ) -> Box<dyn PointForces> {
        Box::new(Pairs {
            sources,
            targets,
            poisson,
        })
    }
}

impl PointForces for Pairs {
    fn displacement(&self, forces: &[DVec3], shear: f64) -> Vec<DVec3> {
        let at = |x: &DVec3| {
            let pairs = self.sources.iter().zip(forces);
            let sum = pairs.fold(Vec3::zero(), |sum, (y, force)| {
                sum + kelvin::displacement(plain(*x - *y), plain(*force), shear, self.poisson)
            });
            DVec3::from(sum.to_f64())
        };
        self.targets.par_iter().map(at).collect()
    }
}
