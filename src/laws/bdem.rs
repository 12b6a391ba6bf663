//! Explicit bonded DEM (Lu 2021, §3.1): stretch, shear, bend and twist of a bond between elements i and j.
//!
//! ```text
//! n   = (p_i − p_j)/l                    from j to i, l = |p_i − p_j|
//! F_n = k_n (l − l0) n                   on j                                  k_n = E S/l0
//! F_s = k_s (d̂ − (d̂·n) n)               on j, d̂ = normalised ½(R_i d0 + R_j d0)  k_s = G S, a force per radian
//! M_s = ½ l n × F_s                      on both
//! Θ   = log(q_j q̄_i)                     rotation vector, angle in [0, π]
//! M_t = k_t (Θ·n) n                      + on i, − on j                        k_t = G J/l0
//! M_b = k_b (Θ − (Θ·n) n)                + on i, − on j                        k_b = E I/l0
//! ```
//!
//! World frame, SI. `k_s (d̂ − (d̂·n) n)` is `k_s sin θ t` of eq. 7 without dividing by a length that
//! vanishes at rest; eq. 14 lacks the closing n. The law conserves linear and angular momentum exactly and
//! has no energy. Exchanging i and j flips the sign of every force bit for bit, so both ends may evaluate it
//! on their own.

use super::bond::{BondLaw, BondLoad, BondState, Stiffness};
use crate::math::quat::rotation_between;
use crate::math::{Mask, Quat, Real, Vec3};

/// The bond law.
///
/// `x` = p_i − p_j; `rest_direction` = d0 from i to j; `unapplied` = rotation of j less that of i which the
/// quaternions do not hold yet.
#[inline(always)]
pub fn bond<T: Real>(
    x: Vec3<T>,
    q_i: Quat<T>,
    q_j: Quat<T>,
    unapplied: Vec3<T>,
    rest_direction: Vec3<T>,
    rest_length: T,
    k: Stiffness<T>,
) -> BondLoad<T> {
    let one = T::splat(1.0);
    let length = x.norm();
    let n = x * (one / length);
    let axial = k.normal * (length - rest_length);

    // Regrouped, the two sums would not round alike, and i would be told from j.
    let from_i = q_i.rotate(rest_direction).each_kept();
    let from_j = q_j.rotate(rest_direction).each_kept();
    let direction = from_i + from_j;
    // Square of the sine of half the angle between the two: their sum is 2 √(1 − h) long. Only lanes with a
    // wide angle need the root.
    let h = one - direction.dot(direction) * T::splat(0.25);
    let near = h.lt(T::splat(0.0625));
    let small = T::inverse_root(h);
    let scale = if near.all() {
        small
    } else {
        T::select(near, small, one / (one - h).sqrt())
    };
    let d = direction * (scale * T::splat(0.5));
    let shear_force = (d - n * d.dot(n)) * k.shear;
    let shear_moment = n.cross(shear_force) * (length * T::splat(0.5));

    let theta = rotation_between(q_i, q_j) + unapplied;
    let along = n * theta.dot(n);
    let twist = along * k.twist;
    let bend = (theta - along) * k.bend;

    BondLoad {
        force: -(n * axial + shear_force),
        shear_moment,
        moment: twist + bend,
        axial,
        shear: shear_force,
        twist,
        bend,
    }
}

/// The law as a type.
#[derive(Clone, Copy, Debug)]
pub struct Bdem;

impl BondLaw for Bdem {
    #[inline(always)]
    fn load<T: Real>(at: BondState<T>) -> BondLoad<T> {
        bond(
            at.x,
            at.q_i,
            at.q_j,
            at.unapplied,
            at.rest_direction,
            at.rest_length,
            at.k,
        )
    }
}
