//! Second derivatives of [`manifold`](super)'s energy.

use super::lean;
use crate::laws::bond::Stiffness;
use crate::laws::relative::Relative;
use crate::laws::tangent::Curvature;
use crate::math::{Mat3, Real};

/// Second derivatives.
///
/// With s = sin θ, A = θ/s, e = `across`: ∇²½θ² = (B e eᵀ + A cos θ (1 − n nᵀ) + A (n eᵀ + e nᵀ))/l², B = (1
/// − A cos θ)/s². t changes with a rotation κ of j against i as κ − 2σ(σ·κ) − ½κ² c σ.
#[inline(always)]
pub fn curvature<T: Real>(at: Relative<T>, rest_length: T, k: Stiffness<T>) -> Curvature<T> {
    let lean = lean(at);
    let one = T::splat(1.0);
    let (n, e) = (lean.along, lean.across);
    let flat = Mat3::diagonal(one) - Mat3::outer(n, n);
    // The quotient of two vanishing numbers is ⅓ where both are lost in rounding.
    let level = lean.ratio * lean.cosine;
    let small = lean.sine_squared.lt(T::splat(1e-9));
    let safe = T::select(small, one, lean.sine_squared);
    let b = T::select(small, T::splat(1.0 / 3.0), (one - level) / safe);
    let shear = Mat3::outer(e, e) * b + flat * level + Mat3::both_outer(n, e) * lean.ratio;
    let stretch = lean.length - rest_length;
    let stretched = Mat3::outer(n, n) * k.normal + flat * (k.normal * stretch / lean.length);
    let scale = k.shear * rest_length / (lean.length * lean.length);

    let two = T::splat(2.0);
    let change = Mat3::diagonal(one) - Mat3::outer(at.sigma, at.sigma) * two;
    let stiff = Mat3::diagonal(k.bend) + Mat3::outer(at.d, at.d) * (k.twist - k.bend);
    let moment = stiff.times(at.sigma * (T::splat(4.0) * at.cosine));
    let turned = change.product(stiff.product(change));
    Curvature {
        stretch: stretched + shear * scale,
        turn: turned - Mat3::diagonal(at.cosine * at.sigma.dot(moment)),
    }
}

/// Second derivatives without what forces add to them: positive semi-definite, and exact at rest.
#[inline(always)]
pub fn gauss_newton<T: Real>(at: Relative<T>, rest_length: T, k: Stiffness<T>) -> Curvature<T> {
    let lean = lean(at);
    let one = T::splat(1.0);
    let along = Mat3::outer(lean.along, lean.along);
    let flat = Mat3::diagonal(one) - along;
    let two = T::splat(2.0);
    let change = Mat3::diagonal(one) - Mat3::outer(at.sigma, at.sigma) * two;
    let stiff = Mat3::diagonal(k.bend) + Mat3::outer(at.d, at.d) * (k.twist - k.bend);
    Curvature {
        stretch: along * k.normal + flat * (k.shear * rest_length / (lean.length * lean.length)),
        turn: change.product(stiff.product(change)),
    }
}
