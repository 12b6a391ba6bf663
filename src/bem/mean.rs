//! Mean displacement and rotation over the solid, from the solution on its surface.
//!
//! The mean of u follows from Betti's theorem with the fields of unit body forces e_k, which
//! [`particular`](super::particular) provides: ∫ u_k dV = ∮ (u⁽ᵏ⁾·t − u·t⁽ᵏ⁾) dS for a field u without body
//! force. The mean rotation is ½ ∮ n × u dS / V.

use glam::{DMat3, DVec3};

use super::basis::Basis;
use super::elastic::Elastic;
use super::particular::BodyForce;
use super::points::{SIX_POINTS, place};
use super::surface::{Surface, to_vec3};
use super::traction::Traction;
use crate::laws::hooke;

/// Mean displacement, m, and mean of ½ curl u, rad, over the solid.
pub type MeanMotion = (DVec3, DVec3);

/// Mean motion of a field without body force, from the tractions on the panels and the displacements of the
/// nodes, m.
pub fn of_layer(
    basis: &Basis,
    elastic: Elastic,
    tractions: &[Traction],
    u: &[[f64; 3]],
) -> MeanMotion {
    let surface = basis.surface;
    let units = DVec3::AXES
        .map(|axis| BodyForce::new(1.0, surface.mass.centre, axis, DVec3::ZERO, DVec3::ZERO));
    let values: Vec<_> = SIX_POINTS.iter().map(|(at, _)| basis.values(*at)).collect();
    let (mut displacement, mut rotation) = (DVec3::ZERO, DVec3::ZERO);
    for (t, traction) in tractions.iter().enumerate() {
        let normal = surface.normals[t];
        for ((at, share), values) in SIX_POINTS.iter().zip(&values) {
            let area = surface.areas[t] * share;
            let here = DVec3::from(basis.field(t, values, u).to_f64());
            rotation += normal.cross(here) * (area / 2.0);
            let (x, traction) = (place(surface, t, at), traction.at(*at));
            for (k, unit) in units.iter().enumerate() {
                let gradient = unit.gradient(x, elastic);
                let stress = hooke::stress(gradient, elastic.shear, elastic.poisson);
                let pull = DVec3::from(stress.times(to_vec3(normal)).to_f64());
                let work = unit.displacement(x, elastic).dot(traction) - here.dot(pull);
                displacement[k] += work * area;
            }
        }
    }
    (
        displacement / surface.mass.volume,
        rotation / surface.mass.volume,
    )
}

/// Mean motion of the particular field of a body force.
pub fn of_particular(surface: &Surface, elastic: Elastic, force: &BodyForce) -> MeanMotion {
    let centre = surface.mass.centre;
    let (mut displacement, mut rotation) = (DVec3::ZERO, DVec3::ZERO);
    for t in 0..surface.len() {
        let corners = surface.mesh.corners(t).map(|x| x - centre);
        let volume = DMat3::from_cols_array_2d(&corners.map(|c| c.to_array())).determinant() / 6.0;
        let centroid = corners.iter().sum::<DVec3>() / 4.0;
        // Exact to third degree on the tetrahedron of the panel and the centre.
        let ends = [DVec3::ZERO, corners[0], corners[1], corners[2]];
        let near = ends.map(|end| (centroid * (2.0 / 3.0) + end / 3.0, 0.45));
        for (r, weight) in near.into_iter().chain([(centroid, -0.8)]) {
            displacement += force.displacement(centre + r, elastic) * (weight * volume);
            rotation += force.rotation(centre + r, elastic) * (weight * volume);
        }
    }
    (
        displacement / surface.mass.volume,
        rotation / surface.mass.volume,
    )
}
