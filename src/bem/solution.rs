//! Displacement and stress of a loaded body, on its surface and inside.

use glam::DVec3;

use super::basis::{Basis, Order};
use super::density::PanelDensity;
use super::elastic::Elastic;
use super::field::Field;
use super::inner::BoundaryField;
use super::mean;
use super::particular::BodyForce;
use super::points::{SIX_POINTS, place};
use super::recover::SmoothNeighbours;
use super::slope::FieldGradients;
use super::surface::{Surface, to_vec3};
use super::traction::Traction;
use super::triangle::Vec3d;
use crate::laws::hooke;
use crate::math::Mat3;
use crate::parallel::prelude::*;
use crate::solve::SolveReport;

/// Smallest number of points inside for which the fast multipole method is used.
const MIN_FMM_POINTS: usize = 500;

/// A body's response to loads: the sum of a field without body force, the particular field of the body force,
/// and a rigid motion that makes the mean displacement and rotation zero.
#[derive(Clone, Debug)]
pub struct Solution<'a> {
    basis: &'a Basis<'a>,
    /// Stencils for the gradient of linear displacements.
    neighbours: Option<&'a SmoothNeighbours>,
    elastic: Elastic,
    body_force: BodyForce,
    /// Traction of the field without body force on each panel.
    tractions: Vec<Traction>,
    /// The same traction at each centroid, Pa.
    middles: Vec<DVec3>,
    /// Displacement of the nodes in the field without body force, m.
    layer: Vec<[f64; 3]>,
    densities: Vec<PanelDensity>,
    /// Translation of the centre of mass, m, and rotation, rad, that are subtracted.
    rigid: (DVec3, DVec3),
    found: SolveReport,
    accuracy: Option<f64>,
}

/// Traction of a body force's particular field on panel `t`, and its value at the centroid, Pa. The field's
/// traction is quadratic in position; it is approximated as linear if the displacement is quadratic, and as
/// constant otherwise.
pub fn particular_traction(
    basis: &Basis,
    elastic: Elastic,
    force: &BodyForce,
    t: usize,
) -> (Traction, DVec3) {
    let surface = basis.surface;
    let at = |x: DVec3| {
        let stress = hooke::stress(force.gradient(x, elastic), elastic.shear, elastic.poisson);
        DVec3::from(stress.times(to_vec3(surface.normals[t])).to_f64())
    };
    let [a, b, c] = surface.mesh.corners(t);
    let middles = [(a + b) / 2.0, (b + c) / 2.0, (c + a) / 2.0].map(at);
    let traction = match basis.order {
        Order::Linear => Traction::uniform(middles.iter().sum::<DVec3>() / 3.0),
        Order::Quadratic => Traction::of_middles(middles),
    };
    (traction, at(surface.centroids[t]))
}

impl<'a> Solution<'a> {
    /// From the displacement of the nodes without body force. `tractions`: on the panels, minus those of the
    /// particular field. `middles`: the same at the centroids, Pa.
    pub(super) fn new(
        (basis, neighbours): (&'a Basis<'a>, Option<&'a SmoothNeighbours>),
        elastic: Elastic,
        body_force: BodyForce,
        (tractions, middles): (Vec<Traction>, Vec<DVec3>),
        (layer, found): (Vec<[f64; 3]>, SolveReport),
        accuracy: Option<f64>,
    ) -> Self {
        let surface = basis.surface;
        let density = |t| PanelDensity::new(basis, elastic.shear, t, &tractions[t], &layer);
        let densities = (0..surface.len()).map(density).collect();
        let own = mean::of_layer(basis, elastic, &tractions, &layer);
        let other = mean::of_particular(surface, elastic, &body_force);
        Solution {
            basis,
            neighbours,
            elastic,
            body_force,
            tractions,
            middles,
            layer,
            densities,
            rigid: (own.0 + other.0, own.1 + other.1),
            found,
            accuracy,
        }
    }

    /// Iterations and residual of the solver.
    pub fn found(&self) -> SolveReport {
        self.found
    }

    /// Body force on the body: weight minus inertia.
    pub fn body_force(&self) -> &BodyForce {
        &self.body_force
    }

    /// Displacement of the vertices of the mesh, m.
    pub fn vertices(&self) -> Vec<DVec3> {
        let places = self.panels().mesh.positions.iter().zip(&self.layer);
        places
            .map(|(x, u)| {
                let (particular, _) = self.particular_and_rigid(*x);
                DVec3::from(*u) + particular
            })
            .collect()
    }

    /// Work of tractions on the displacement, ∮ t·u dS, J.
    pub fn work(&self, tractions: &[Traction]) -> f64 {
        let surface = self.panels();
        let values: Vec<_> = SIX_POINTS
            .iter()
            .map(|(at, _)| self.basis.values(*at))
            .collect();
        let none = Traction::default();
        let loaded = tractions.iter().enumerate().filter(|(_, t)| **t != none);
        let of = |(t, traction): (usize, &Traction)| {
            let points = SIX_POINTS.iter().zip(&values);
            let each = points.map(|((at, share), values)| {
                let layer = DVec3::from(self.basis.field(t, values, &self.layer).to_f64());
                let (rest, _) = self.particular_and_rigid(place(surface, t, at));
                traction.at(*at).dot(layer + rest) * share
            });
            each.sum::<f64>() * surface.areas[t]
        };
        loaded.map(of).sum()
    }

    /// Fields at the centroid of each triangle.
    pub fn surface(&self) -> Vec<Field> {
        let at = |t: usize| {
            let gradient = self.gradient(t);
            let x = self.panels().centroids[t];
            self.field(x, self.densities[t].middle.displacement, gradient)
        };
        (0..self.panels().len()).into_par_iter().map(at).collect()
    }

    fn panels(&self) -> &'a Surface {
        self.basis.surface
    }

    /// Displacement gradient of the field without body force at the centroid of panel `t`.
    fn gradient(&self, t: usize) -> Mat3<f64> {
        let (surface, traction) = (self.panels(), self.middles[t]);
        if let Some(neighbours) = self.neighbours {
            return neighbours.gradient(surface, self.elastic, t, traction, &self.layer);
        }
        let normal = to_vec3(surface.normals[t]);
        let along = self.densities[t].middle.gradient;
        let moduli = (self.elastic.shear, self.elastic.poisson);
        let out = hooke::normal_derivative(along, normal, to_vec3(traction), moduli);
        along + Mat3::outer(out, normal)
    }

    /// Fields at points inside the solid, which may be arbitrarily close to its surface, but not on it.
    ///
    /// If the solver is exact, or for few points, integrals are exact. For many points the far field is
    /// computed by the fast multipole method, to the accuracy of the solver.
    pub fn inside(&self, points: &[DVec3]) -> Vec<Field> {
        let boundary_field = self.boundary_field();
        let fields = match self.accuracy {
            Some(accuracy) if points.len() >= MIN_FMM_POINTS => {
                boundary_field.by_multipoles(points, accuracy)
            }
            _ => boundary_field.by_panels(points),
        };
        let fields = points.iter().zip(fields);
        fields
            .map(|(x, (u, slope))| self.field(*x, u, slope))
            .collect()
    }

    /// Gradients of energy density, singular values and principal stresses at points inside the solid, by
    /// exact integrals over all panels.
    pub fn slopes(&self, points: &[DVec3]) -> Vec<FieldGradients> {
        let layers = self.boundary_field().slopes(points);
        let fields = self.boundary_field().by_panels(points);
        let step = self.panels().area.sqrt();
        let pairs = points.iter().zip(fields).zip(layers);
        pairs
            .map(|((x, (u, gradient)), layer)| {
                // The gradient of the particular field is quadratic in position, so central differences are
                // exact.
                let along = |k: usize| {
                    let [up, down] = [step, -step].map(|step| {
                        let moved = *x + DVec3::AXES[k] * step;
                        self.body_force.gradient(moved, self.elastic)
                    });
                    layer[k] + (up - down) * (0.5 / step)
                };
                let field = self.field(*x, u, gradient);
                FieldGradients::new(&field, [0, 1, 2].map(along), self.elastic)
            })
            .collect()
    }

    fn boundary_field(&self) -> BoundaryField<'_> {
        BoundaryField {
            basis: self.basis,
            elastic: self.elastic,
            tractions: &self.tractions,
            displacements: &self.layer,
            densities: &self.densities,
        }
    }

    /// Contribution of the particular field and the rigid motion at x: displacement, m, and its gradient.
    fn particular_and_rigid(&self, x: DVec3) -> (DVec3, Mat3<f64>) {
        let (shift, turn) = self.rigid;
        let rigid = shift + turn.cross(x - self.panels().mass.centre);
        let gradient = self.body_force.gradient(x, self.elastic);
        (
            self.body_force.displacement(x, self.elastic) - rigid,
            gradient - Mat3::cross(to_vec3(turn)),
        )
    }

    fn field(&self, x: DVec3, layer: Vec3d, gradient: Mat3<f64>) -> Field {
        let (rest, slope) = self.particular_and_rigid(x);
        Field::new(
            DVec3::from(layer.to_f64()) + rest,
            gradient + slope,
            self.elastic,
        )
    }
}
