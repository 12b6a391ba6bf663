//! Kelvin's solution: what a point force does in an infinite elastic solid (Zhu, Bridson and Greif,
//! *Simulating rigid body fracture with surface meshes*, 2015, §4.2 and supplement §1.4).
//!
//! ```text
//! u = [(3 − 4ν) f + n (n·f)] / (16π G (1 − ν) r)                                             n = (x − y)/r,  r = |x − y|
//! ∇u = −[(3 − 4ν) f nᵀ − n fᵀ − (n·f) 1 + 3 (n·f) n nᵀ] / (16π G (1 − ν) r²)                row i, column k: ∂u_i/∂x_k
//! σ = −[(1 − 2ν) (n fᵀ + f nᵀ − (n·f) 1) + 3 (n·f) n nᵀ] / (8π (1 − ν) r²)
//! ```
//!
//! f: force at y, N; u, σ: displacement (m) and stress (Pa, tension positive) at x; G: shear modulus, Pa; ν:
//! Poisson's ratio below ½. The supplement's eq. 10 builds σ n from gradients of u with misprints; these
//! lines follow from u by Hooke's law.

use std::f64::consts::PI;

use crate::math::{Mat3, Real, Vec3};

/// Displacement, m, at `from_force` = x − y of a force (N) at y.
#[inline(always)]
pub fn displacement<T: Real>(from_force: Vec3<T>, force: Vec3<T>, shear: T, poisson: T) -> Vec3<T> {
    let one = T::splat(1.0);
    let inverse = one / from_force.norm();
    let n = from_force * inverse;
    let scale = inverse / (T::splat(16.0 * PI) * shear * (one - poisson));
    (force * (T::splat(3.0) - T::splat(4.0) * poisson) + n * n.dot(force)) * scale
}

/// Displacement gradient ∂u_i/∂x_k (row i, column k) at `from_force` = x − y of a force (N) at y.
#[inline(always)]
pub fn gradient<T: Real>(from_force: Vec3<T>, force: Vec3<T>, shear: T, poisson: T) -> Mat3<T> {
    let one = T::splat(1.0);
    let inverse = one / from_force.norm();
    let n = from_force * inverse;
    let along = n.dot(force);
    let scale = -(inverse * inverse) / (T::splat(16.0 * PI) * shear * (one - poisson));
    let swept = Mat3::outer(
        force * (T::splat(3.0) - T::splat(4.0) * poisson) + n * (T::splat(3.0) * along),
        n,
    );
    (swept - Mat3::outer(n, force) - Mat3::diagonal(along)) * scale
}

/// Stress, Pa, at `from_force` = x − y of a force (N) at y.
#[inline(always)]
pub fn stress<T: Real>(from_force: Vec3<T>, force: Vec3<T>, poisson: T) -> Mat3<T> {
    let (one, two) = (T::splat(1.0), T::splat(2.0));
    let inverse = one / from_force.norm();
    let n = from_force * inverse;
    let along = n.dot(force);
    let scale = -(inverse * inverse) / (T::splat(8.0 * PI) * (one - poisson));
    let lateral = one - two * poisson;
    let both = Mat3::both_outer(n, force) + Mat3::diagonal(-along);
    let pure = Mat3::outer(n, n * (T::splat(3.0) * along));
    (both * lateral + pure) * scale
}

/// Traction σ n, Pa, at `from_force` = x − y, on the side that the unit normal points out of.
#[inline(always)]
pub fn traction<T: Real>(
    from_force: Vec3<T>,
    force: Vec3<T>,
    normal: Vec3<T>,
    poisson: T,
) -> Vec3<T> {
    stress(from_force, force, poisson).times(normal)
}
