//! Gradients of the energy density and of the stress inside a solid (Zhu, Bridson and Greif 2015, supplement,
//! §3.1), where a fracture follows the gradient of the energy.
//!
//! ```text
//! ∂ψ = σ:∂ε        ∂s_i = u_iᵀ ∂F v_i  for F = Σ s_i u_i v_iᵀ        ∂σ_i = n_iᵀ ∂σ n_i
//! ```
//!
//! F is the displacement gradient, ψ = ½ σ:ε the energy density, σ_i a principal stress with direction n_i.

use glam::{DMat3, DVec3};

use super::elastic::Elastic;
use super::field::{Field, matrix};
use super::triangle::Mat3d;
use crate::laws::hooke;
use crate::math::eigen;

/// Gradients at a point. If singular values or principal stresses are equal, their gradients depend on the
/// choice of directions. The gradient of a singular value 0 has an arbitrary sign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldGradients {
    /// ∇ψ, J/m⁴.
    pub energy_density: DVec3,
    /// Singular values of the displacement gradient, the largest first.
    pub singular_values: [f64; 3],
    /// Their gradients, 1/m.
    pub singular: [DVec3; 3],
    /// Gradients of the principal stresses, in the order of [`Field::principal`], Pa/m.
    pub principal: [DVec3; 3],
}

impl FieldGradients {
    /// From the field and the derivatives of the displacement gradient along x, y and z, 1/m.
    pub fn new(field: &Field, derivatives: [Mat3d; 3], elastic: Elastic) -> Self {
        let Elastic { shear, poisson } = elastic;
        let stresses = derivatives.map(|m| matrix(hooke::stress(m, shear, poisson)));
        let gradients = derivatives.map(matrix);
        let along = |of: &dyn Fn(usize) -> f64| DVec3::new(of(0), of(1), of(2));
        let directions = field.principal().directions;
        let decomposed = singular(field.gradient);
        FieldGradients {
            // The stress is symmetric, so that σ:∂ε = σ:∂F.
            energy_density: along(&|k| {
                (0..3)
                    .map(|c| field.stress.col(c).dot(gradients[k].col(c)))
                    .sum()
            }),
            singular_values: decomposed.map(|(value, ..)| value),
            singular: decomposed.map(|(_, left, right)| along(&|k| left.dot(gradients[k] * right))),
            principal: directions.map(|n| along(&|k| n.dot(stresses[k] * n))),
        }
    }
}

/// Singular values with their left and right vectors, the largest first.
fn singular(m: DMat3) -> [(f64, DVec3, DVec3); 3] {
    let (values, vectors) = eigen((m.transpose() * m).to_cols_array_2d());
    let mut order = [0, 1, 2];
    order.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
    let right = order.map(|k| DVec3::from(vectors[k]));
    let images = right.map(|v| m * v);
    let first = images[0].normalize_or(DVec3::X);
    // The component of the second at right angles to the first: images of small singular values are mostly
    // rounding errors.
    let second = images[1] - first * first.dot(images[1]);
    let second = second.normalize_or(first.any_orthonormal_vector());
    let third = first.cross(second);
    let third = third
        * if third.dot(images[2]) < 0.0 {
            -1.0
        } else {
            1.0
        };
    let left = [first, second, third];
    [0, 1, 2].map(|k| (left[k].dot(images[k]), left[k], right[k]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn singular_vectors_make_the_matrix_again() {
        let askew = DMat3::from_cols(
            DVec3::new(0.3, -0.2, 0.5),
            DVec3::new(0.1, 0.7, -0.4),
            DVec3::new(-0.6, 0.2, -0.1),
        );
        let outer = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z);
        let flat = outer(DVec3::new(1.0, 2.0, 3.0), DVec3::new(0.3, -0.1, 0.2));
        for m in [askew, -askew, flat, DMat3::IDENTITY] {
            let parts = singular(m);
            let sum = parts.map(|(value, left, right)| outer(left, right) * value);
            assert!((sum[0] + sum[1] + sum[2]).abs_diff_eq(m, 1e-12));
            assert!(parts[0].0 >= parts[1].0 && parts[1].0 >= parts[2].0 && parts[2].0 >= -1e-12);
            for (_, left, right) in parts {
                assert!((left.length() - 1.0).abs() < 1e-12);
                assert!((right.length() - 1.0).abs() < 1e-12);
            }
        }
    }
}
