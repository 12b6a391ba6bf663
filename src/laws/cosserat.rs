//! Bond of Rod-BDEM (Zhang 2024, eq. 13–23): a Cosserat rod between the centres, an energy:
//!
//! ```text
//! Γ = (shear, shear, u·d/l0 − 1)             in the rod's frame; its shear is (u − (u·d) d)/l0
//! Ω = (2/l0) Im(q̄_ij (q_j − q_i))            here in the world frame: 4σ/l0
//! V = ½ l0 (Γᵀ diag(κ G S, κ G S, E S) Γ + Ωᵀ diag(E I, E I, G J) Ω)
//! ```
//! Eq. 23 leaves out that Ω is taken in the rod's frame, without which its third component is not the twist about the rod. κ is Timoshenko's shear
//! correction; with κ = 1 the law agrees with [`bdem`](super::bdem) to first order.

use super::bdem::{BondLoad, Stiffness};
use super::relative::{self, Gradient, Relative};
use super::tangent::Curvature;
use crate::math::{Mat3, Quat, Real, Vec3};

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

/// Second derivatives without those of Γ and Ω (Zhang 2024, supplement, eq. 15). 4σ changes with a rotation κ of j against i by (κ − σ(σ·κ))/c to
/// first order.
#[inline(always)]
pub fn gauss_newton<T: Real>(at: Relative<T>, rest_length: T, k: Stiffness<T>) -> Curvature<T> {
    let one = T::splat(1.0);
    let axis = Mat3::outer(at.d, at.d);
    let shear = k.shear / rest_length;
    let change = Mat3::diagonal(one) - Mat3::outer(at.sigma, at.sigma);
    let stiff = Mat3::diagonal(k.bend) + axis * (k.twist - k.bend);
    Curvature {
        stretch: Mat3::diagonal(shear) + axis * (k.normal - shear),
        turn: change.product(stiff.product(change)) * (one / (at.cosine * at.cosine)),
    }
}

/// Second derivatives. To second order 4σ changes by (2κ(σ·κ) − σκ²(1 + 2c²) − σ(σ·κ)²)/(8c²) besides.
#[inline(always)]
pub fn curvature<T: Real>(at: Relative<T>, rest_length: T, k: Stiffness<T>) -> Curvature<T> {
    let first = gauss_newton(at, rest_length, k);
    let (one, two) = (T::splat(1.0), T::splat(2.0));
    let square = at.cosine * at.cosine;
    let stiff = Mat3::diagonal(k.bend) + Mat3::outer(at.d, at.d) * (k.twist - k.bend);
    let moment = stiff.times(at.sigma * T::splat(4.0));
    let along = at.sigma.dot(moment);
    let second = Mat3::both_outer(moment, at.sigma)
        - Mat3::diagonal(along * (one + two * square))
        - Mat3::outer(at.sigma, at.sigma) * along;
    Curvature {
        stretch: first.stretch,
        turn: first.turn + second * (T::splat(0.25) / square),
    }
}
