//! Rest position, velocity and stress of surface vertices, averaged over nearby elements with the weights of
//! the material mode.

use glam::DVec3;

use crate::reconstruct::surface::motion::ElementMotion;

/// Width of the Gaussian weight, mean radii.
const WIDTH: f64 = 1.0;
/// Cut-off of the Gaussian: excess of the squared distance over that of the nearest element, in variances.
/// The weight is e⁻⁸ there.
const CUTOFF: f64 = 16.0;

/// Quantities of a vertex, averaged over the elements near it.
pub struct VertexMotion {
    /// Rest position, m.
    pub rest: DVec3,
    /// Velocity, m/s.
    pub velocity: DVec3,
    /// Normal stress, Pa.
    pub sigma: f64,
}

impl VertexMotion {
    /// Weighted mean at `x` over the elements `near`, each extended rigidly to `x`: velocity v + ω × (x − p),
    /// rest position P + Rᵀ(x − p). `unit` is a mean radius.
    pub fn new<'a>(
        x: DVec3,
        unit: f64,
        near: impl Iterator<Item = &'a ElementMotion> + Clone,
    ) -> Self {
        let falloff = 0.5 / (WIDTH * unit).powi(2);
        let squared = |element: &ElementMotion| x.distance_squared(element.position) * falloff;
        let nearest = near.clone().map(squared).fold(f64::INFINITY, f64::min);
        let mut mean = VertexMotion {
            rest: DVec3::ZERO,
            velocity: DVec3::ZERO,
            sigma: 0.0,
        };
        let mut total = 0.0;
        for element in near {
            let beyond = squared(element) - nearest;
            if beyond < 0.5 * CUTOFF {
                let weight = (-beyond).exp();
                let arm = x - element.position;
                mean.rest += weight * (element.rest + element.turn.transpose() * arm);
                mean.velocity += weight * (element.velocity + element.spin.cross(arm));
                mean.sigma += weight * element.sigma;
                total += weight;
            }
        }
        mean.rest /= total;
        mean.velocity /= total;
        mean.sigma /= total;
        mean
    }
}
