//! Viscous damping of a bond, proportional to the relative velocity of both elements at the bond's middle and
//! to their relative spin.
//!
//! ```text
//! v = (v_i + ω_i × a) − (v_j − ω_j × a)      a = −½(p_i − p_j), from i to the middle
//! F = −c v on i, −F on j                     torque a × F on both, by arm_torque
//! M = −c_r (ω_i − ω_j) on i, −M on j
//! c = 2ζ √(k_n m*), c_r = 2ζ √(k_b I*)       m*, I*: reduced mass and inertia
//! ```
//! A rigid motion is not damped; linear and angular momentum are conserved.

use crate::math::{Real, Vec3};

/// Relative velocity v of both elements at the middle, m/s, and relative spin ω_i − ω_j, 1/s; `v` = v_i − v_j.
#[inline(always)]
pub fn relative_motion<T: Real>(
    x: Vec3<T>,
    v: Vec3<T>,
    w_i: Vec3<T>,
    w_j: Vec3<T>,
) -> (Vec3<T>, Vec3<T>) {
    let arm = x * T::splat(-0.5);
    ((w_i + w_j).cross_add(arm, v), w_i - w_j)
}

/// Force on i and moment on i; on j the opposite.
#[inline(always)]
pub fn bond<T: Real>(
    x: Vec3<T>,
    v: Vec3<T>,
    w_i: Vec3<T>,
    w_j: Vec3<T>,
    translation: T,
    rotation: T,
) -> (Vec3<T>, Vec3<T>) {
    let relative = relative_motion(x, v, w_i, w_j);
    (relative.0 * (-translation), relative.1 * (-rotation))
}

/// Coefficient 2ζ√(k m*) from the inverse masses of both ends; 0 when neither can move.
#[inline(always)]
pub fn coefficient<T: Real>(ratio: T, stiffness: T, inverse_i: T, inverse_j: T) -> T {
    let inverse = inverse_i + inverse_j;
    let movable = T::zero().lt(inverse);
    // If both ends are held, divide by one instead of zero; the result is discarded.
    let divisor = T::select(movable, inverse, T::splat(1.0));
    let coefficient = T::splat(2.0) * ratio * (stiffness / divisor).sqrt();
    T::select(movable, coefficient, T::zero())
}
