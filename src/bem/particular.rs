//! A displacement field whose stress balances a body force f = b + B r that is linear in position: weight,
//! inertia and centrifugal forces.
//!
//! With B r = c × r + s r + D r (D symmetric and traceless) and r the position relative to the centre,
//! polynomials u_p with div σ_p + f = 0 are
//!
//! ```text
//! u_p = −[r² b − ½ (b·r) r]/(5G) − r² (c × r)/(10G) − (1 − 2ν) s r² r/(20G (1 − ν)) − [5 r² D r − 2 (r·D r) r]/(42G)
//! ```
//!
//! All terms but the third are free of divergence, so that nothing grows as ν approaches ½. They follow from
//! Navier's equation G ∇²u + G/(1 − 2ν) ∇(∇·u) + f = 0 and from ∇²(r² p) = 10 p and ∇²((r·D r) r) = 4 D r, p
//! being linear.

use glam::{DMat3, DVec3};

use super::elastic::Elastic;
use super::surface::to_vec3;
use super::triangle::Mat3d;
use crate::math::{Mat3, Vec3};

/// A body force, N/m³: b + c × r + s r + D r, with r from the centre, m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyForce {
    /// Origin of r, m.
    pub centre: DVec3,
    /// b, N/m³.
    pub constant: DVec3,
    /// c, N/m⁴.
    pub turning: DVec3,
    /// s, N/m⁴.
    pub spreading: f64,
    /// D, N/m⁴.
    pub deviator: DMat3,
}

impl BodyForce {
    /// Weight and inertia: ρ (g − a − α × r − ω × (ω × r)).
    ///
    /// `density` ρ, kg/m³; `fall` = g − a, m/s²; `turning` α, rad/s²; `spin` ω, rad/s; r from `centre`.
    pub fn new(density: f64, centre: DVec3, fall: DVec3, turning: DVec3, spin: DVec3) -> Self {
        let squared = spin.length_squared();
        let outer = DMat3::from_cols(spin * spin.x, spin * spin.y, spin * spin.z);
        // −ω × (ω × r) = ω² r − (ω·r) ω, of trace 2ω².
        let third = DMat3::from_diagonal(DVec3::splat(squared / 3.0));
        BodyForce {
            centre,
            constant: fall * density,
            turning: turning * -density,
            spreading: density * squared * 2.0 / 3.0,
            deviator: (third - outer) * density,
        }
    }

    /// Body force f at x, N/m³.
    pub fn at(&self, x: DVec3) -> DVec3 {
        let r = x - self.centre;
        self.constant + self.turning.cross(r) + r * self.spreading + self.deviator * r
    }

    /// Particular displacement u_p at x, m.
    pub fn displacement(&self, x: DVec3, elastic: Elastic) -> DVec3 {
        let (r, [first, second, third, fourth]) = (x - self.centre, factors(elastic));
        let squared = r.length_squared();
        let pulled = self.deviator * r;
        (self.constant * squared - r * (self.constant.dot(r) / 2.0)) * first
            + self.turning.cross(r) * (squared * second)
            + r * (self.spreading * squared * third)
            + (pulled * (5.0 * squared) - r * (2.0 * r.dot(pulled))) * fourth
    }

    /// Gradient ∂u_i/∂x_k (row i, column k) of u_p at x.
    pub fn gradient(&self, x: DVec3, elastic: Elastic) -> Mat3d {
        let [first, second, third, fourth] = factors(elastic);
        let offset = x - self.centre;
        let squared = offset.length_squared();
        let (r, b, c) = (
            to_vec3(offset),
            to_vec3(self.constant),
            to_vec3(self.turning),
        );
        let pulled = to_vec3(self.deviator * offset);
        let [p, q, s] = [0, 1, 2].map(|k| to_vec3(self.deviator.row(k)));
        let deviator = Mat3::new(p, q, s);
        let constant =
            Mat3::outer(b, r * 2.0) - (Mat3::outer(r, b) + Mat3::diagonal(b.dot(r))) * 0.5;
        let turning = Mat3::outer(c.cross(r), r * 2.0) + Mat3::cross(c) * squared;
        let spreading = Mat3::outer(r, r * 2.0) + Mat3::diagonal(squared);
        let deviating = (Mat3::outer(pulled, r * 2.0) + deviator * squared) * 5.0
            - (Mat3::outer(r, pulled * 2.0) + Mat3::diagonal(r.dot(pulled))) * 2.0;
        constant * first
            + turning * second
            + spreading * (self.spreading * third)
            + deviating * fourth
    }

    /// Rotation ½ curl u_p at x, rad.
    pub fn rotation(&self, x: DVec3, elastic: Elastic) -> DVec3 {
        half_curl(self.gradient(x, elastic))
    }
}

/// Rotation of a displacement gradient, ½ curl u.
pub fn half_curl(gradient: Mat3d) -> DVec3 {
    let [a, b, c] = gradient.rows;
    let curl: Vec3<f64> = Vec3::new(c.y - b.z, a.z - c.x, b.x - a.y);
    DVec3::from(curl.to_f64()) / 2.0
}

/// The factors of the four terms of u_p: −1/(5G), −1/(10G), −(1 − 2ν)/(20G (1 − ν)), −1/(42G).
fn factors(elastic: Elastic) -> [f64; 4] {
    let Elastic { shear, poisson } = elastic;
    let third = (1.0 - 2.0 * poisson) / (20.0 * (1.0 - poisson));
    [0.2, 0.1, third, 1.0 / 42.0].map(|factor| -factor / shear)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::hooke;

    fn force() -> BodyForce {
        BodyForce::new(
            2.0,
            DVec3::new(0.1, -0.2, 0.3),
            DVec3::new(1.0, 2.0, -3.0),
            DVec3::new(-0.5, 0.8, 0.2),
            DVec3::new(1.0, -0.4, 0.7),
        )
    }

    const PLACE: DVec3 = DVec3::new(0.7, 0.5, -0.9);

    #[test]
    fn force_is_that_of_the_accelerations() {
        let (fall, turning) = (DVec3::new(1.0, 2.0, -3.0), DVec3::new(-0.5, 0.8, 0.2));
        let (spin, r) = (DVec3::new(1.0, -0.4, 0.7), PLACE - force().centre);
        let expected = (fall - turning.cross(r) - spin.cross(spin.cross(r))) * 2.0;
        assert!(force().at(PLACE).distance(expected) < 1e-14);
    }

    #[test]
    fn stress_of_the_particular_solution_carries_the_force() {
        let step = 1e-4;
        for poisson in [0.0, 0.2, 0.4, 0.49] {
            let elastic = Elastic {
                shear: 3.0,
                poisson,
            };
            let mut divergence = DVec3::ZERO;
            for axis in DVec3::AXES {
                let [up, down] = [step, -step].map(|s| PLACE + axis * s);
                let difference = (force().displacement(up, elastic)
                    - force().displacement(down, elastic))
                    / (2.0 * step);
                let found = force().gradient(PLACE, elastic).times(to_vec3(axis));
                assert!(difference.distance(DVec3::from(found.to_f64())) < 1e-7);
                let stress = |x| {
                    let gradient = force().gradient(x, elastic);
                    hooke::stress(gradient, elastic.shear, poisson)
                };
                let change = (stress(up) - stress(down)).times(to_vec3(axis)) * (0.5 / step);
                divergence += DVec3::from(change.to_f64());
            }
            let off = divergence + force().at(PLACE);
            assert!(off.length() < 1e-8, "{poisson}: {off}");
        }
    }
}
