//! Explicit motion of one element: kick, drift and turn of velocity Verlet (Lu 2021, Algorithm 1), with what
//! single precision needs.
//!
//! A step moves an element by far less than f32 resolves at its position, and turns it by less than a unit
//! quaternion shows. So a position is two words, and the part of the rotation that the quaternion did not
//! take is carried along as a rotation vector.

use crate::math::quat::rotation_between;
use crate::math::{Quat, Real, Vec3};

/// Velocity after half a step: v + ½Δt (F/m + g − drag v), with g only where the element can move.
#[inline(always)]
pub fn kick<T: Real>(
    velocity: Vec3<T>,
    load: Vec3<T>,
    inverse_mass: T,
    field: Vec3<T>,
    drag: T,
    half_step: T,
) -> Vec3<T> {
    let free = T::zero().lt(inverse_mass);
    let acceleration = load * inverse_mass + field - velocity * drag;
    Vec3::select(free, velocity + acceleration * half_step, velocity)
}

/// Sum of a two-word number and a small one, again as two words (Knuth's two-sum: exact).
#[inline(always)]
pub fn add_to_pair<T: Real>(high: T, low: T, small: T) -> (T, T) {
    let added = low + small;
    let sum = (high + added).kept();
    let taken = (sum - high).kept();
    let rest = (sum - taken).kept();
    (sum, (high - rest).kept() + (added - taken).kept())
}

/// Turns `q` by the rotation vector `turn` plus what was left over before: `q ← exp(½φ) q`.
///
/// Returns the new quaternion and the part of φ that rounding kept out of it. Turns of up to π a step.
#[inline(always)]
pub fn turn<T: Real>(q: Quat<T>, left_over: Vec3<T>, turn: Vec3<T>) -> (Quat<T>, Vec3<T>) {
    let phi = turn + left_over;
    let turned = Quat::from_rotation_vector(phi)
        .product(q)
        .normalised()
        .rounded();
    (turned, phi - rotation_between(q, turned))
}

/// p_i − p_j of two-word positions.
#[inline(always)]
pub fn separation<T: Real>(
    high_i: Vec3<T>,
    low_i: Vec3<T>,
    high_j: Vec3<T>,
    low_j: Vec3<T>,
) -> Vec3<T> {
    (high_i - high_j).each_kept() + (low_i - low_j).each_kept()
}
