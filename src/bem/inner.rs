//! Displacement and its gradient at points inside, from what is known on the surface.

use glam::DVec3;

use super::edges::Edges;
use super::elastic::Elastic;
use super::fmm::{Both, Charge, Fmm, Jump, Strength};
use super::near::Near;
use super::nodes::Nodes;
use super::panel::{Density, inside};
use super::precision::Precision;
use super::rim;
use super::surface::{Surface, plain};
use super::triangle::{M, V};
use crate::laws::papkovich;
use crate::math::{Mat3, Vec3};
use crate::parallel::prelude::*;

/// Distance of a point from a point of a panel over the panel's longest edge, below which their difference in a sum loses too many digits.
const CLOSE: f64 = 0.01;

/// A field without body force on the surface.
pub struct Known<'a> {
    /// The panels.
    pub surface: &'a Surface,
    /// The solid.
    pub elastic: Elastic,
    /// Traction on each panel, Pa.
    pub tractions: &'a [DVec3],
    /// Displacement of each vertex, m.
    pub displacements: &'a [[f64; 3]],
    /// What follows from both.
    pub densities: &'a [Density],
}

impl Known<'_> {
    /// Displacement, m, and its gradient (row i, column k: ∂u_i/∂x_k) at points inside, by exact sums over all panels.
    pub fn by_panels(&self, points: &[DVec3]) -> Vec<(V, M)> {
        points.par_iter().map(|x| self.at(*x)).collect()
    }

    fn at(&self, x: DVec3) -> (V, M) {
        let mut sum = NOTHING;
        for (t, density) in self.densities.iter().enumerate() {
            sum = add(sum, inside(self.surface, self.elastic, x, t, density));
        }
        sum
    }

    /// The same by the fast multipole method and exact sums over near panels, to this accuracy: the relative L2 error of displacements and of gradients.
    pub fn by_multipoles(&self, points: &[DVec3], accuracy: f64) -> Vec<(V, M)> {
        let Elastic { shear, poisson } = self.elastic;
        let precision = Precision::of_gradients(accuracy);
        let edges = Edges::new(self.surface);
        let nodes = Nodes::new(self.surface, &edges, precision.rule);
        let near = Near::new(self.surface, &edges, precision.near);
        let fmm = Fmm::new(&nodes.places, points, poisson, precision.sums);
        let forces = nodes.forces(self.surface, self.tractions);
        let jumps = nodes.jumps(self.displacements);
        let pairs = forces.iter().zip(jumps);
        let strengths: Vec<Both> = pairs
            .map(|(force, jump)| both(*force, jump, shear))
            .collect();
        let far = fmm.motion(&strengths, shear);
        let at = |(x, far): (&DVec3, (V, M))| {
            let near = self.near(*x, &near, &nodes);
            near.map_or_else(|| self.at(*x), |near| add(far, near))
        };
        points.par_iter().zip(far).map(at).collect()
    }

    /// Exact less points of near panels, and their rim; nothing where it would lose digits.
    fn near(&self, x: DVec3, near: &Near, nodes: &Nodes) -> Option<(V, M)> {
        let Elastic { shear, poisson } = self.elastic;
        let factor = papkovich::displacement_factor(shear, poisson);
        let panels = near.panels(x);
        let mut sum = NOTHING;
        for t in panels.iter().map(|t| *t as usize) {
            let corners = self.surface.mesh.triangles[t].map(|v| self.vertex(v));
            for (place, area, weights) in nodes.of_panel(self.surface, t) {
                let r = x - place;
                if r.length() < CLOSE * self.surface.sizes[t] {
                    return None;
                }
                let jump =
                    corners[0] * weights[0] + corners[1] * weights[1] + corners[2] * weights[2];
                let force = self.tractions[t] * area.norm();
                let point = both(force, Jump { jump, area }, shear);
                let inverse = r.length_recip();
                let n = plain(r * inverse);
                let u = point.displacement(n, inverse, poisson) * -factor;
                sum = add(sum, (u, point.gradient(n, inverse, poisson) * -factor));
            }
            let density = &self.densities[t];
            sum = add(sum, inside(self.surface, self.elastic, x, t, density));
        }
        for side in near.rim(x, &panels) {
            let ends = side.map(|v| self.surface.mesh.positions[v as usize]);
            let u = side.map(|v| self.vertex(v));
            sum = add(sum, rim::motion(x, ends, u, poisson));
        }
        Some(sum)
    }

    fn vertex(&self, v: u32) -> V {
        Vec3::from_f64(self.displacements[v as usize])
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
