//! Displacement, its gradient, stress and energy density at a point of the solid.

use glam::{DMat3, DVec3};

use super::elastic::Elastic;
use super::triangle::Mat3d;
use crate::laws::hooke;
use crate::math::{Vec3, eigen};

/// Displacement, its gradient, stress and energy density at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field {
    /// Displacement u, m.
    pub displacement: DVec3,
    /// Displacement gradient ∂u_i/∂x_k: row i, column k.
    pub gradient: DMat3,
    /// Stress σ, Pa, tension positive.
    pub stress: DMat3,
    /// Elastic energy density ½ σ:ε, J/m³.
    pub energy_density: f64,
}

/// Principal stresses, the largest first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrincipalStresses {
    /// The stresses, Pa.
    pub values: [f64; 3],
    /// Their directions, unit vectors at right angles.
    pub directions: [DVec3; 3],
}

impl Field {
    /// From displacement, m, and its gradient, by Hooke's law.
    pub fn new(displacement: DVec3, gradient: Mat3d, elastic: Elastic) -> Self {
        let Elastic { shear, poisson } = elastic;
        let stress = hooke::stress(gradient, shear, poisson);
        Field {
            displacement,
            gradient: matrix(gradient),
            stress: matrix(stress),
            energy_density: hooke::energy_density(stress, shear, poisson),
        }
    }

    /// Principal stresses.
    pub fn principal(&self) -> PrincipalStresses {
        let (values, directions) = eigen(self.stress.to_cols_array_2d());
        let mut order = [0, 1, 2];
        order.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
        PrincipalStresses {
            values: order.map(|k| values[k]),
            directions: order.map(|k| DVec3::from(directions[k])),
        }
    }
}

/// Converts to a glam matrix.
pub fn matrix(m: Mat3d) -> DMat3 {
    DMat3::from_cols_array_2d(&m.transposed().rows.map(Vec3::to_f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Mat3;

    #[test]
    fn a_pulled_rod_has_one_principal_stress() {
        let (young, poisson) = (3.0, 0.25);
        let elastic = Elastic::new(young, poisson).unwrap();
        let axis = Vec3::from_f64([2.0 / 7.0, 3.0 / 7.0, 6.0 / 7.0]);
        // Stretch along the axis, contraction across it.
        let gradient = Mat3::outer(axis, axis * (1.0 + poisson)) - Mat3::diagonal(poisson);
        let field = Field::new(DVec3::ZERO, gradient, elastic);
        let found = field.principal();
        assert!((found.values[0] - young).abs() < 1e-14);
        assert!(found.values[1].abs() < 1e-14 && found.values[2].abs() < 1e-14);
        let along = found.directions[0].dot(DVec3::from(axis.to_f64()));
        assert!((along.abs() - 1.0).abs() < 1e-14);
        assert!((field.energy_density - young / 2.0).abs() < 1e-14);
    }
}
