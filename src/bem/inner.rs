//! Displacement and its gradient at points inside, from what is known on the surface.

use glam::DVec3;

use super::basis::Basis;
use super::density::PanelDensity;
use super::elastic::Elastic;
use super::fmm::{Both, Charge, Fmm, Jump, Strength};
use super::near::Near;
use super::panel::inside;
use super::points::Points;
use super::precision::Precision;
use super::rim;
use super::surface::plain;
use super::traction::Traction;
use super::triangle::{M, V};
use crate::laws::papkovich;
use crate::math::{Analytic, Dual, Mat3, Vec3};
use crate::parallel::prelude::*;

/// Distance of a point from a point of a panel over the panel's longest edge, below which their difference in
/// a sum loses too many digits.
const CLOSE: f64 = 0.01;

/// A field without body force on the surface.
pub struct Known<'a> {
    /// The panels and their nodes.
    pub basis: &'a Basis<'a>,
    /// The solid.
    pub elastic: Elastic,
    /// Traction on each panel.
    pub tractions: &'a [Traction],
    /// Displacement of each node, m.
    pub displacements: &'a [[f64; 3]],
    /// What follows from both.
    pub densities: &'a [PanelDensity],
}

impl Known<'_> {
    /// Displacement, m, and its gradient (row i, column k: ∂u_i/∂x_k) at points inside, by exact sums over all panels.
    pub fn by_panels(&self, points: &[DVec3]) -> Vec<(V, M)> {
        points.par_iter().map(|x| self.at(*x)).collect()
    }

    fn at(&self, x: DVec3) -> (V, M) {
        self.sum(plain(x))
    }

    fn sum<T: Analytic>(&self, x: Vec3<T>) -> (Vec3<T>, Mat3<T>) {
        let mut sum = (Vec3::zero(), Mat3::diagonal(T::zero()));
        for (t, density) in self.densities.iter().enumerate() {
            let (displacement, gradient) = inside(self.basis, self.elastic, x, t, density);
            sum = (sum.0 + displacement, sum.1 + gradient);
        }
        sum
    }

    /// Derivatives along x, y and z of the displacement gradient, 1/m, at points inside, by exact sums over all panels.
    pub fn slopes(&self, points: &[DVec3]) -> Vec<[M; 3]> {
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

    /// The same by the fast multipole method and exact sums over near panels, to this accuracy: the relative
    /// L2 error of displacements and of gradients.
    pub fn by_multipoles(&self, points: &[DVec3], accuracy: f64) -> Vec<(V, M)> {
        let Elastic { shear, poisson } = self.elastic;
        let basis = self.basis;
        let precision = Precision::of_gradients(basis.order, accuracy);
        let sources = Points::new(basis, precision.rule);
        let near = Near::new(basis.surface, &basis.edges, precision.near);
        let fmm = Fmm::new(&sources.places, points, poisson, precision.sums);
        let forces = sources.forces(basis.surface, self.tractions);
        let jumps = sources.jumps(basis, self.displacements);
        let pairs = forces.iter().zip(jumps);
        let strengths: Vec<Both> = pairs
            .map(|(force, jump)| both(*force, jump, shear))
            .collect();
        let far = fmm.motion(&strengths, shear);
        let at = |(x, far): (&DVec3, (V, M))| {
            let near = self.near(*x, &near, &sources);
            near.map_or_else(|| self.at(*x), |near| add(far, near))
        };
        points.par_iter().zip(far).map(at).collect()
    }

    /// Exact less points of near panels, and their rim; nothing where it would lose digits.
    fn near(&self, x: DVec3, near: &Near, sources: &Points) -> Option<(V, M)> {
        let Elastic { shear, poisson } = self.elastic;
        let (basis, surface) = (self.basis, self.basis.surface);
        let factor = papkovich::displacement_factor(shear, poisson);
        let panels = near.panels(x);
        let mut sum = NOTHING;
        for t in panels.iter().map(|t| *t as usize) {
            for point in sources.of_panel(surface, t) {
                let r = x - point.place;
                if r.length() < CLOSE * surface.sizes[t] {
                    return None;
                }
                let jump = basis.field(t, &point.values, self.displacements);
                let force = self.tractions[t].at(point.coordinates) * point.area.norm();
                let area = point.area;
                let point = both(force, Jump { jump, area }, shear);
                let inverse = r.length_recip();
                let n = plain(r * inverse);
                let u = point.displacement(n, inverse, poisson) * -factor;
                sum = add(sum, (u, point.gradient(n, inverse, poisson) * -factor));
            }
            let density = &self.densities[t];
            sum = add(sum, inside(basis, self.elastic, plain(x), t, density));
        }
        for side in near.rim(x, &panels) {
            let left = rim::motion(basis, x, side, self.displacements, poisson);
            sum = add(sum, left);
        }
        Some(sum)
    }
}

const NOTHING: (V, M) = {
    let zero = Vec3 {
        x: 0.0,
        y: 0.0,
        z: 0.0,
    };
    (zero, Mat3 { rows: [zero; 3] })
};

fn add(a: (V, M), b: (V, M)) -> (V, M) {
    (a.0 + b.0, a.1 + b.1)
}

/// What stands at a point: its force, and the double layer, which is taken off.
fn both(force: DVec3, layer: Jump, shear: f64) -> Both {
    let jump = layer.jump * (-2.0 * shear);
    Both(Charge::force(force), Jump { jump, ..layer })
}
