//! Kelvin's solution of forces spread over a region with constant density, from the biharmonic potential of
//! the region (Galerkin's vector; Mindlin 1936).
//!
//! ```text
//! Ψ(x) = ∫ |x − y| dy        ∇²Ψ = 2Φ,  Φ(x) = ∫ 1/|x − y| dy        H = ∇∇Ψ        T = ∇∇∇Ψ
//! u_i      = [4(1 − ν) Φ f_i − H_ij f_j] / (16π G (1 − ν))
//! ∂u_i/∂x_k = [4(1 − ν) ∂_kΦ f_i − T_ijk f_j] / (16π G (1 − ν))
//! ```
//!
//! f: force over the measure of the region (a point, an area, m²), N, N/m²; u: displacement, m; G: shear
//! modulus, Pa; ν: Poisson's ratio. With Ψ = |x − y| this is the point force of [`kelvin`](super::kelvin).

use std::f64::consts::PI;

use crate::math::{Mat3, Real, Vec3};

/// Displacement, m, from Φ and H.
#[inline(always)]
pub fn displacement<T: Real>(
    (phi, second): (T, Mat3<T>),
    force: Vec3<T>,
    shear: T,
    poisson: T,
) -> Vec3<T> {
    let rest = T::splat(1.0) - poisson;
    let scale = T::splat(1.0) / (T::splat(16.0 * PI) * shear * rest);
    (force * (T::splat(4.0) * rest * phi) - second.times(force)) * scale
}

/// Displacement gradient ∂u_i/∂x_k (row i, column k) from ∇Φ and f·T, the matrix f_k T_ijk.
#[inline(always)]
pub fn gradient<T: Real>(
    (slope, along_force): (Vec3<T>, Mat3<T>),
    force: Vec3<T>,
    shear: T,
    poisson: T,
) -> Mat3<T> {
    let rest = T::splat(1.0) - poisson;
    let scale = T::splat(1.0) / (T::splat(16.0 * PI) * shear * rest);
    (Mat3::outer(force, slope * (T::splat(4.0) * rest)) - along_force) * scale
}

/// 2G U − 1/(4πr), integrated: what the double layer of a displacement does with the density of the
/// tangential derivatives m_i = n_j ∂_iu_j − n_i ∂_ju_j, besides the harmonic double layer of u (Kupradze
/// 1979, ch. V; Han 1994): ∫ (traction of U)ᵀ u dS = ∫ u ∂(1/4πr)/∂n dS + ∫ (2G U − 1/(4πr)) m dS over a
/// closed surface.
#[inline(always)]
pub fn swept<T: Real>((phi, second): (T, Mat3<T>), poisson: T) -> Mat3<T> {
    let rest = T::splat(1.0) - poisson;
    let scale = T::splat(1.0) / (T::splat(8.0 * PI) * rest);
    Mat3::diagonal(phi * T::splat(1.0 / (4.0 * PI))) - second * scale
}
