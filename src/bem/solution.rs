//! Displacement and stress of a loaded body, on its surface and inside.

use glam::DVec3;

use super::elastic::Elastic;
use super::field::Field;
use super::inner::Known;
use super::mean;
use super::panel::Density;
use super::particular::BodyForce;
use super::recover::Neighbours;
use super::surface::{Surface, plain};
use super::triangle::V;
use crate::laws::hooke;
use crate::math::Mat3;
use crate::parallel::prelude::*;
use crate::solve::Found;

/// Points inside from which on their far field is not summed panel by panel.
const MANY: usize = 500;

/// A body's response to loads: a field without body force, that of the body force, and a rigid motion that makes the mean displacement and rotation zero.
#[derive(Clone, Debug)]
pub struct Solution<'a> {
    surface: &'a Surface,
    neighbours: &'a Neighbours,
    elastic: Elastic,
    body_force: BodyForce,
    /// Traction of the field without body force, mean over each panel, Pa.
    means: Vec<DVec3>,
    /// The same at each centroid.
    tractions: Vec<DVec3>,
    /// Displacement of the vertices in the field without body force, m.
    layer: Vec<[f64; 3]>,
    densities: Vec<Density>,
    /// Displacement of the centre of mass, m, and rotation, rad, that are taken off.
    rigid: (DVec3, DVec3),
    found: Found,
    accuracy: Option<f64>,
}

/// Tractions of a body force's particular field on panel `t`: mean over the panel, and at the centroid, Pa.
pub fn particular_traction(
    surface: &Surface,
    elastic: Elastic,
    force: &BodyForce,
    t: usize,
) -> [DVec3; 2] {
    let at = |x: DVec3| {
        let stress = hooke::stress(force.gradient(x, elastic), elastic.shear, elastic.poisson);
        DVec3::from(stress.times(plain(surface.normals[t])).to_f64())
    };
    let [a, b, c] = surface.mesh.corners(t);
    let middles = [(a + b) / 2.0, (b + c) / 2.0, (c + a) / 2.0];
    [
        middles.map(at).iter().sum::<DVec3>() / 3.0,
        at(surface.centroids[t]),
    ]
}

impl<'a> Solution<'a> {
    /// From the displacement of the vertices under what the particular field leaves of the tractions: its `means` over the panels, Pa.
    pub(super) fn new(
        (surface, neighbours): (&'a Surface, &'a Neighbours),
        elastic: Elastic,
        body_force: BodyForce,
        (means, tractions): (Vec<DVec3>, Vec<DVec3>),
        (layer, found): (Vec<[f64; 3]>, Found),
        accuracy: Option<f64>,
    ) -> Self {
        let density = |t: usize| Density::new(surface, elastic.shear, t, means[t], &layer);
        let densities = (0..surface.len()).map(density).collect();
        let own = mean::of_layer(surface, elastic, &means, &layer);
        let other = mean::of_particular(surface, elastic, &body_force);
        Solution {
            surface,
            neighbours,
            elastic,
            body_force,
            means,
            tractions,
            layer,
            densities,
            rigid: (own.0 + other.0, own.1 + other.1),
            found,
            accuracy,
        }
    }

    /// How the solver ended.
    pub fn found(&self) -> Found {
        self.found
    }

    /// Body force that the body is under: weight less inertia.
    pub fn body_force(&self) -> &BodyForce {
        &self.body_force
    }

    /// Displacement of the vertices of the mesh, m.
    pub fn vertices(&self) -> Vec<DVec3> {
        let places = self.surface.mesh.positions.iter().zip(&self.layer);
        places
            .map(|(x, u)| {
                let (particular, _) = self.rest(*x);
                DVec3::from(*u) + particular
            })
            .collect()
    }

    /// At the centroid of each triangle.
    pub fn surface(&self) -> Vec<Field> {
        let at = |t: usize| {
            let x = self.surface.centroids[t];
            let gradient = self.neighbours.gradient(
                self.surface,
                self.elastic,
                t,
                self.tractions[t],
                &self.layer,
            );
            let [a, b, c] = self.surface.mesh.triangles[t].map(|v| self.layer[v as usize]);
            let displacement = (DVec3::from(a) + DVec3::from(b) + DVec3::from(c)) / 3.0;
            self.field(x, plain(displacement), gradient)
        };
        (0..self.surface.len()).into_par_iter().map(at).collect()
    }

    /// At points inside the solid, as near to its surface as they may be, but not on it.
    ///
    /// From a solver that is exact, and for few points, sums are exact; for many points the far field is summed by the fast multipole method, to the
    /// accuracy of the solver.
    pub fn inside(&self, points: &[DVec3]) -> Vec<Field> {
        let known = Known {
            surface: self.surface,
            elastic: self.elastic,
            tractions: &self.means,
            displacements: &self.layer,
            densities: &self.densities,
        };
        let fields = match self.accuracy {
            Some(accuracy) if points.len() >= MANY => known.by_multipoles(points, accuracy),
            _ => known.by_panels(points),
        };
        let fields = points.iter().zip(fields);
        fields
            .map(|(x, (u, slope))| self.field(*x, u, slope))
            .collect()
    }

    /// What the particular field and the rigid motion add at x: displacement, m, and its gradient.
    fn rest(&self, x: DVec3) -> (DVec3, Mat3<f64>) {
        let (shift, turn) = self.rigid;
        let rigid = shift + turn.cross(x - self.surface.mass.centre);
        let gradient = self.body_force.gradient(x, self.elastic);
        (
            self.body_force.displacement(x, self.elastic) - rigid,
            gradient - Mat3::cross(plain(turn)),
        )
    }

    fn field(&self, x: DVec3, layer: V, gradient: Mat3<f64>) -> Field {
        let (rest, slope) = self.rest(x);
        Field::new(
            DVec3::from(layer.to_f64()) + rest,
            gradient + slope,
            self.elastic,
        )
    }
}
