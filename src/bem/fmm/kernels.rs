//! What sources do at points.

use glam::DVec3;

use super::pairs::Kernel;
use super::uniform::Uniform;
use crate::laws::papkovich;
use crate::math::Vec3;

/// A kernel of what targets feel.
pub trait Field<const C: usize>: Kernel<C> {
    /// What uniform potentials do in a box whose half side is given in m.
    fn uniform(self, potentials: &Uniform, half: f64) -> [f64; C];
}

/// The harmonic potentials P (three) and Q.
#[derive(Clone, Copy, Debug)]
pub struct Potentials;

impl Kernel<4> for Potentials {
    #[inline(always)]
    fn at(self, _: Vec3<f64>, inverse: f64, force: Vec3<f64>, scalar: f64) -> [f64; 4] {
        let p = force * inverse;
        [p.x, p.y, p.z, scalar * inverse]
    }
}

/// Displacement but for its factor, with Poisson's ratio.
#[derive(Clone, Copy, Debug)]
pub struct Displacement(pub f64);

impl Kernel<3> for Displacement {
    #[inline(always)]
    fn at(self, n: Vec3<f64>, inverse: f64, force: Vec3<f64>, scalar: f64) -> [f64; 3] {
        let u = papkovich::displacement(n, inverse, force, scalar, self.0);
        [u.x, u.y, u.z]
    }
}

/// Stress but for its factor, with Poisson's ratio.
#[derive(Clone, Copy, Debug)]
pub struct Stress(pub f64);

impl Kernel<6> for Stress {
    #[inline(always)]
    fn at(self, n: Vec3<f64>, inverse: f64, force: Vec3<f64>, scalar: f64) -> [f64; 6] {
        papkovich::stress(n, inverse, force, scalar, self.0)
    }
}

impl Field<3> for Displacement {
    fn uniform(self, potentials: &Uniform, half: f64) -> [f64; 3] {
        let u: DVec3 = (3.0 - 4.0 * self.0) * potentials.p + potentials.slope;
        (u / half).to_array()
    }
}

impl Field<6> for Stress {
    fn uniform(self, _: &Uniform, _: f64) -> [f64; 6] {
        [0.0; 6]
    }
}
