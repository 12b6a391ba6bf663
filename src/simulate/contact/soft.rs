//! Soft contacts of sleeping pieces.
//!
//! A bounce of a single element takes microseconds, and thousands of crumbs would have to be stepped through theirs.
//! While no bond can break, nothing but the length of a bounce depends on how stiff a contact is: the damping ratio
//! decides how fast it rebounds, and friction follows the normal force. While a piece sleeps, its contacts are only as
//! stiff as this module says.

use crate::laws::contact::ContactParameters;
use crate::math::Scalar;

/// Closing speed at which a soft contact overlaps by a tenth of the radius, m/s; faster ones stay stiff.
pub const SOFT_SPEED: f64 = 10.0;
/// Overlap over the radius.
const OVERLAP: f64 = 0.1;

/// Parameters of a contact while it is soft, from the smaller radius of its elements (m) and the inverse of the reduced
/// mass of its pieces (1/kg). Heavy pieces keep stiff contacts.
pub fn softened<S: Scalar>(
    k: ContactParameters<S>,
    radius: f64,
    inverse_mass: f64,
) -> ContactParameters<S> {
    let frequency = SOFT_SPEED / (OVERLAP * radius);
    let normal = frequency * frequency / inverse_mass;
    with_normal(k, normal.min(k.normal.to_f64()))
}

/// Parameters of a contact with another normal stiffness, N/m.
pub fn with_normal<S: Scalar>(k: ContactParameters<S>, normal: f64) -> ContactParameters<S> {
    let part = normal / k.normal.to_f64();
    let times = |value: S, factor: f64| S::from_f64(value.to_f64() * factor);
    ContactParameters {
        normal: S::from_f64(normal),
        tangential: times(k.tangential, part),
        friction: k.friction,
        // The damping ratio stays.
        damping: times(k.damping, part.sqrt()),
    }
}

#[cfg(test)]
mod tests {
    use super::{SOFT_SPEED, softened};
    use crate::laws::contact::{ContactState, SurfacePair, pair, parameters};
    use crate::math::Vec3;

    /// Rebound over closing speed, and largest overlap over the radius, of a ball that bounces on a wall.
    fn bounce(is_soft: bool) -> (f64, f64) {
        let (radius, mass) = (1e-3, 5e-6);
        let surface = SurfacePair {
            modulus: 1e9,
            shear_ratio: 0.5,
            friction: 0.0,
            damping_ratio: 0.2,
        };
        let mut k = parameters(surface, radius, radius, 1.0 / mass, 0.0);
        if is_soft {
            k = softened(k, radius, 1.0 / mass);
        }
        let dt = 1e-2 * (mass / k.normal).sqrt();
        let (mut x, mut v, mut deepest) = (2.0 * radius, -SOFT_SPEED, 0.0_f64);
        loop {
            let state = ContactState {
                x: Vec3::new(x, 0.0, 0.0),
                v: Vec3::new(v, 0.0, 0.0),
                w_i: Vec3::zero(),
                w_j: Vec3::zero(),
                arm_i: radius,
                arm_j: radius,
                touch: 2.0 * radius,
                spring: Vec3::zero(),
            };
            v += pair(state, dt, k).force.x / mass * dt;
            x += v * dt;
            deepest = deepest.max(2.0 - x / radius);
            if x > 2.0 * radius {
                return (v / SOFT_SPEED, deepest);
            }
        }
    }

    #[test]
    fn a_soft_contact_rebounds_like_a_stiff_one() {
        let ((stiff, _), (soft, overlap)) = (bounce(false), bounce(true));
        assert!((soft - stiff).abs() < 0.02 && stiff < 0.9, "{stiff} {soft}");
        assert!(overlap > 0.05 && overlap < 0.1, "{overlap}");
    }
}
