//! What sources do at points.

use glam::DVec3;

use super::pairs::Kernel;
use super::uniform::Uniform;
use crate::laws::{double_layer, papkovich};
use crate::math::{Mat3, Vec3};

/// What stands at a source.
///
/// The functions give potentials and their fields at the end of the distance that the unit vector `n` and one
/// over its length, 1/m, describe, but for [`papkovich::displacement_factor`]; they must be
/// `#[inline(always)]`.
pub trait Strength: Copy + Send + Sync {
    /// Where lengths are measured in units of 1/`scale` m, and P in its unit over that.
    fn scaled(self, scale: f64) -> Self;
    /// P, and what Q holds beyond y·P, y being the source.
    fn potentials(self, n: Vec3<f64>, inverse: f64, poisson: f64) -> (Vec3<f64>, f64);
    /// Displacement.
    fn displacement(self, n: Vec3<f64>, inverse: f64, poisson: f64) -> Vec3<f64>;
    /// Displacement gradient, row i, column k: ∂u_i/∂x_k.
    fn gradient(self, n: Vec3<f64>, inverse: f64, poisson: f64) -> Mat3<f64>;
}

/// A point force, N, and a centre of dilatation, N·m: what sources and equivalent densities are.
#[derive(Clone, Copy, Debug)]
pub struct Charge {
    /// N.
    pub force: Vec3<f64>,
    /// N·m.
    pub dilatation: f64,
}

/// A small area of a double layer.
#[derive(Clone, Copy, Debug)]
pub struct Jump {
    /// Displacement, m.
    pub jump: Vec3<f64>,
    /// Area along the normal, m².
    pub area: Vec3<f64>,
}

/// A force and a double layer at one place.
#[derive(Clone, Copy, Debug)]
pub struct Both(pub Charge, pub Jump);

impl Charge {
    /// A force alone, N.
    pub fn force(force: DVec3) -> Self {
        Charge {
            force: Vec3::from_f64(force.to_array()),
            dilatation: 0.0,
        }
    }
}

impl Strength for Charge {
    #[inline(always)]
    fn scaled(self, scale: f64) -> Self {
        Charge {
            dilatation: self.dilatation * scale,
            ..self
        }
    }
    #[inline(always)]
    fn potentials(self, _: Vec3<f64>, inverse: f64, _: f64) -> (Vec3<f64>, f64) {
        (self.force * inverse, self.dilatation * inverse)
    }
    #[inline(always)]
    fn displacement(self, n: Vec3<f64>, inverse: f64, poisson: f64) -> Vec3<f64> {
        papkovich::displacement(n, inverse, self.force, self.dilatation, poisson)
    }
    #[inline(always)]
    fn gradient(self, n: Vec3<f64>, inverse: f64, poisson: f64) -> Mat3<f64> {
        papkovich::gradient(n, inverse, self.force, self.dilatation, poisson)
    }
}

impl Strength for Jump {
    #[inline(always)]
    fn scaled(self, scale: f64) -> Self {
        Jump {
            area: self.area * scale,
            ..self
        }
    }
    #[inline(always)]
    fn potentials(self, n: Vec3<f64>, inverse: f64, poisson: f64) -> (Vec3<f64>, f64) {
        double_layer::potentials(n, inverse, self.jump, self.area, poisson)
    }
    #[inline(always)]
    fn displacement(self, n: Vec3<f64>, inverse: f64, poisson: f64) -> Vec3<f64> {
        double_layer::displacement(n, inverse, self.jump, self.area, poisson)
    }
    #[inline(always)]
    fn gradient(self, n: Vec3<f64>, inverse: f64, poisson: f64) -> Mat3<f64> {
        double_layer::gradient(n, inverse, self.jump, self.area, poisson)
    }
}

impl Strength for Both {
    #[inline(always)]
    fn scaled(self, scale: f64) -> Self {
        Both(self.0.scaled(scale), self.1.scaled(scale))
    }
    #[inline(always)]
    fn potentials(self, n: Vec3<f64>, inverse: f64, poisson: f64) -> (Vec3<f64>, f64) {
        let (p, rest) = self.0.potentials(n, inverse, poisson);
        let (q, other) = self.1.potentials(n, inverse, poisson);
        (p + q, rest + other)
    }
    #[inline(always)]
    fn displacement(self, n: Vec3<f64>, inverse: f64, poisson: f64) -> Vec3<f64> {
        self.0.displacement(n, inverse, poisson) + self.1.displacement(n, inverse, poisson)
    }
    #[inline(always)]
    fn gradient(self, n: Vec3<f64>, inverse: f64, poisson: f64) -> Mat3<f64> {
        self.0.gradient(n, inverse, poisson) + self.1.gradient(n, inverse, poisson)
    }
}

/// A kernel of what targets feel.
pub trait Field<const C: usize>: Kernel<Charge, C> {
    /// What uniform potentials do in a box whose half side is given in m.
    fn uniform(self, potentials: &Uniform, half: f64) -> [f64; C];
}

/// The harmonic potentials P (three) and Q, with Poisson's ratio.
#[derive(Clone, Copy, Debug)]
pub struct Potentials(pub f64);

impl<S: Strength> Kernel<S, 4> for Potentials {
    #[inline(always)]
    fn at(self, n: Vec3<f64>, inverse: f64, place: Vec3<f64>, strength: S) -> [f64; 4] {
        let (p, rest) = strength.potentials(n, inverse, self.0);
        [p.x, p.y, p.z, place.dot(p) + rest]
    }
}

/// Displacement but for its factor, with Poisson's ratio.
#[derive(Clone, Copy, Debug)]
pub struct Displacement(pub f64);

impl<S: Strength> Kernel<S, 3> for Displacement {
    #[inline(always)]
    fn at(self, n: Vec3<f64>, inverse: f64, _: Vec3<f64>, strength: S) -> [f64; 3] {
        let u = strength.displacement(n, inverse, self.0);
        [u.x, u.y, u.z]
    }
}

/// Stress of forces but for its factor, with Poisson's ratio.
#[derive(Clone, Copy, Debug)]
pub struct Stress(pub f64);

impl Kernel<Charge, 6> for Stress {
    #[inline(always)]
    fn at(self, n: Vec3<f64>, inverse: f64, _: Vec3<f64>, charge: Charge) -> [f64; 6] {
        papkovich::stress(n, inverse, charge.force, charge.dilatation, self.0)
    }
}

/// Displacement and, row by row, its gradient but for the factor of both, with Poisson's ratio.
#[derive(Clone, Copy, Debug)]
pub struct Motion(pub f64);

impl<S: Strength> Kernel<S, 12> for Motion {
    #[inline(always)]
    fn at(self, n: Vec3<f64>, inverse: f64, _: Vec3<f64>, strength: S) -> [f64; 12] {
        let u = strength.displacement(n, inverse, self.0);
        let [a, b, c] = strength.gradient(n, inverse, self.0).rows;
        [u.x, u.y, u.z, a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z]
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

impl Field<12> for Motion {
    fn uniform(self, potentials: &Uniform, half: f64) -> [f64; 12] {
        let [x, y, z] = Displacement(self.0).uniform(potentials, half);
        [x, y, z, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    }
}
