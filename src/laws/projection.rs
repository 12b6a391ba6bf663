//! Friction that projects velocities after a step (Lu 2025, eq. 34, 35).
//!
//! ```text
//! J = −min(μ |F_n| Δt,     m* |v_t|) v_t/|v_t|       on i, −J on j: Δv_i = J/m_i          v_t = v_i − v_j without its part along the normal
//! L = −min(μ_r r |F_n| Δt, I* |ω|)   ω/|ω|           on i, −L on j: Δω_i = L/I_i          ω = ω_i − ω_j
//! ```
//! m*, I*: reduced mass and inertia, at a collider those of the element, where this is eq. 34 as printed.
//! Between two elements the paper takes the mass of each, so that both together would turn a slow sliding
//! round. Its cap of the torque, μ_r |F_n| r³, has odd units; here it is that of [`rolling`](super::rolling).
//! Velocities are those of centres: an element that rolls is braked as one that slides.

use crate::math::{Real, Vec3};

/// J or L, N s or N m s, from a relative velocity (m/s) or spin (rad/s), its cap, and the sum of the inverse
/// masses (1/kg) or inertias of both ends, which is not zero.
#[inline(always)]
pub fn impulse<T: Real>(velocity: Vec3<T>, cap: T, inverse: T) -> Vec3<T> {
    let size = velocity.norm();
    // The smallest positive divisor keeps 0/0 of what rests out.
    let along = velocity * (T::splat(-1.0) / size.max(T::splat(f64::from(f32::MIN_POSITIVE))));
    along * cap.min(size / inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_what_is_allowed_and_never_more_than_there_is() {
        let v = Vec3::new(3.0, 0.0, -4.0);
        // A mass of 0.5 kg against something held: 2.5 N s stop it.
        let slowed = impulse(v, 1.0, 2.0);
        assert!((slowed - Vec3::new(-0.6, 0.0, 0.8)).norm() < 1e-15);
        let stopped = v + impulse(v, 9.0, 2.0) * 2.0;
        assert!(stopped.norm() < 1e-15);
        assert_eq!(impulse(Vec3::<f64>::zero(), 1.0, 2.0).norm(), 0.0);
    }
}
