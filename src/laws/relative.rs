//! Bonds with an energy: relative configuration of two bonded elements, and the forces and torques that
//! follow from an energy of it.
//!
//! ```text
//! u = p_j − p_i
//! q_ij = (q_i + q_j)/|q_i + q_j|         the mean rotation; signs aligned
//! d = R(q_ij) d0                         the director: the rest direction turned so
//! σ = sin(φ/4) a,  c = cos(φ/4)          φ a the rotation vector that turns i onto j
//! ```
//! World frame. Both energies of the implicit methods (Lu 2025, eq. 8–11; Zhang 2024, eq. 18–23) are
//! functions V_u(u, d) + V_s(σ, d) of these that do not change when the pair moves as one. With f = ∂V_u/∂u,
//! τ = f × u and g = −(torque of V_s on i) = torque of V_s on −j:
//!
//! ```text
//! force on i  = f                        on j = −f
//! torque on i = ½ u × f + G              on j = ½ u × f − G,  G = g − (τ × σ)/(2c)
//! ```
//! The second term of G arises because the mean rotation is the midpoint of the chord, not the half rotation
//! from i to j.

use super::bond::BondLoad;
use crate::math::quat::Quat;
use crate::math::{Real, Vec3};

/// Relative configuration of two bonded elements.
#[derive(Clone, Copy, Debug)]
pub struct Relative<T> {
    /// p_j − p_i, m.
    pub u: Vec3<T>,
    /// Director.
    pub d: Vec3<T>,
    /// sin(φ/4) a.
    pub sigma: Vec3<T>,
    /// cos(φ/4).
    pub cosine: T,
}

/// First derivatives of an energy, split into the parts that failure criteria need.
#[derive(Clone, Copy, Debug)]
pub struct Gradient<T> {
    /// Signed axial force, tension positive, N.
    pub axial: T,
    /// ∂V_u/∂u, N.
    pub force: Vec3<T>,
    /// Shear force on j, N.
    pub shear: Vec3<T>,
    /// Part of g about the director, N m.
    pub twist: Vec3<T>,
    /// The rest of g, N m.
    pub bend: Vec3<T>,
}

/// Relative configuration; `x` = p_i − p_j; `unapplied` = rotation of j minus that of i not yet included in
/// the quaternions; `rest_direction` = d0 from i to j.
#[inline(always)]
pub fn relative<T: Real>(
    x: Vec3<T>,
    q_i: Quat<T>,
    q_j: Quat<T>,
    unapplied: Vec3<T>,
    rest_direction: Vec3<T>,
) -> Relative<T> {
    let one = T::splat(1.0);
    // q and −q are the same rotation: take the nearer of the two.
    let sign = T::select(q_i.dot(q_j).lt(T::zero()), T::splat(-1.0), one);
    let aligned = Quat {
        v: q_j.v * sign,
        w: q_j.w * sign,
    };
    // The difference of two nearly equal quaternions is exact, so a small rotation keeps its relative precision in f32.
    let difference = Quat {
        v: aligned.v - q_i.v,
        w: aligned.w - q_i.w,
    };
    let sum = Quat {
        v: aligned.v + q_i.v,
        w: aligned.w + q_i.w,
    };
    let square = sum.dot(sum);
    let twice_cosine = square.sqrt();
    // Imaginary part of (q_j − q_i)(q̄_i + q̄_j), 4 c σ long.
    let imaginary = (difference.v * sum.w - sum.v * difference.w) - difference.v.cross(sum.v);
    let turned = sum.v.cross(rest_direction) * (T::splat(2.0) / square);
    Relative {
        u: -x,
        d: rest_direction + turned * sum.w + sum.v.cross(turned),
        sigma: imaginary * (T::splat(0.5) / twice_cosine) + unapplied * T::splat(0.25),
        cosine: twice_cosine * T::splat(0.5),
    }
}

/// Load on element i of a bond with these derivatives.
#[inline(always)]
pub fn load<T: Real>(at: Relative<T>, gradient: Gradient<T>) -> BondLoad<T> {
    let moment = at.u.cross(gradient.force);
    // τ = −u × f.
    let chord = moment.cross(at.sigma) * (T::splat(0.5) / at.cosine);
    BondLoad {
        force: gradient.force,
        moment: gradient.twist + gradient.bend + chord,
        axial: gradient.axial,
        shear: gradient.shear,
        twist: gradient.twist,
        bend: gradient.bend,
    }
}
