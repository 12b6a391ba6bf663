//! Hooke's law of an isotropic solid with small displacements.
//!
//! ```text
//! ε = ½ (∇u + ∇uᵀ)        σ = 2G ε + λ (tr ε) 1        λ = 2Gν/(1 − 2ν)        ψ = ½ σ:ε = [σ:σ − ν/(1 + ν) (tr σ)²] / (4G)
//! ```
//!
//! ∇u: row i, column k is ∂u_i/∂x_k; σ: Pa, tension positive; G: shear modulus, Pa; ν: Poisson's ratio below
//! ½; ψ: energy density, J/m³.

use crate::math::{Mat3, Real, Vec3};

/// Stress, Pa, of a displacement gradient.
#[inline(always)]
pub fn stress<T: Real>(gradient: Mat3<T>, shear: T, poisson: T) -> Mat3<T> {
    let two = T::splat(2.0);
    let lambda = two * shear * poisson / (T::splat(1.0) - two * poisson);
    (gradient + gradient.transposed()) * shear + Mat3::diagonal(lambda * trace(gradient))
}

/// Energy density, J/m³, of a stress.
#[inline(always)]
pub fn energy_density<T: Real>(stress: Mat3<T>, shear: T, poisson: T) -> T {
    let [a, b, c] = stress.rows;
    let squares = a.dot(a) + b.dot(b) + c.dot(c);
    let sum = trace(stress);
    (squares - poisson / (T::splat(1.0) + poisson) * sum * sum) / (T::splat(4.0) * shear)
}

/// ∂u/∂n on a surface with unit normal n, from the traction on it, Pa, and the tangential part of the
/// displacement gradient, `along` (`along` n = 0): σ n = t solved for ∂u/∂n.
#[inline(always)]
pub fn normal_derivative<T: Real>(
    along: Mat3<T>,
    normal: Vec3<T>,
    traction: Vec3<T>,
    (shear, poisson): (T, T),
) -> Vec3<T> {
    let (one, two) = (T::splat(1.0), T::splat(2.0));
    let pull = traction.dot(normal);
    // (t_n − λ div_s u)/(λ + 2G).
    let stretch =
        ((one - two * poisson) / (two * shear) * pull - poisson * trace(along)) / (one - poisson);
    let slide = (traction - normal * pull) * (one / shear) - along.transposed().times(normal);
    slide + normal * stretch
}

/// Sum of the diagonal.
#[inline(always)]
pub fn trace<T: Real>(matrix: Mat3<T>) -> T {
    let [a, b, c] = matrix.rows;
    a.x + b.y + c.z
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gradient() -> Mat3<f64> {
        let rows = [[0.3, -0.2, 0.5], [0.1, 0.7, -0.4], [-0.6, 0.2, -0.1]];
        let [a, b, c] = rows.map(Vec3::from_f64);
        Mat3::new(a, b, c)
    }

    #[test]
    fn energy_is_half_of_stress_times_strain() {
        for poisson in [0.0, 0.3, 0.49] {
            let stress = stress(gradient(), 2.0, poisson);
            let work = trace(stress.product(gradient())) / 2.0;
            let found = energy_density(stress, 2.0, poisson);
            assert!((found / work - 1.0).abs() < 1e-12, "{found} {work}");
        }
    }

    #[test]
    fn normal_derivative_completes_a_gradient() {
        let normal = Vec3::from_f64([2.0 / 7.0, 3.0 / 7.0, 6.0 / 7.0]);
        for poisson in [0.0, 0.3, 0.49] {
            let whole = gradient();
            let expected = whole.times(normal);
            let along = whole - Mat3::outer(expected, normal);
            let traction = stress(whole, 2.0, poisson).times(normal);
            let found = normal_derivative(along, normal, traction, (2.0, poisson));
            assert!((found - expected).norm() < 1e-12);
        }
    }
}
