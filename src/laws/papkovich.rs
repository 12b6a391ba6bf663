//! Kelvin's solution by four harmonic potentials (Papkovich 1932, Neuber 1934; Fu, Klimkowski, Rodin et al.,
//! *A fast solution method for three-dimensional many-particle problems of linear elasticity*, 1998), so that
//! sums of it need Laplace's kernel only.
//!
//! ```text
//! P = Σ f / r,  Q = Σ (y·f) / r                                                              r = |x − y|
//! u = [(3 − 4ν) P − Σ_j x_j ∇P_j + ∇Q] / (16π G (1 − ν))
//! ```
//!
//! A source of these potentials at y bears a force density f, N, and a density q of Q, N·m; where q = y·f it
//! is a point force. The rest s = q − y·f, N·m, is a *centre of dilatation*: its displacement is s ∇(1/r) /
//! (16π G (1 − ν)). The functions below give what both do at a distance r in the direction n = (x − y)/r,
//! without the factors that all pairs share. They take 1/r, so that a pair needs one inverse root and no
//! division; where n and 1/r are zero so is what they give. With s = 0 they are [`kelvin`](super::kelvin)'s.

use std::f64::consts::PI;

use crate::math::{Mat3, Real, Vec3};

/// Displacement, m, but for [`displacement_factor`]: `[(3 − 4ν) f + n (n·f)] / r − s n / r²`.
#[inline(always)]
pub fn displacement<T: Real>(
    n: Vec3<T>,
    inverse: T,
    force: Vec3<T>,
    dilatation: T,
    poisson: T,
) -> Vec3<T> {
    let along = (n.dot(force) - dilatation * inverse) * inverse;
    let lateral = (T::splat(3.0) - T::splat(4.0) * poisson) * inverse;
    force * lateral + n * along
}

/// Displacement gradient ∂u_i/∂x_k (row i, column k) but for [`displacement_factor`]:
/// `−[(3 − 4ν) f nᵀ − n fᵀ − (n·f) 1 + 3 (n·f) n nᵀ] / r² − s (1 − 3 n nᵀ) / r³`.
#[inline(always)]
pub fn gradient<T: Real>(
    n: Vec3<T>,
    inverse: T,
    force: Vec3<T>,
    dilatation: T,
    poisson: T,
) -> Mat3<T> {
    let three = T::splat(3.0);
    let along = n.dot(force);
    let spread = dilatation * inverse;
    let lateral = force * (three - T::splat(4.0) * poisson) + n * (three * (along - spread));
    let rest = Mat3::outer(n, force) + Mat3::diagonal(along - spread);
    (rest - Mat3::outer(lateral, n)) * (inverse * inverse)
}

/// Stress xx yy zz yz xz xy, Pa, but for [`stress_factor`]:
/// `[(1 − 2ν) (n fᵀ + f nᵀ − (n·f) 1) + 3 (n·f) n nᵀ] / r² − s (3 n nᵀ − 1) / r³`.
#[inline(always)]
pub fn stress<T: Real>(
    n: Vec3<T>,
    inverse: T,
    force: Vec3<T>,
    dilatation: T,
    poisson: T,
) -> [T; 6] {
    let squared = inverse * inverse;
    let spread = dilatation * inverse;
    let along = n.dot(force);
    let lateral = (T::splat(1.0) - T::splat(2.0) * poisson) * squared;
    let g = force * lateral;
    let h = g + n * (T::splat(3.0) * squared * (along - spread));
    let trace = lateral * along - squared * spread;
    [
        n.x * (g.x + h.x) - trace,
        n.y * (g.y + h.y) - trace,
        n.z * (g.z + h.z) - trace,
        n.y * g.z + n.z * h.y,
        n.x * g.z + n.z * h.x,
        n.x * g.y + n.y * h.x,
    ]
}

/// `1/(16π G (1 − ν))`, with the shear modulus G in Pa.
pub fn displacement_factor(shear: f64, poisson: f64) -> f64 {
    1.0 / (16.0 * PI * shear * (1.0 - poisson))
}

/// `−1/(8π (1 − ν))`.
pub fn stress_factor(poisson: f64) -> f64 {
    -1.0 / (8.0 * PI * (1.0 - poisson))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::kelvin;

    const D: Vec3<f64> = Vec3 {
        x: 0.3,
        y: -0.7,
        z: 1.1,
    };
    const FORCE: Vec3<f64> = Vec3 {
        x: 2.0,
        y: 0.4,
        z: -1.3,
    };

    /// Direction and 1/r.
    fn polar(d: Vec3<f64>) -> (Vec3<f64>, f64) {
        let inverse = 1.0 / d.norm();
        (d * inverse, inverse)
    }

    #[test]
    fn a_force_without_dilatation_is_kelvins() {
        let (n, inverse) = polar(D);
        for poisson in [0.0, 0.3, 0.49] {
            let u =
                displacement(n, inverse, FORCE, 0.0, poisson) * displacement_factor(7.0, poisson);
            let exact = kelvin::displacement(D, FORCE, 7.0, poisson);
            assert!((u - exact).norm() < 1e-15 * exact.norm());
            let slope =
                gradient(n, inverse, FORCE, 0.0, poisson) * displacement_factor(7.0, poisson);
            let off = slope - kelvin::gradient(D, FORCE, 7.0, poisson);
            assert!(off.rows.iter().all(|row| row.norm() < 1e-15));
            let s = stress(n, inverse, FORCE, 0.0, poisson).map(|s| s * stress_factor(poisson));
            let [a, b, c] = kelvin::stress(D, FORCE, poisson).rows;
            for (s, exact) in s.iter().zip([a.x, b.y, c.z, b.z, a.z, a.y]) {
                assert!((s - exact).abs() < 1e-15);
            }
        }
    }

    /// The stress of a centre of dilatation is Hooke's of its displacement, which has no divergence.
    #[test]
    fn a_centre_of_dilatation_obeys_hookes_law() {
        const H: f64 = 1e-5;
        let none = Vec3::zero();
        let axes = [(0, [H, 0.0, 0.0]), (1, [0.0, H, 0.0]), (2, [0.0, 0.0, H])];
        let differences = axes.map(|(_, step)| {
            let step = Vec3::from_f64(step);
            let (a, b) = (D + step, D - step);
            let at = |d| {
                let (n, inverse) = polar(d);
                displacement(n, inverse, none, 1.7, 0.3)
            };
            let u = at(a) - at(b);
            (u * (0.5 / H * displacement_factor(1.0, 0.3))).to_f64()
        });
        let (n, inverse) = polar(D);
        let found = stress(n, inverse, none, 1.7, 0.3).map(|s| s * stress_factor(0.3));
        let pairs = [(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)];
        for (found, (i, j)) in found.iter().zip(pairs) {
            let exact = differences[i][j] + differences[j][i];
            assert!((found - exact).abs() < 1e-9);
        }
        let slope = gradient(n, inverse, none, 1.7, 0.3) * displacement_factor(1.0, 0.3);
        for (column, difference) in slope.transposed().rows.iter().zip(differences) {
            assert!((*column - Vec3::from_f64(difference)).norm() < 1e-9);
        }
    }
}
