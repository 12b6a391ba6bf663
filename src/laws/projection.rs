//! Friction as a projection of velocities after a step (Lu 2025, eq. 34, 35).
//!
//! ```text
//! J = −min(μ |F_n| Δt,     m* |v_t|) v_t/|v_t|       on i, −J on j: Δv_i = J/m_i          v_t = v_i − v_j without its part along the normal
//! L = −min(μ_r r |F_n| Δt, I* |ω|)   ω/|ω|           on i, −L on j: Δω_i = L/I_i          ω = ω_i − ω_j
//! ```
//! m*, I*: reduced mass and inertia; at a collider those of the element, where this is eq. 34 as printed.
//! Between two elements the paper uses the mass of each, so that both impulses together would reverse slow
//! sliding. Its cap of the torque, μ_r |F_n| r³, has inconsistent units; here the cap of
//! [`rolling`](super::rolling) is used. Velocities are those of the centres: a rolling element is slowed like
//! a sliding one.

use crate::math::{Real, Vec3};

/// J or L, N s or N m s, from a relative velocity (m/s) or spin (rad/s), its cap, and the sum of the inverse
/// masses (1/kg) or inertias of both ends, which is not zero.
#[inline(always)]
pub fn impulse<T: Real>(velocity: Vec3<T>, cap: T, inverse: T) -> Vec3<T> {
    let size = velocity.norm();
    // The smallest positive divisor prevents 0/0 at rest.
    let along = velocity * (T::splat(-1.0) / size.max(T::splat(f64::from(f32::MIN_POSITIVE))));
    along * cap.min(size / inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impulse_is_capped_and_never_reverses_motion() {
        let v = Vec3::new(3.0, 0.0, -4.0);
        // A mass of 0.5 kg and a held body: 2.5 N s stop it.
        let slowed = impulse(v, 1.0, 2.0);
        assert!((slowed - Vec3::new(-0.6, 0.0, 0.8)).norm() < 1e-15);
        let stopped = v + impulse(v, 9.0, 2.0) * 2.0;
        assert!(stopped.norm() < 1e-15);
        assert_eq!(impulse(Vec3::<f64>::zero(), 1.0, 2.0).norm(), 0.0);
    }
}
