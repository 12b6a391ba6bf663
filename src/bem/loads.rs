//! Loads on a body: tractions, weight and spin; and the accelerations that they cause (Newton and Euler).

use glam::DVec3;

use super::particular::BodyForce;
use super::surface::Surface;
use super::traction::{SIDE_MIDPOINTS, Traction};

/// Largest ratio of the resultant to the sum of all loads for which loads count as balanced: meshes of curved
/// surfaces do not balance more exactly.
const MAX_IMBALANCE: f64 = 1e-3;

/// Loads on a body.
#[derive(Clone, Copy, Debug)]
pub struct Loads<'a> {
    /// Traction on each panel, Pa.
    pub tractions: &'a [DVec3],
    /// Density, kg/m³; 0 for a body without weight and inertia.
    pub density: f64,
    /// Gravity, m/s².
    pub gravity: DVec3,
    /// Angular velocity, rad/s.
    pub spin: DVec3,
    /// What happens if the loads have a resultant.
    pub balance: Balance,
}

/// What happens if the loads have a resultant: a free body cannot be at rest under them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Balance {
    /// A resultant of more than a thousandth of the loads is an error; inertia balances a smaller one.
    Required,
    /// The body accelerates; its inertia is part of the loads (inertia relief).
    Inertia,
}

/// Why loads are refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LoadError {
    /// The number of tractions is not the number of panels.
    #[error("{tractions} tractions for {panels} triangles; give one for each")]
    Count {
        /// Number of tractions.
        tractions: usize,
        /// Number of panels.
        panels: usize,
    },
    /// A traction is NaN or infinite.
    #[error("the traction on triangle {0} is not finite")]
    NotFinite(usize),
    /// The loads have a resultant.
    #[error(
        "loads on a free body do not balance: resultant force {force} N, moment about the centre of mass {moment} N m; \
         balance them or choose inertia relief"
    )]
    Unbalanced {
        /// Resultant force, N.
        force: DVec3,
        /// Resultant moment about the centre of mass, N m.
        moment: DVec3,
    },
}

/// Resultant force, N, and moment about the centre of mass, N m, of tractions.
fn resultant_of(surface: &Surface, tractions: &[Traction]) -> (DVec3, DVec3) {
    let mut sum = (DVec3::ZERO, DVec3::ZERO);
    for (t, traction) in tractions.iter().enumerate() {
        let [a, b, c] = surface.mesh.corners(t);
        sum.0 += traction.mean() * surface.areas[t];
        for (at, twice) in SIDE_MIDPOINTS.into_iter().zip([a + b, b + c, c + a]) {
            let force = traction.at(at) * (surface.areas[t] / 3.0);
            sum.1 += (twice / 2.0 - surface.mass.centre).cross(force);
        }
    }
    sum
}

impl Loads<'_> {
    /// The tractions, constant on each panel.
    pub fn uniform(&self) -> Vec<Traction> {
        let each = self.tractions.iter();
        each.map(|traction| Traction::uniform(*traction)).collect()
    }

    /// Resultant force, N, and moment about the centre of mass, N m, of weight, of spin and of the given
    /// tractions, which replace those of the loads.
    pub fn resultant(&self, surface: &Surface, tractions: &[Traction]) -> (DVec3, DVec3) {
        let (pull, torque) = resultant_of(surface, tractions);
        let weight = self.gravity * (self.density * surface.mass.volume);
        let momentum = surface.mass.inertia * self.density * self.spin;
        // ω × Jω is not zero if the body does not spin about a principal axis.
        (pull + weight, torque - self.spin.cross(momentum))
    }

    /// Whether loads with these tractions and this resultant balance, up to the discretization error of
    /// curved surfaces.
    pub fn is_balanced(
        &self,
        surface: &Surface,
        tractions: &[Traction],
        (force, moment): (DVec3, DVec3),
    ) -> bool {
        let pairs = tractions.iter().zip(&surface.areas);
        let pulls = pairs.map(|(t, area)| t.mean().length() * area);
        let weight = self.gravity.length() * self.density * surface.mass.volume;
        let all = pulls.sum::<f64>() + weight;
        let momentum = surface.mass.inertia * self.density * self.spin;
        let swing = momentum.length() * self.spin.length();
        let reach = surface.area.sqrt();
        force.length() <= MAX_IMBALANCE * (all + swing / reach)
            && moment.length() <= MAX_IMBALANCE * (all * reach + swing)
    }

    /// The body force, weight minus inertia, that balances the given tractions, which replace those of the
    /// loads.
    pub fn body_force(
        &self,
        surface: &Surface,
        tractions: &[Traction],
    ) -> Result<BodyForce, LoadError> {
        let panels = surface.len();
        if tractions.len() != panels {
            let tractions = tractions.len();
            return Err(LoadError::Count { tractions, panels });
        }
        let is_finite = |t: &Traction| t.corners.iter().all(|t| t.is_finite());
        if let Some(t) = tractions.iter().position(|t| !is_finite(t)) {
            return Err(LoadError::NotFinite(t));
        }
        let (force, moment) = self.resultant(surface, tractions);
        let required = self.balance == Balance::Required;
        if required && !self.is_balanced(surface, tractions, (force, moment)) {
            return Err(LoadError::Unbalanced { force, moment });
        }
        // Per unit of density, so that it also exists for a body without density.
        let (volume, unit) = (surface.mass.volume, surface.mass.inertia);
        let mut field = BodyForce::new(
            self.density,
            surface.mass.centre,
            self.gravity,
            DVec3::ZERO,
            self.spin,
        );
        field.constant -= force / volume;
        field.turning -= unit.inverse() * moment;
        Ok(field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::shapes;

    #[test]
    fn a_body_that_only_spins_about_a_principal_axis_is_balanced() {
        let mesh = shapes::cuboid(DVec3::new(1.0, 2.0, 3.0));
        let surface = Surface::new(&mesh).unwrap();
        let none = vec![DVec3::ZERO; surface.len()];
        let balanced = |spin: DVec3| {
            let loads = Loads {
                tractions: &none,
                density: 2500.0,
                gravity: DVec3::ZERO,
                spin,
                balance: Balance::Inertia,
            };
            let resultant = loads.resultant(&surface, &loads.uniform());
            loads.is_balanced(&surface, &loads.uniform(), resultant)
        };
        assert!(balanced(DVec3::ZERO));
        assert!(balanced(DVec3::new(0.0, 100.0, 1e-12)));
        assert!(!balanced(DVec3::new(0.0, 100.0, 100.0)));
    }

    #[test]
    fn a_resultant_is_an_error_or_accelerates() {
        let mesh = shapes::cuboid(DVec3::new(1.0, 2.0, 3.0));
        let surface = Surface::new(&mesh).unwrap();
        let pull = |n: &DVec3| {
            if n.y > 0.5 {
                DVec3::new(1.0, 5.0, 0.0)
            } else {
                DVec3::ZERO
            }
        };
        let tractions: Vec<DVec3> = surface.normals.iter().map(pull).collect();
        let mut loads = Loads {
            tractions: &tractions,
            density: 2.0,
            gravity: DVec3::ZERO,
            spin: DVec3::ZERO,
            balance: Balance::Required,
        };
        let LoadError::Unbalanced { force, moment } =
            loads.body_force(&surface, &loads.uniform()).unwrap_err()
        else {
            panic!("balanced");
        };
        assert!(force.distance(DVec3::new(3.0, 15.0, 0.0)) < 1e-12);
        assert!(moment.distance(DVec3::new(0.0, 0.0, -3.0)) < 1e-12);
        loads.balance = Balance::Inertia;
        let field = loads.body_force(&surface, &loads.uniform()).unwrap();
        assert!((field.constant * 6.0 + force).length() < 1e-12);
        // J = ρ V (x² + y²)/12 about z.
        let inertia = 6.0 * 5.0 / 12.0;
        assert!((field.turning * inertia + moment).length() < 1e-12);
        loads.tractions = &tractions[1..];
        assert_eq!(
            loads.body_force(&surface, &loads.uniform()).unwrap_err(),
            LoadError::Count {
                tractions: 11,
                panels: 12
            }
        );
    }
}
