//! Second derivatives of a bond's energy in the six unknowns of each end, ξ = (dp, dθ) with q ← exp(dθ/2) q.
//!
//! A change of both ends is expressed by w = dp_j − dp_i, δ = dθ_j − dθ_i and the change of the mean
//! rotation, ρ = ½(dθ_i + dθ_j) − (σ × δ)/(2c). To second order
//!
//! ```text
//! V = ½ (w + u×ρ)ᵀ H_u (w + u×ρ) − w·(f×ρ) + ½[(f·ρ)(u·ρ) − (f·u)ρ²]
//!   + [(τ·ρ)(σ·δ) − (σ·τ)(ρ·δ)]/(4c) − ½ g·(ρ×δ)
//!   + ½ δᵀ H_κ δ − [(g·δ)(σ·δ) − (g·σ)δ²]/(4c)
//! ```
//! with the letters of [`relative`](super::relative). V is invariant under common translations of both ends,
//! so nine unknowns suffice. The Gauss–Newton form keeps only the terms with H_u and H_κ and, if these have
//! none, has no negative eigenvalue.

use super::relative::{Gradient, Relative};
use crate::math::{Mat3, Real, Vec3, eigen};

/// Second derivatives of an energy with respect to u, and to a rotation κ of j relative to i.
#[derive(Clone, Copy, Debug)]
pub struct Curvature<T> {
    /// H_u, N/m.
    pub stretch: Mat3<T>,
    /// H_κ, N m.
    pub turn: Mat3<T>,
}

/// Second derivatives with respect to w, dθ_i and dθ_j.
#[derive(Clone, Copy, Debug)]
pub struct Tangent<T> {
    /// With respect to w and w, N/m.
    pub ww: Mat3<T>,
    /// With respect to w and dθ_i, N.
    pub wi: Mat3<T>,
    /// With respect to w and dθ_j, N.
    pub wj: Mat3<T>,
    /// With respect to dθ_i and dθ_i, N m.
    pub ii: Mat3<T>,
    /// With respect to dθ_i and dθ_j, N m.
    pub ij: Mat3<T>,
    /// Second derivative with respect to dθ_j twice, N m.
    pub jj: Mat3<T>,
}

/// The exact second derivatives.
#[inline(always)]
pub fn exact<T: Real>(at: Relative<T>, first: Gradient<T>, second: Curvature<T>) -> Tangent<T> {
    let (f, g, u, sigma) = (first.force, first.twist + first.bend, at.u, at.sigma);
    let tau = f.cross(u);
    let quarter = T::splat(0.25) / at.cosine;
    let half = T::splat(0.5);
    let lever = Mat3::cross(u);
    let moved = second.stretch.product(lever);
    let rho_rho = lever.transposed().product(moved) + Mat3::both_outer(f, u) * half
        - Mat3::diagonal(f.dot(u));
    let rho_delta = (Mat3::outer(tau, sigma) - Mat3::diagonal(sigma.dot(tau))) * quarter
        + Mat3::cross(g) * half;
    let chord = Mat3::both_outer(g, sigma) - Mat3::diagonal(T::splat(2.0) * g.dot(sigma));
    joined(
        at,
        second.stretch,
        moved - Mat3::cross(f),
        rho_rho,
        rho_delta,
        second.turn - chord * quarter,
    )
}

/// The Gauss–Newton form.
#[inline(always)]
pub fn gauss_newton<T: Real>(at: Relative<T>, second: Curvature<T>) -> Tangent<T> {
    let lever = Mat3::cross(at.u);
    let moved = second.stretch.product(lever);
    joined(
        at,
        second.stretch,
        moved,
        lever.transposed().product(moved),
        Mat3::diagonal(T::zero()),
        second.turn,
    )
}

/// Transforms derivatives with respect to w, ρ and δ to w and the rotations of both ends.
#[inline(always)]
fn joined<T: Real>(
    at: Relative<T>,
    ww: Mat3<T>,
    w_rho: Mat3<T>,
    rho_rho: Mat3<T>,
    rho_delta: Mat3<T>,
    delta_delta: Mat3<T>,
) -> Tangent<T> {
    let half = Mat3::diagonal(T::splat(0.5));
    let chord = Mat3::cross(at.sigma) * (T::splat(0.5) / at.cosine);
    let (from_i, from_j) = (half + chord, half - chord);
    let (to_i, to_j) = (from_i.transposed(), from_j.transposed());
    let (mixed_i, mixed_j) = (to_i.product(rho_delta), to_j.product(rho_delta));
    let turned_j = rho_rho.product(from_j);
    Tangent {
        ww,
        wi: w_rho.product(from_i),
        wj: w_rho.product(from_j),
        ii: to_i.product(rho_rho.product(from_i)) - mixed_i - mixed_i.transposed() + delta_delta,
        ij: to_i.product(turned_j) + mixed_i - mixed_j.transposed() - delta_delta,
        jj: to_j.product(turned_j) + mixed_j + mixed_j.transposed() + delta_delta,
    }
}

impl Tangent<f64> {
    /// The zero tangent.
    pub fn zero() -> Self {
        let none = Mat3::diagonal(0.0);
        Tangent {
            ww: none,
            wi: none,
            wj: none,
            ii: none,
            ij: none,
            jj: none,
        }
    }

    /// Sum with the tangent of another bond between the same ends.
    pub fn plus(self, other: Self) -> Self {
        Tangent {
            ww: self.ww + other.ww,
            wi: self.wi + other.wi,
            wj: self.wj + other.wj,
            ii: self.ii + other.ii,
            ij: self.ij + other.ij,
            jj: self.jj + other.jj,
        }
    }

    /// All derivatives times `factor`.
    pub fn scaled(self, factor: f64) -> Self {
        Tangent {
            ww: self.ww * factor,
            wi: self.wi * factor,
            wj: self.wj * factor,
            ii: self.ii * factor,
            ij: self.ij * factor,
            jj: self.jj * factor,
        }
    }

    /// Projection to the nearest tangent without negative eigenvalues; rotations are multiplied by `length`
    /// (m) so that all unknowns are lengths.
    pub fn projected(self, length: f64) -> Self {
        let (once, twice) = (1.0 / length, 1.0 / (length * length));
        let (wi, wj) = (self.wi * once, self.wj * once);
        let (ii, ij, jj) = (self.ii * twice, self.ij * twice, self.jj * twice);
        // In terms of dp_i, dp_j, dθ_i and dθ_j, in which the matrix of all bonds is the sum of theirs. With
        // w the result would be the same except for the scale of w.
        let root = std::f64::consts::SQRT_2;
        let bands = [
            [self.ww * 2.0, wi * root, wj * root],
            [wi.transposed() * root, ii, ij],
            [wj.transposed() * root, ij.transposed(), jj],
        ];
        let full: [[f64; 9]; 9] = std::array::from_fn(|row| {
            std::array::from_fn(|column| {
                bands[row / 3][column / 3].rows[row % 3].to_f64()[column % 3]
            })
        });
        let (values, vectors) = eigen(full);
        if values.iter().all(|&value| value >= 0.0) {
            return self;
        }
        let block = |row: usize, column: usize, scale: f64| {
            let entry = |r: usize, c: usize| {
                let kept = values
                    .iter()
                    .zip(&vectors)
                    .filter(|(value, _)| **value > 0.0);
                let sum: f64 = kept
                    .map(|(value, v)| value * v[3 * row + r] * v[3 * column + c])
                    .sum();
                sum * scale
            };
            let line = |r: usize| Vec3::new(entry(r, 0), entry(r, 1), entry(r, 2));
            Mat3::new(line(0), line(1), line(2))
        };
        Tangent {
            ww: block(0, 0, 0.5),
            wi: block(0, 1, length / root),
            wj: block(0, 2, length / root),
            ii: block(1, 1, length * length),
            ij: block(1, 2, length * length),
            jj: block(2, 2, length * length),
        }
    }
}
