//! Kernels: the effect of sources at points.

use glam::DVec3;

use super::pairs::Kernel;
use super::uniform::UniformPart;
use crate::laws::{double_layer, papkovich};
use crate::math::{Mat3, Vec3};

/// Strength of a source.
///
/// The functions give potentials and their fields at a point, without the factor
/// [`papkovich::displacement_factor`]. `n` is the unit vector from the source to the point, `inverse` is one
/// over their distance, 1/m. They must be `#[inline(always)]`.
pub trait Strength: Copy + Send + Sync {
    /// The strength if lengths are measured in units of 1/`scale` m and P is divided by `scale`.
    fn scaled(self, scale: f64) -> Self;
    /// P, and Q − y·P, y being the position of the source.
    fn potentials(self, n: Vec3<f64>, inverse: f64, poisson: f64) -> (Vec3<f64>, f64);
    /// Displacement without the factor.
    fn displacement(self, n: Vec3<f64>, inverse: f64, poisson: f64) -> Vec3<f64>;
    /// Displacement gradient without the factor, row i, column k: ∂u_i/∂x_k.
    fn gradient(self, n: Vec3<f64>, inverse: f64, poisson: f64) -> Mat3<f64>;
}

/// A point force, N, and a centre of dilatation, N·m: the strength of sources and of equivalent densities.
#[derive(Clone, Copy, Debug)]
pub struct Charge {
    /// Force, N.
    pub force: Vec3<f64>,
    /// Strength of the centre of dilatation, N·m.
    pub dilatation: f64,
}

/// A point that represents a small area of a double layer.
#[derive(Clone, Copy, Debug)]
pub struct DoubleLayerPoint {
    /// Jump of the displacement, m.
    pub jump: Vec3<f64>,
    /// Area vector (area times normal), m².
    pub area: Vec3<f64>,
}

/// A force and a double layer at the same point.
#[derive(Clone, Copy, Debug)]
pub struct ChargeAndDoubleLayer(pub Charge, pub DoubleLayerPoint);

impl Charge {
    /// A force, N, without dilatation.
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

impl Strength for DoubleLayerPoint {
    #[inline(always)]
    fn scaled(self, scale: f64) -> Self {
        DoubleLayerPoint {
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

impl Strength for ChargeAndDoubleLayer {
    #[inline(always)]
    fn scaled(self, scale: f64) -> Self {
        ChargeAndDoubleLayer(self.0.scaled(scale), self.1.scaled(scale))
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

/// A kernel evaluated at targets.
pub trait TargetKernel<const C: usize>: Kernel<Charge, C> {
    /// Values due to the uniform part of the potentials in a box with this half side, m.
    fn uniform(self, potentials: &UniformPart, half: f64) -> [f64; C];
}

/// Kernel of the harmonic potentials: the three components of P, and Q. The value is Poisson's ratio.
#[derive(Clone, Copy, Debug)]
pub struct PotentialKernel(pub f64);

impl<S: Strength> Kernel<S, 4> for PotentialKernel {
    #[inline(always)]
    fn at(self, n: Vec3<f64>, inverse: f64, place: Vec3<f64>, strength: S) -> [f64; 4] {
        let (p, rest) = strength.potentials(n, inverse, self.0);
        [p.x, p.y, p.z, place.dot(p) + rest]
    }
}

/// Kernel of the displacement without its factor. The value is Poisson's ratio.
#[derive(Clone, Copy, Debug)]
pub struct DisplacementKernel(pub f64);

impl<S: Strength> Kernel<S, 3> for DisplacementKernel {
    #[inline(always)]
    fn at(self, n: Vec3<f64>, inverse: f64, _: Vec3<f64>, strength: S) -> [f64; 3] {
        let u = strength.displacement(n, inverse, self.0);
        [u.x, u.y, u.z]
    }
}

/// Kernel of the stress of forces without its factor. The value is Poisson's ratio.
#[derive(Clone, Copy, Debug)]
pub struct StressKernel(pub f64);

impl Kernel<Charge, 6> for StressKernel {
    #[inline(always)]
    fn at(self, n: Vec3<f64>, inverse: f64, _: Vec3<f64>, charge: Charge) -> [f64; 6] {
        papkovich::stress(n, inverse, charge.force, charge.dilatation, self.0)
    }
}

/// Kernel of the displacement and, row by row, its gradient, without their factor. The value is Poisson's
/// ratio.
#[derive(Clone, Copy, Debug)]
pub struct DisplacementAndGradientKernel(pub f64);

impl<S: Strength> Kernel<S, 12> for DisplacementAndGradientKernel {
    #[inline(always)]
    fn at(self, n: Vec3<f64>, inverse: f64, _: Vec3<f64>, strength: S) -> [f64; 12] {
        let u = strength.displacement(n, inverse, self.0);
        let [a, b, c] = strength.gradient(n, inverse, self.0).rows;
        [u.x, u.y, u.z, a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z]
    }
}

impl TargetKernel<3> for DisplacementKernel {
    fn uniform(self, potentials: &UniformPart, half: f64) -> [f64; 3] {
        let u: DVec3 = (3.0 - 4.0 * self.0) * potentials.p + potentials.slope;
        (u / half).to_array()
    }
}

impl TargetKernel<6> for StressKernel {
    fn uniform(self, _: &UniformPart, _: f64) -> [f64; 6] {
        [0.0; 6]
    }
}

impl TargetKernel<12> for DisplacementAndGradientKernel {
    fn uniform(self, potentials: &UniformPart, half: f64) -> [f64; 12] {
        let [x, y, z] = DisplacementKernel(self.0).uniform(potentials, half);
        [x, y, z, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    }
}
