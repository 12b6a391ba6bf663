//! Soft contacts of sleeping pieces.
//!
//! A bounce of a single element takes microseconds, and thousands of crumbs would have to be stepped through theirs.
//! While no bond can break, nothing but the length of a bounce depends on how stiff a contact is: the damping ratio
//! decides how fast it rebounds, and friction follows the normal force. While a piece sleeps, its contacts are soft:
//!
//! ```text
//! F  = k(δ) δ                       δ: overlap
//! k  = min(k_s (1 + (δ/2D)⁴), k_r)  k_r: stiffness of the contact law; D = r/10, r: the smaller radius
//! k_s = m (v/D)²                    m: reduced mass of the pieces; v = 1 m/s, which overlaps by about D; at most k_r
//! U  = k_s δ²/2 (1 + (δ/2D)⁴/3)     energy, as long as k < k_r
//! ```
//! So a gentle contact is slow, and one that is pressed hard does not let elements through each other.

use crate::laws::contact::ContactParameters;
use crate::math::Scalar;

/// Closing speed from which on a contact stays stiff, m/s: a soft one would overlap by 0.3 of the radius.
pub const STIFF_SPEED: f64 = 5.0;
/// v above, m/s.
const SOFT_SPEED: f64 = 1.0;
/// D over r above.
const OVERLAP: f64 = 0.1;

/// Parameters of a soft contact that hardly overlaps, from the smaller radius of its elements (m) and the inverse of
/// the reduced mass of its pieces (1/kg). Heavy pieces keep stiff contacts.
pub fn softened<S: Scalar>(
    k: ContactParameters<S>,
    radius: f64,
    inverse_mass: f64,
) -> ContactParameters<S> {
    let frequency = SOFT_SPEED / (OVERLAP * radius);
    let normal = frequency * frequency / inverse_mass;
    with_normal(k, normal.min(k.normal.to_f64()))
}

/// A soft contact at some overlap.
#[derive(Clone, Copy, Debug)]
pub struct Hardened {
    /// Force over overlap, N/m.
    pub secant: f64,
    /// Derivative of the force, N/m.
    pub tangent: f64,
    /// Energy, J.
    pub energy: f64,
}

/// The law of soft contacts between two elements.
#[derive(Clone, Copy, Debug)]
pub struct SoftLaw {
    /// k_s, N/m.
    softest: f64,
    /// k_r, N/m.
    stiff: f64,
    /// 2D, m.
    scale: f64,
    /// Overlap from which on the stiffness is k_r, m.
    limit: f64,
}

impl SoftLaw {
    /// From k_s and k_r (N/m) and the smaller radius (m).
    pub fn new((softest, stiff): (f64, f64), radius: f64) -> Self {
        let scale = 2.0 * OVERLAP * radius;
        SoftLaw {
            softest,
            stiff,
            scale,
            limit: scale * (stiff / softest - 1.0).powf(0.25),
        }
    }

    /// The contact at an overlap, m.
    pub fn at(&self, overlap: f64) -> Hardened {
        let stiff = self.stiff;
        match overlap < self.limit {
            true => self.within(overlap),
            false => Hardened {
                secant: stiff,
                tangent: stiff,
                energy: self.within(self.limit).energy
                    + 0.5 * stiff * (overlap * overlap - self.limit * self.limit),
            },
        }
    }

    fn within(&self, overlap: f64) -> Hardened {
        let x = overlap / self.scale;
        let rise = x * x * x * x;
        Hardened {
            secant: self.softest * (1.0 + rise),
            tangent: self.softest * (1.0 + 5.0 * rise),
            energy: 0.5 * self.softest * overlap * overlap * (1.0 + rise / 3.0),
        }
    }
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
    use super::{Hardened, STIFF_SPEED, SoftLaw, softened, with_normal};
    use crate::laws::contact::{ContactState, SurfacePair, pair, parameters};
    use crate::math::Vec3;

    /// Rebound over closing speed, and largest overlap over the radius, of a ball that bounces on a wall.
    fn bounce(speed: f64, is_soft: bool) -> (f64, f64) {
        let (radius, mass) = (1e-3, 5e-6);
        let surface = SurfacePair {
            modulus: 1e9,
            shear_ratio: 0.5,
            friction: 0.0,
            damping_ratio: 0.2,
        };
        let stiff = parameters(surface, radius, radius, 1.0 / mass, 0.0);
        let softest = softened(stiff, radius, 1.0 / mass).normal;
        let dt = 1e-2 * (mass / stiff.normal).sqrt();
        let (mut x, mut v, mut deepest) = (2.0 * radius, -speed, 0.0_f64);
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
            let k = match is_soft {
                true => {
                    let overlap = 2.0 * radius - x;
                    let law = SoftLaw::new((softest, stiff.normal), radius);
                    let Hardened { secant, .. } = law.at(overlap);
                    with_normal(stiff, secant)
                }
                false => stiff,
            };
            v += pair(state, dt, k).force.x / mass * dt;
            x += v * dt;
            deepest = deepest.max(2.0 - x / radius);
            if x > 2.0 * radius {
                return (v / speed, deepest);
            }
        }
    }

    #[test]
    fn a_soft_contact_rebounds_like_a_stiff_one() {
        for (speed, overlaps) in [
            (0.1, 0.005..0.012),
            (1.0, 0.05..0.12),
            (STIFF_SPEED, 0.2..0.3),
        ] {
            let ((stiff, _), (soft, overlap)) = (bounce(speed, false), bounce(speed, true));
            assert!((soft - stiff).abs() < 0.05 && stiff < 0.9, "{stiff} {soft}");
            assert!(overlaps.contains(&overlap), "{speed}: {overlap}");
        }
    }

    #[test]
    fn the_force_of_a_soft_contact_is_continuous_and_follows_from_its_energy() {
        let law = SoftLaw::new((1e3, 1e5), 1e-3);
        let at = |overlap: f64| law.at(overlap);
        let mut was_stiff = false;
        for k in 1..1000 {
            let (overlap, h) = (1e-6 * f64::from(k), 1e-10);
            let [low, mid, high] = [overlap - h, overlap, overlap + h].map(at);
            let force = mid.secant * overlap;
            let slope = (high.energy - low.energy) / (2.0 * h);
            assert!(
                (slope / force - 1.0).abs() < 1e-3,
                "{overlap}: {slope} {force}"
            );
            let rise = (high.secant * (overlap + h) - low.secant * (overlap - h)) / (2.0 * h);
            let is_kink = low.secant < 1e5 && high.secant >= 1e5;
            assert!(
                is_kink || (rise / mid.tangent - 1.0).abs() < 1e-3,
                "{overlap}"
            );
            was_stiff |= mid.secant == 1e5;
        }
        assert!(was_stiff);
        let heavy = SoftLaw::new((1e5, 1e5), 1e-3);
        assert_eq!(heavy.at(0.0).secant, 1e5, "a heavy piece");
    }
}
