//! Explicit bonded DEM (Lu 2021, §3.1): stretch, shear, bend and twist of a bond between elements i and j.
//!
//! ```text
//! n   = (p_i − p_j)/l                    from j to i, l = |p_i − p_j|
//! F_n = k_n (l − l0) n                   on j                                  k_n = E S/l0
//! F_s = k_s (d̂ − (d̂·n) n)               on j, d̂ = normalised ½(R_i d0 + R_j d0)  k_s = G S, a force per radian
//! M_s = ½ l n × F_s                      on both, by arm_torque
//! Θ   = log(q_j q̄_i)                     rotation vector, angle in [0, π]
//! M_t = k_t (Θ·n) n                      + on i, − on j                        k_t = G J/l0
//! M_b = k_b (Θ − (Θ·n) n)                + on i, − on j                        k_b = E I/l0
//! ```
//!
//! World frame, SI. `k_s (d̂ − (d̂·n) n)` is `k_s sin θ t` of eq. 7 without dividing by a length that
//! vanishes at rest; eq. 14 lacks the closing n. The law conserves linear and angular momentum exactly and
//! has no energy. Exchanging i and j changes the sign of every force bit for bit, so both ends may evaluate
//! the law independently.

use super::bond::{BondLaw, BondLoad, BondState, Stiffness};
use crate::math::quat::{mean_direction, rotation_vector, turn};
use crate::math::{Quat, Real, Vec3};

/// The bond law.
///
/// `x` = p_i − p_j; `rest_direction` = d0 from i to j; `unapplied` = rotation of j minus that of i not yet
/// included in the quaternions.
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
    let length = x.fused_dot(x).sqrt();
    let n = x * (one / length);
    let axial = k.normal * (length - rest_length);

    let turn = turn(q_i, q_j);
    let (d, unit) = mean_direction(turn, rest_direction);
    let across = n.scaled_add(-d.fused_dot(n), d);
    let shear_force = across * (k.shear * unit);

    let theta = rotation_vector(turn) + unapplied;
    let along = theta.fused_dot(n);
    let twist = n * (along * k.twist);
    let bend = n.scaled_add(-along, theta) * k.bend;

    BondLoad {
        force: -n.scaled_add(axial, shear_force),
        moment: n.scaled_add(along * (k.twist - k.bend), theta * k.bend),
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
