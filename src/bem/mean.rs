//! Mean displacement and rotation over the solid, from what is known on its surface.
//!
//! The mean of u comes of Betti's theorem with the fields of unit body forces e_k, which [`particular`](super::particular) knows:
//! ∫ u_k dV = ∮ (u⁽ᵏ⁾·t − u·t⁽ᵏ⁾) dS for a field u without body force; that of the rotation is ½ ∮ n × u dS / V.

use glam::{DMat3, DVec3};

use super::elastic::Elastic;
use super::particular::BodyForce;
use super::surface::{Surface, plain};
use crate::laws::hooke;

/// Mean displacement, m, and mean of ½ curl u, rad, over the solid.
pub type Mean = (DVec3, DVec3);

/// Of a field without body force, with these tractions on the panels, Pa, and displacements of the vertices, m.
pub fn of_layer(surface: &Surface, elastic: Elastic, tractions: &[DVec3], u: &[[f64; 3]]) -> Mean {
    let units = DVec3::AXES
        .map(|axis| BodyForce::new(1.0, surface.mass.centre, axis, DVec3::ZERO, DVec3::ZERO));
    let (mut displacement, mut rotation) = (DVec3::ZERO, DVec3::ZERO);
    for (t, traction) in tractions.iter().enumerate() {
        let corners = surface.mesh.corners(t);
        let at = surface.mesh.triangles[t].map(|v| DVec3::from(u[v as usize]));
        let third = surface.areas[t] / 3.0;
        let normal = surface.normals[t];
        rotation += normal.cross(at[0] + at[1] + at[2]) * (third / 2.0);
        for c in 0..3 {
            let next = (c + 1) % 3;
            let (x, here) = ((corners[c] + corners[next]) / 2.0, (at[c] + at[next]) / 2.0);
            for (k, unit) in units.iter().enumerate() {
                let gradient = unit.gradient(x, elastic);
                let stress = hooke::stress(gradient, elastic.shear, elastic.poisson);
                let pull = DVec3::from(stress.times(plain(normal)).to_f64());
                let work = unit.displacement(x, elastic).dot(*traction) - here.dot(pull);
                displacement[k] += work * third;
            }
        }
    }
    (
        displacement / surface.mass.volume,
        rotation / surface.mass.volume,
    )
}

/// Of the particular field of a body force.
pub fn of_particular(surface: &Surface, elastic: Elastic, force: &BodyForce) -> Mean {
    let centre = surface.mass.centre;
    let (mut displacement, mut rotation) = (DVec3::ZERO, DVec3::ZERO);
    for t in 0..surface.len() {
        let corners = surface.mesh.corners(t).map(|x| x - centre);
        let volume = DMat3::from_cols_array_2d(&corners.map(|c| c.to_array())).determinant() / 6.0;
        let middle = corners.iter().sum::<DVec3>() / 4.0;
        // Exact to third degree on the tetrahedron of the panel and the centre.
        let ends = [DVec3::ZERO, corners[0], corners[1], corners[2]];
        let near = ends.map(|end| (middle * (2.0 / 3.0) + end / 3.0, 0.45));
        for (r, weight) in near.into_iter().chain([(middle, -0.8)]) {
            displacement += force.displacement(centre + r, elastic) * (weight * volume);
            rotation += force.rotation(centre + r, elastic) * (weight * volume);
        }
    }
    (
        displacement / surface.mass.volume,
        rotation / surface.mass.volume,
    )
}
