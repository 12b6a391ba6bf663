//! Bond of Rod-BDEM (Zhang 2024, eq. 13–23): a Cosserat rod between the centres, an energy:
//!
//! ```text
//! Γ = (shear, shear, u·d/l0 − 1)             in the rod's frame; its shear is (u − (u·d) d)/l0
//! Ω = (2/l0) Im(q̄_ij (q_j − q_i))            here in the world frame: 4σ/l0
//! V = ½ l0 (Γᵀ diag(κ G S, κ G S, E S) Γ + Ωᵀ diag(E I, E I, G J) Ω)
//! ```
//! Eq. 23 leaves out that Ω is taken in the rod's frame, without which its third component is not the twist
//! about the rod. κ is Timoshenko's shear correction; with κ = 1 the law agrees with [`bdem`](super::bdem) to
//! first order.

mod curvature;

pub use curvature::{curvature, gauss_newton};

use super::bond::{BondLoad, Stiffness, Thickness};
use super::energy::energy_law;
use super::relative::{self, Gradient, Relative};
use crate::math::{Quat, Real, Vec3};

energy_law!(
    Cosserat,
    THICKNESS: Thickness = Thickness::Smaller,
    SHEAR_CORRECTED: bool = true
);

/// κ of a circular section.
pub const SHEAR_CORRECTION: f64 = 5.0 / 6.0;

/// V, J; `k.shear` is κ G S.
#[inline(always)]
pub fn energy<T: Real>(at: Relative<T>, rest_length: T, k: Stiffness<T>) -> T {
    let along = at.u.dot(at.d);
    let across = at.u - at.d * along;
    let stretch = along - rest_length;
    let shear = k.shear / rest_length * across.dot(across);
    let t = at.sigma * T::splat(4.0);
    let twist = t.dot(at.d);
    let bend = t - at.d * twist;
    let turn = k.bend * bend.dot(bend) + k.twist * twist * twist;
    (k.normal * stretch * stretch + shear + turn) * T::splat(0.5)
}

/// First derivatives.
#[inline(always)]
pub fn gradient<T: Real>(at: Relative<T>, rest_length: T, k: Stiffness<T>) -> Gradient<T> {
    let along = at.u.dot(at.d);
    let axial = k.normal * (along - rest_length);
    let shear = (at.d * along - at.u) * (k.shear / rest_length);
    let t = at.sigma * T::splat(4.0);
    let about = at.d * t.dot(at.d);
    let twist = about * k.twist;
    let bend = (t - about) * k.bend;
    let scale = T::splat(1.0) / at.cosine;
    Gradient {
        axial,
        force: at.d * axial - shear,
        shear,
        twist: (twist - at.sigma * at.sigma.dot(twist)) * scale,
        bend: (bend - at.sigma * at.sigma.dot(bend)) * scale,
    }
}

/// The bond law; arguments as those of [`bdem::bond`](super::bdem::bond), `k.shear` κ G S.
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
    let at = relative::relative(x, q_i, q_j, unapplied, rest_direction);
    relative::load(at, gradient(at, rest_length, k))
}
