//! Contact by a logarithmic barrier (Zhang 2024, eq. 30).
//!
//! ```text
//! E       = −k (d̂ − d)² ln(d/d̂)                                0 < d < d̂, nothing beyond
//! F       = −dE/dd  = k (d̂ − d) [−2 ln(d/d̂) + (d̂ − d)/d]       pushes apart
//! d²E/dd² = k [−2 ln(d/d̂) + 4 (d̂ − d)/d + (d̂ − d)²/d²]
//! k = k_c π r/2, N/m                                            k_r of [`contact`](super::contact): k_c is the contact modulus, r the mean radius
//! ```
//! d is the distance of two centres and d̂ the distance at which they touch; at a wall, d is the distance of
//! the centre from the surface and d̂ the radius. F is small where the overlap δ is small (3 k δ²/d̂ to
//! lowest order) and unbounded as d goes to zero. The paper prints E without its minus sign; that energy
//! would attract.
//!
//! Explicit steps can be stable only up to some stiffness. From the overlap δ₀ = d̂/4 on they continue the force by
//! its tangent, and the energy by the integral of that force; up to δ₀ both are those above:
//!
//! ```text
//! F = F₀ + K₀ (δ − δ₀)                                          δ > δ₀; E₀, F₀ and K₀ = d²E/dd²: at δ₀
//! E = E₀ + F₀ (δ − δ₀) + ½ K₀ (δ − δ₀)²                         K₀ = 2.02 k
//! ```

use super::contact::{self, ContactParameters};
use crate::math::{Real, Vec3};

/// δ₀/d̂: overlap over reach from which on explicit steps continue the force by its tangent.
const TANGENT_FROM: f64 = 0.25;

/// Energy, force and stiffnesses of a barrier at a distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Barrier<T> {
    /// E, J.
    pub energy: T,
    /// F, N.
    pub force: T,
    /// F over the overlap d̂ − d, N/m: secant stiffness.
    pub secant: T,
    /// d²E/dd², N/m.
    pub stiffness: T,
}

/// The barrier at `distance` d (m) that begins at `reach` d̂ (m), of stiffness `k` (N/m).
pub fn barrier(distance: f64, reach: f64, k: f64) -> Barrier<f64> {
    let overlap = (reach - distance).max(0.0);
    // ln(d/d̂) directly would lose precision where the overlap is small.
    of_logarithm(distance, overlap, (-overlap / reach).ln_1p(), k)
}

/// The barrier of stiffness `k` (N/m) at a distance and an overlap (m), from ln(d/d̂).
#[inline(always)]
fn of_logarithm<T: Real>(distance: T, overlap: T, log: T, k: T) -> Barrier<T> {
    let part = overlap / distance;
    let secant = k * (part - T::splat(2.0) * log);
    Barrier {
        energy: -k * overlap * overlap * log,
        force: secant * overlap,
        secant,
        stiffness: secant + k * part * (T::splat(3.0) + part),
    }
}

/// The barrier of explicit steps at an overlap δ (m) of a pair that begins at `reach` d̂ (m), of stiffness `k` (N/m).
///
/// As d is at least ¾ d̂ where the logarithm is needed, it is a short series, which has the same bits in any number of
/// lanes: ln(d/d̂) = −2 artanh z with z = (d̂ − d)/(d̂ + d) ≤ 1/7, within 5e-16 of its value in double precision and
/// 3e-7 in single.
#[inline(always)]
pub fn with_tangent<T: Real>(overlap: T, reach: T, k: T) -> Barrier<T> {
    let pressed = overlap.max(T::zero());
    let inside = pressed.min(reach * T::splat(TANGENT_FROM));
    let distance = reach - inside;
    let z = inside / (reach + distance);
    let log = z * T::artanh_ratio(z * z) * T::splat(-2.0);
    let at = of_logarithm(distance, inside, log, k);
    let beyond = pressed - inside;
    let rise = at.stiffness * beyond;
    let force = at.force + rise;
    Barrier {
        energy: at.energy + (at.force + T::splat(0.5) * rise) * beyond,
        force,
        secant: T::select(inside.lt(pressed), force / pressed, at.secant),
        stiffness: at.stiffness,
    }
}

/// Largest stiffness of the barrier of explicit steps over k: K₀/k.
pub fn largest_stiffness() -> f64 {
    with_tangent(1.0, 1.0, 1.0).stiffness
}

/// Parameters with which the contact law has the normal force of the barrier of explicit steps at this overlap (m), of
/// a pair that touches at the distance `reach` (m). Damping and tangential spring stay.
#[inline(always)]
pub fn parameters<T: Real>(overlap: T, reach: T, k: ContactParameters<T>) -> ContactParameters<T> {
    ContactParameters {
        normal: with_tangent(overlap, reach, k.normal).secant,
        ..k
    }
}

/// Elastic energy of a touching contact with the barrier of explicit steps, J: E + ½ k_t |ξ|².
#[inline(always)]
pub fn energy<T: Real>((overlap, reach): (T, T), spring: Vec3<T>, k: ContactParameters<T>) -> T {
    with_tangent(overlap, reach, k.normal).energy + contact::energy(T::zero(), spring, k)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Scalar;

    #[test]
    fn barrier_at_half_its_reach_matches_hand_calculation() {
        let half = barrier(0.5, 1.0, 1.0);
        let ln2 = std::f64::consts::LN_2;
        assert!((half.energy - 0.25 * ln2).abs() < 1e-15);
        assert!((half.force - (ln2 + 0.5)).abs() < 1e-15);
        assert!((half.stiffness - (2.0 * ln2 + 5.0)).abs() < 1e-15);
        // Scaled by stiffness and length.
        let scaled = barrier(2e-3, 4e-3, 1e6);
        assert!((scaled.force / (half.force * 4e3) - 1.0).abs() < 1e-12);
    }

    /// Force and stiffness at distance `d` are differences of energy and force over `step`.
    fn check_derivatives(at: impl Fn(f64) -> Barrier<f64>, d: f64, step: f64) {
        let [below, here, above] = [d - step, d, d + step].map(&at);
        let force = (below.energy - above.energy) / (2.0 * step);
        let stiffness = (below.force - above.force) / (2.0 * step);
        assert!((force / here.force - 1.0).abs() < 1e-6, "{d}");
        assert!((stiffness / here.stiffness - 1.0).abs() < 1e-6, "{d}");
    }

    #[test]
    fn force_and_stiffness_are_derivatives_of_the_energy() {
        let (reach, k) = (2e-3, 3e5);
        for part in [0.01, 0.1, 0.4, 0.7, 0.95, 0.999] {
            let d = part * reach;
            check_derivatives(|d| barrier(d, reach, k), d, 1e-6 * d);
        }
        // Also where the tangent has begun, and where the centres have passed each other.
        for part in [-0.3, 0.01, 0.4, 0.7, 0.74, 0.76, 0.95, 0.99] {
            let at = |d: f64| with_tangent(reach - d, reach, k);
            check_derivatives(at, part * reach, 1e-6 * reach);
        }
    }

    #[test]
    fn barrier_is_soft_at_contact_and_unbounded_at_zero_distance() {
        let first = barrier(1.0 - 1e-9, 1.0, 1.0);
        assert!((first.force / 3e-18 - 1.0).abs() < 1e-6);
        assert!(barrier(1e-12, 1.0, 1.0).force > 1e11);
        let beyond = barrier(1.5, 1.0, 1.0);
        assert_eq!([beyond.energy, beyond.force, beyond.stiffness], [0.0; 3]);
    }

    fn values<T: Scalar>(b: Barrier<T>) -> [f64; 4] {
        [b.energy, b.force, b.secant, b.stiffness].map(Scalar::to_f64)
    }

    #[test]
    fn explicit_steps_have_the_same_barrier_up_to_a_quarter_of_the_reach() {
        let (reach, k) = (2e-3, 3e5);
        for n in 1..=1000 {
            let overlap = f64::from(n) / 1000.0 * TANGENT_FROM * reach;
            let known = values(barrier(reach - overlap, reach, k));
            let double = values(with_tangent(overlap, reach, k));
            let single = values(with_tangent(overlap as f32, reach as f32, k as f32));
            for ((known, double), single) in known.into_iter().zip(double).zip(single) {
                // The distance in `known` is rounded, by up to 2e-19 m; the energy has the cube of the overlap.
                let rounded = 2e-15 + 1e-18 / overlap;
                assert!((double / known - 1.0).abs() < rounded, "{overlap}");
                assert!((single / known - 1.0).abs() < 1e-6, "{overlap}");
            }
        }
        let none = with_tangent(-1e-4, reach, k);
        assert_eq!(values(none), [0.0; 4]);
    }

    #[test]
    fn beyond_a_quarter_of_the_reach_the_stiffness_stays() {
        let largest = largest_stiffness();
        assert!((largest - barrier(0.75, 1.0, 1.0).stiffness).abs() < 1e-14);
        assert!((largest - 2.02).abs() < 5e-3, "as the text above says");
        let [at, deep] = [0.25, 1.7].map(|overlap| with_tangent(overlap, 1.0, 1.0));
        assert!((deep.force - at.force - 1.45 * largest).abs() < 1e-14);
        assert!((deep.secant * 1.7 - deep.force).abs() < 1e-14);
    }

    #[test]
    fn the_series_is_the_logarithm() {
        for n in 1..=1000 {
            let overlap = f64::from(n) / 1000.0 * TANGENT_FROM;
            let known = (-overlap).ln_1p();
            let z = overlap / (1.0 + (1.0 - overlap));
            let double = -2.0 * z * f64::artanh_ratio(z * z);
            assert!((double / known - 1.0).abs() < 5e-16, "{overlap}");
            // −E/δ² of an overlap that is exact in single precision.
            let exact = overlap as f32;
            let single = with_tangent(exact, 1.0, 1.0).energy / (exact * exact);
            let known = -(-f64::from(exact)).ln_1p();
            assert!((f64::from(single) / known - 1.0).abs() < 3e-7, "{overlap}");
        }
    }
}
