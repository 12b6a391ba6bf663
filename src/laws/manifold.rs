//! Bond of the implicit method with manifold optimisation (Lu 2025, eq. 8–11), an energy:
//!
//! ```text
//! V = ½ k_n (l − l0)² + ½ k_s l0 θ² + ½ tᵀ diag(k_b, k_b, k_t) t
//! θ: angle between u/l and the director d      t = 2 Im(q̄_i q_j), here in the world frame: 4 c σ
//! ```
//! k_n = E S/l0 (N/m), k_s = G S (N/rad), k_b = E I/l0, k_t = G J/l0 (N m), the last along d. The paper
//! prints k_s = G S/l0 in the shear energy, which is no energy, and leaves out the 2 of t, which makes
//! bending four times too soft.

mod curvature;

pub use curvature::{curvature, gauss_newton};

use super::bond::{BondLoad, Stiffness};
use super::energy::energy_law;
use super::relative::{self, Gradient, Relative};
use crate::math::quat::wide_angle_ratio;
use crate::math::{Mask, Quat, Real, Vec3};

energy_law!(Manifold);

/// Direction from i to j against the director.
#[derive(Clone, Copy, Debug)]
pub struct Lean<T> {
    /// l, m.
    pub length: T,
    /// u/l.
    pub along: Vec3<T>,
    /// d − cos θ u/l, sin θ long.
    pub across: Vec3<T>,
    /// cos θ.
    pub cosine: T,
    /// sin² θ.
    pub sine_squared: T,
    /// θ/sin θ.
    pub ratio: T,
}

/// Direction from i to j against the director.
#[inline(always)]
pub fn lean<T: Real>(at: Relative<T>) -> Lean<T> {
    let length = at.u.norm();
    let along = at.u * (T::splat(1.0) / length);
    let cosine = along.dot(at.d);
    let across = at.d - along * cosine;
    let sine_squared = across.dot(across);
    let ahead = T::zero().lt(cosine);
    let near = sine_squared.lt(T::splat(0.0625)) & ahead;
    let small = T::asin_ratio(sine_squared);
    let ratio = if near.all() {
        small
    } else {
        T::select(near, small, wide_ratio(sine_squared, cosine))
    };
    Lean {
        length,
        along,
        across,
        cosine,
        sine_squared,
        ratio,
    }
}

/// θ/sin θ of any angle; turned right back, where it has no limit, as large as single precision can still make use of.
#[inline(always)]
fn wide_ratio<T: Real>(sine_squared: T, cosine: T) -> T {
    let acute = wide_angle_ratio(sine_squared, cosine.abs());
    let sine = sine_squared.sqrt().max(T::splat(1e-6));
    let obtuse = T::splat(std::f64::consts::PI) / sine - acute;
    T::select(cosine.lt(T::zero()), obtuse, acute)
}

/// V, J.
#[inline(always)]
pub fn energy<T: Real>(at: Relative<T>, rest_length: T, k: Stiffness<T>) -> T {
    let lean = lean(at);
    let stretch = lean.length - rest_length;
    let angle_squared = lean.ratio * lean.ratio * lean.sine_squared;
    let t = at.sigma * (T::splat(4.0) * at.cosine);
    let along = t.dot(at.d);
    let across = t - at.d * along;
    let turn = k.bend * across.dot(across) + k.twist * along * along;
    (k.normal * stretch * stretch + k.shear * rest_length * angle_squared + turn) * T::splat(0.5)
}

/// First derivatives.
#[inline(always)]
pub fn gradient<T: Real>(at: Relative<T>, rest_length: T, k: Stiffness<T>) -> Gradient<T> {
    let lean = lean(at);
    let axial = k.normal * (lean.length - rest_length);
    let shear = lean.across * (k.shear * rest_length * lean.ratio / lean.length);
    let t = at.sigma * (T::splat(4.0) * at.cosine);
    let along = at.d * t.dot(at.d);
    let twist = along * k.twist;
    let bend = (t - along) * k.bend;
    let two = T::splat(2.0);
    Gradient {
        axial,
        force: lean.along * axial - shear,
        shear,
        twist: twist - at.sigma * (two * at.sigma.dot(twist)),
        bend: bend - at.sigma * (two * at.sigma.dot(bend)),
    }
}

/// The bond law; arguments as those of [`bdem::bond`](super::bdem::bond).
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
