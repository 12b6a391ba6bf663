//! What the vertices of a surface take over from the elements near them, by the weights that the material
//! mode carries surfaces with.

use glam::DVec3;

use crate::reconstruct::surface::motion::ElementMotion;

/// Width of the Gaussian of the weights, mean radii.
const WIDTH: f64 = 1.0;
/// Squared distance beyond the nearest element's at which the Gaussian ends, its variances: e⁻⁸ there.
const END: f64 = 16.0;

/// What a vertex has of the elements near it.
pub struct Followed {
    /// Where it was at rest, m.
    pub rest: DVec3,
    /// m/s.
    pub velocity: DVec3,
    /// Pa.
    pub sigma: f64,
}

impl Followed {
    /// The mean at `x` of what each of `near` would have there as part of it: v + ω × (x − p), P + Rᵀ(x − p).
    /// `unit` is a mean radius.
    pub fn new<'a>(
        x: DVec3,
        unit: f64,
        near: impl Iterator<Item = &'a ElementMotion> + Clone,
    ) -> Self {
        let falloff = 0.5 / (WIDTH * unit).powi(2);
        let squared = |element: &ElementMotion| x.distance_squared(element.position) * falloff;
        let nearest = near.clone().map(squared).fold(f64::INFINITY, f64::min);
        let mut mean = Followed {
            rest: DVec3::ZERO,
            velocity: DVec3::ZERO,
            sigma: 0.0,
        };
        let mut total = 0.0;
        for element in near {
            let beyond = squared(element) - nearest;
            if beyond < 0.5 * END {
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
