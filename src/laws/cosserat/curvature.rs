//! Second derivatives of [`cosserat`](super)'s energy.

use crate::laws::bond::Stiffness;
use crate::laws::relative::Relative;
use crate::laws::tangent::Curvature;
use crate::math::{Mat3, Real};

/// Second derivatives without those of Γ and Ω (Zhang 2024, supplement, eq. 15). 4σ changes with a rotation κ
/// of j against i by (κ − σ(σ·κ))/c to first order.
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
