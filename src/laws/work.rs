//! Energy dissipated by damping and friction, J, for the energy balance.
//!
//! The load at the end of a step acts over half a step before and half a step after, so that its work is the
//! load times the velocity in the middle of that kick. A spring that a step stretches does the mean of its
//! loads before and after, times the stretch. With these sums leapfrog balances energy exactly except for
//! terms of the first and the last step.
//! ```text
//! damping of a bond       −(F·v + T·(ω_i + ω_j) + M·(ω_i − ω_j)) Δt       v = v_i − v_j; F, T, M of damping.rs
//! damping of a contact    −D (v_n + ½ |F_r| Δt/m*) Δt                   D = |F_r| − k_r δ, v_n = (v_i − v_j)·n
//! sliding                 ½ k_t (ξ₀ + ξ)·(ξ₁ − ξ)                       ξ₀: spring before, ξ₁: stretched by the step, ξ: after it slipped
//! damping of rolling      c_θ ω² Δt                                     where it does not give way
//! rolling                 ½ k_θ (θ₀ + θ)·(θ₁ − θ)
//! ```
//! When a contact opens, the energy of its spring counts as slip. Neglected terms are of second order in the
//! step: the rotation of springs out of the plane of the contact, and the slowing of a bond's ends by its own
//! damping within a kick.

use super::bond::arm_torque;
use super::contact::{ContactParameters, ContactState};
use super::rolling::{RollingLoad, RollingParameters};
use crate::math::{Real, Vec3};

/// Power dissipated by a bond's damping, W, from the loads of [`super::damping::bond`] at `x` = p_i − p_j and
/// velocity `v` = v_i − v_j.
#[inline(always)]
pub fn bond_damping<T: Real>(
    (force, moment): (Vec3<T>, Vec3<T>),
    x: Vec3<T>,
    v: Vec3<T>,
    w_i: Vec3<T>,
    w_j: Vec3<T>,
) -> T {
    let torque = arm_torque(x, force);
    -(force.dot(v) + torque.dot(w_i + w_j) + moment.dot(w_i - w_j))
}

/// Load and spring of a contact at the end of a step.
#[derive(Clone, Copy, Debug)]
pub struct ContactOutcome<T> {
    /// Force on i, N.
    pub force: Vec3<T>,
    /// Overlap, m.
    pub overlap: T,
    /// Tangential spring after the step, m.
    pub spring: Vec3<T>,
}

/// Energy dissipated by damping and by sliding of a contact in a step of length `dt`, J; `inverse_mass` =
/// 1/m_i + 1/m_j, 1/kg.
#[inline(always)]
pub fn contact<T: Real>(
    s: &ContactState<T>,
    done: ContactOutcome<T>,
    dt: T,
    inverse_mass: T,
    k: ContactParameters<T>,
) -> (T, T) {
    let n = s.x * (T::splat(1.0) / s.x.norm());
    let rolling = (s.w_i * s.arm_i).each_kept() + (s.w_j * s.arm_j).each_kept();
    let v = s.v - rolling.cross(n);
    let approach = v.dot(n);
    let push = done.force.dot(n);
    let middle = approach + push * inverse_mass * dt * T::splat(0.5);
    let damped = (k.normal * done.overlap - push) * middle * dt;
    let before = s.spring - n * s.spring.dot(n);
    let stretched = before + (v - n * approach) * dt;
    let touching = T::zero().lt(done.overlap);
    (
        T::select(touching, damped, T::zero()),
        slip_loss([before, stretched, done.spring], k.tangential),
    )
}

/// Energy dissipated by damping and by slip of the rolling spring in a step of length `dt`, J; arguments as
/// of [`super::rolling::rolling`].
#[inline(always)]
pub fn rolling<T: Real>(
    x: Vec3<T>,
    w: Vec3<T>,
    spring: Vec3<T>,
    done: RollingLoad<T>,
    dt: T,
    k: RollingParameters<T>,
) -> (T, T) {
    let n = x * (T::splat(1.0) / x.norm());
    let across = w - n * w.dot(n);
    let before = spring - n * spring.dot(n);
    let turned = before + across * dt;
    let viscous = done.moment + done.spring * k.stiffness;
    (
        -(viscous.dot(across) * dt),
        slip_loss([before, turned, done.spring], k.stiffness),
    )
}

/// Energy dissipated by a spring that was stretched from `before` to `stretched` and then slipped to `after`,
/// J.
#[inline(always)]
pub(super) fn slip_loss<T: Real>([before, stretched, after]: [Vec3<T>; 3], stiffness: T) -> T {
    T::splat(0.5) * stiffness * (before + after).dot(stretched - after)
}
