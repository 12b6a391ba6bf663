//! Contact of two elements that no bond joins (Lu 2021, §3.3), with friction that remembers.
//!
//! ```text
//! δ   = touch − l > 0                        overlap; touch = r_i + r_j, less where a broken pair was closer
//! v_c = v_i + ω_i×(−a_i n) − v_j − ω_j×(a_j n)     velocity of the contact point (the paper leaves rotation out)
//! F_r = max(0, k_r δ − c v_c·n) n            on i; k_r = E S/(r_i + r_j), S = π((r_i + r_j)/2)²
//! ξ   ← ξ − (ξ·n) n + v_t Δt                 tangential spring, zero on first touch
//! F_f = −k_t ξ, and where |F_f| ≥ μ|F_r|:    F_f ← μ|F_r| F_f/|F_f|, ξ ← −F_f/k_t
//! torque on i: −a_i n × F_f                  on j: a_j n × (−F_f)
//! ```
//! a_i, a_j: arms from the centres to the contact point. Radii serve where the overlap is small; arms that add up to l, as the engine
//! takes them, conserve angular momentum exactly.
//! Exchanging i and j flips force and spring bit for bit, so both ends may evaluate it on their own.

use crate::math::{Real, Vec3};

/// Parameters of one contact.
#[derive(Clone, Copy, Debug)]
pub struct ContactParameters<T> {
    /// k_r, N/m.
    pub normal: T,
    /// k_t, N/m.
    pub tangential: T,
    /// Friction coefficient μ.
    pub friction: T,
    /// Normal damping c, N s/m.
    pub damping: T,
}

/// State of both partners as the law needs it.
#[derive(Clone, Copy, Debug)]
pub struct ContactState<T> {
    /// p_i − p_j.
    pub x: Vec3<T>,
    /// v_i − v_j.
    pub v: Vec3<T>,
    /// ω_i.
    pub w_i: Vec3<T>,
    /// ω_j.
    pub w_j: Vec3<T>,
    /// Arm of i, m.
    pub arm_i: T,
    /// Arm of j, m.
    pub arm_j: T,
    /// Distance at which they touch.
    pub touch: T,
    /// Tangential spring ξ.
    pub spring: Vec3<T>,
}

/// What a contact does to i.
#[derive(Clone, Copy, Debug)]
pub struct ContactLoad<T> {
    /// Force on i, N.
    pub force: Vec3<T>,
    /// Torque on i, N m.
    pub torque: Vec3<T>,
    /// Spring after the step, zero when apart.
    pub spring: Vec3<T>,
    /// Overlap, positive when touching, m.
    pub overlap: T,
}

/// The contact law over one step of length `dt`.
#[inline(always)]
pub fn contact<T: Real>(s: ContactState<T>, dt: T, k: ContactParameters<T>) -> ContactLoad<T> {
    let zero = T::zero();
    let length = s.x.norm();
    let n = s.x * (T::splat(1.0) / length);
    let overlap = s.touch - length;

    let v = s.v - (s.w_i * s.arm_i + s.w_j * s.arm_j).cross(n);
    let approach = v.dot(n);
    let repulsion = (k.normal * overlap - k.damping * approach).max(zero);

    let tangential = v - n * approach;
    let stretched = s.spring - n * s.spring.dot(n) + tangential * dt;
    let trial = stretched * (-k.tangential);
    let size = trial.norm();
    let limit = k.friction * repulsion;
    // The smallest positive divisor that keeps 0/0 from an untouched spring out.
    let scale = limit / size.max(T::splat(f64::from(f32::MIN_POSITIVE)));
    let slips = limit.lt(size);
    let friction = Vec3::select(slips, trial * scale, trial);
    let spring = Vec3::select(slips, stretched * scale, stretched);

    let touching = zero.lt(overlap);
    let none = Vec3::zero();
    ContactLoad {
        force: Vec3::select(touching, n * repulsion + friction, none),
        torque: Vec3::select(touching, friction.cross(n) * s.arm_i, none),
        spring: Vec3::select(touching, spring, none),
        overlap,
    }
}

/// k_r of two elements, N/m, from their radii and the contact modulus.
pub fn stiffness(modulus: f64, r_i: f64, r_j: f64) -> f64 {
    let mean = 0.5 * (r_i + r_j);
    modulus * std::f64::consts::PI * mean * mean / (r_i + r_j)
}

/// Modulus of two materials in series, Pa.
pub fn series_modulus(e_i: f64, e_j: f64) -> f64 {
    2.0 / (1.0 / e_i + 1.0 / e_j)
}
