//! Displacement and its gradient at points inside, from the solution on the surface.

use glam::DVec3;

use super::basis::Basis;
use super::density::PanelDensity;
use super::elastic::Elastic;
use super::fmm::{Charge, ChargeAndDoubleLayer, DoubleLayerPoint, Fmm, Strength};
use super::near::NearPanels;
use super::panel::inside;
use super::points::QuadraturePoints;
use super::precision::Precision;
use super::rim;
use super::surface::to_vec3;
use super::traction::Traction;
use super::triangle::{Mat3d, Vec3d};
use crate::laws::papkovich;
use crate::math::{Analytic, Dual, Mat3, Vec3};
use crate::parallel::prelude::*;

/// Smallest distance of a point inside from a quadrature point of a panel, over the panel's longest edge. If
/// it is closer, their difference in a sum loses too many digits.
const MIN_POINT_DISTANCE: f64 = 0.01;

/// The solution on the surface for a field without body force.
pub struct BoundaryField<'a> {
    /// The panels and their nodes.
    pub basis: &'a Basis<'a>,
    /// Moduli of the solid.
    pub elastic: Elastic,
    /// Traction on each panel.
    pub tractions: &'a [Traction],
    /// Displacement of each node, m.
    pub displacements: &'a [[f64; 3]],
    /// Densities of each panel, from its traction and displacement.
    pub densities: &'a [PanelDensity],
}

impl BoundaryField<'_> {
    /// Displacement, m, and its gradient (row i, column k: ∂u_i/∂x_k) at points inside, by exact integrals
    /// over all panels.
    pub fn by_panels(&self, points: &[DVec3]) -> Vec<(Vec3d, Mat3d)> {
        points.par_iter().map(|x| self.at(*x)).collect()
    }

    fn at(&self, x: DVec3) -> (Vec3d, Mat3d) {
        self.sum(to_vec3(x))
    }

    fn sum<T: Analytic>(&self, x: Vec3<T>) -> (Vec3<T>, Mat3<T>) {
        let mut sum = (Vec3::zero(), Mat3::diagonal(T::zero()));
        for (t, density) in self.densities.iter().enumerate() {
            let (displacement, gradient) = inside(self.basis, self.elastic, x, t, density);
            sum = (sum.0 + displacement, sum.1 + gradient);
        }
        sum
    }

    /// Derivatives along x, y and z of the displacement gradient, 1/m, at points inside, by exact integrals
    /// over all panels.
    pub fn slopes(&self, points: &[DVec3]) -> Vec<[Mat3d; 3]> {
        let at = |x: &DVec3| {
            let [x, y, z] = [0, 1, 2].map(|k| Dual::variable(x[k], k));
            let (_, gradient) = self.sum(Vec3::new(x, y, z));
            let along = |k: usize| {
                let rows = gradient.rows;
                let row = |v: Vec3<Dual>| Vec3::new(v.x.slope[k], v.y.slope[k], v.z.slope[k]);
                Mat3 {
                    rows: rows.map(row),
                }
            };
            [0, 1, 2].map(along)
        };
        points.par_iter().map(at).collect()
    }

    /// As [`by_panels`](Self::by_panels), by the fast multipole method with exact integrals over near panels,
    /// to this accuracy: the relative L2 error of displacements and of gradients.
    pub fn by_multipoles(&self, points: &[DVec3], accuracy: f64) -> Vec<(Vec3d, Mat3d)> {
        let Elastic { shear, poisson } = self.elastic;
        let basis = self.basis;
        let precision = Precision::of_gradients(basis.order, accuracy);
        let sources = QuadraturePoints::new(basis, precision.rule);
        let near = NearPanels::new(basis.surface, &basis.edges, precision.near);
        let fmm = Fmm::new(&sources.places, points, poisson, precision.fmm_accuracy);
        let forces = sources.forces(basis.surface, self.tractions);
        let jumps = sources.jumps(basis, self.displacements);
        let pairs = forces.iter().zip(jumps);
        let strengths: Vec<ChargeAndDoubleLayer> = pairs
            .map(|(force, jump)| strength(*force, jump, shear))
            .collect();
        let far = fmm.displacement_and_gradient(&strengths, shear);
        let at = |(x, far): (&DVec3, (Vec3d, Mat3d))| {
            let near = self.near(*x, &near, &sources);
            near.map_or_else(|| self.at(*x), |near| add(far, near))
        };
        points.par_iter().zip(far).map(at).collect()
    }

    /// Exact integrals over near panels minus their quadrature points, and the integrals along their rim;
    /// none if the difference would lose digits.
    fn near(
        &self,
        x: DVec3,
        near: &NearPanels,
        sources: &QuadraturePoints,
    ) -> Option<(Vec3d, Mat3d)> {
        let Elastic { shear, poisson } = self.elastic;
        let (basis, surface) = (self.basis, self.basis.surface);
        let factor = papkovich::displacement_factor(shear, poisson);
        let panels = near.panels(x);
        let mut sum = ZERO_FIELD;
        for t in panels.iter().map(|t| *t as usize) {
            for point in sources.of_panel(surface, t) {
                let r = x - point.place;
                if r.length() < MIN_POINT_DISTANCE * surface.sizes[t] {
                    return None;
                }
                let jump = basis.field(t, &point.values, self.displacements);
                let force = self.tractions[t].at(point.coordinates) * point.area.norm();
                let area = point.area;
                let point = strength(force, DoubleLayerPoint { jump, area }, shear);
                let inverse = r.length_recip();
                let n = to_vec3(r * inverse);
                let u = point.displacement(n, inverse, poisson) * -factor;
                sum = add(sum, (u, point.gradient(n, inverse, poisson) * -factor));
            }
            let density = &self.densities[t];
            sum = add(sum, inside(basis, self.elastic, to_vec3(x), t, density));
        }
        for side in near.rim(x, &panels) {
            let at_rim =
                rim::displacement_and_gradient(basis, x, side, self.displacements, poisson);
            sum = add(sum, at_rim);
        }
        Some(sum)
    }
}

const ZERO_FIELD: (Vec3d, Mat3d) = {
    let zero = Vec3 {
        x: 0.0,
        y: 0.0,
        z: 0.0,
    };
    (zero, Mat3 { rows: [zero; 3] })
};

fn add(a: (Vec3d, Mat3d), b: (Vec3d, Mat3d)) -> (Vec3d, Mat3d) {
    (a.0 + b.0, a.1 + b.1)
}

/// Source strength at a quadrature point: its force, and the double layer, which is subtracted.
fn strength(force: DVec3, layer: DoubleLayerPoint, shear: f64) -> ChargeAndDoubleLayer {
    let jump = layer.jump * (-2.0 * shear);
    ChargeAndDoubleLayer(Charge::force(force), DoubleLayerPoint { jump, ..layer })
}
