//! An additional equation for the change of volume of each cavity, which the double layer determines poorly
//! if the material is nearly incompressible.
//!
//! For a field u ~ r/r³ about a cavity the equation has the factor 1 − 2ν, and discretization errors are
//! divided by it. Betti's theorem with this field, whose source lies in the cavity, has no such factor:
//!
//! ```text
//! ∮ u·t' dS = ∮ u'·t dS        u' = r/r³        t' = 2G (n − 3 (n·r̂) r̂)/r³        r = x − z, z in the cavity
//! ```

use glam::DVec3;

use super::basis::Basis;
use super::points::{SIX_POINTS, place};
use super::surface::connected_parts;
use super::traction::Traction;
use crate::geometry::winding::Winding;
use crate::solve::vector::{add_scaled, dot};

/// Weight of a cavity's equation relative to the double layer's equation for the same field, which is less
/// accurate. A larger weight changes little.
const WEIGHT: f64 = 10.0;

/// The equation of one cavity, added to the equations of its nodes along their normals.
#[derive(Clone, Debug)]
pub struct Cavity {
    source: DVec3,
    /// Mean normal at each of the cavity's nodes, zero at other nodes.
    normals: Vec<[f64; 3]>,
    /// Factors of the displacements on the left-hand side, scaled so that their product with the normals is
    /// [`WEIGHT`].
    weights: Vec<[f64; 3]>,
    /// ∮ u·t' dS with the normals for u, divided by the weight, Pa.
    scale: f64,
}

impl Cavity {
    /// Cavities of a surface that contain their centroids, in the order of their first vertices. `shear`:
    /// shear modulus, Pa.
    pub fn all(basis: &Basis, shear: f64) -> Vec<Self> {
        let surface = basis.surface;
        let mesh = &surface.mesh;
        let root = connected_parts(mesh);
        // Six times the volume and 24 times the first moment of each connected part, about the centre of
        // mass.
        let mut sums = vec![(0.0, DVec3::ZERO); mesh.positions.len()];
        for (t, triangle) in mesh.triangles.iter().enumerate() {
            let [a, b, c] = mesh.corners(t).map(|p| p - surface.mass.centre);
            let six = a.dot(b.cross(c));
            let sum = &mut sums[root[triangle[0] as usize] as usize];
            sum.0 += six;
            sum.1 += (a + b + c) * six;
        }
        let winding = Winding::new(mesh);
        let cavities = (0..).zip(sums).filter(|(_, sum)| sum.0 < 0.0);
        cavities
            .map(|(part, (six, moment))| (part, surface.mass.centre + moment / (4.0 * six)))
            .filter(|(_, source)| !winding.contains(*source))
            .map(|(part, source)| Cavity::new(basis, shear, source, |v| root[v as usize] == part))
            .collect()
    }

    fn new(basis: &Basis, shear: f64, source: DVec3, is_own: impl Fn(u32) -> bool) -> Self {
        let surface = basis.surface;
        let count = basis.len();
        let (mut normals, mut weights) = (vec![DVec3::ZERO; count], vec![DVec3::ZERO; count]);
        for (t, triangle) in surface.mesh.triangles.iter().enumerate() {
            let (n, area) = (surface.normals[t], surface.areas[t]);
            let nodes = basis.of_panel(t);
            if is_own(triangle[0]) {
                nodes.iter().for_each(|v| normals[*v as usize] += n * area);
            }
            for (at, share) in SIX_POINTS {
                let r = place(surface, t, at) - source;
                let inverse = r.length_recip();
                let along = r * inverse;
                let pull = (n - along * (3.0 * n.dot(along))) * (2.0 * shear * inverse.powi(3));
                for (node, value) in nodes.iter().zip(basis.values(*at)) {
                    weights[*node as usize] += pull * (area * share * value);
                }
            }
        }
        let normals: Vec<_> = normals
            .iter()
            .map(|n| n.normalize_or_zero().to_array())
            .collect();
        let mut weights: Vec<_> = weights.iter().map(|w| w.to_array()).collect();
        let scale = dot(&normals, &weights) / WEIGHT;
        weights
            .as_flattened_mut()
            .iter_mut()
            .for_each(|w| *w /= scale);
        Cavity {
            source,
            normals,
            weights,
            scale,
        }
    }

    /// Adds the left-hand side of the cavity's equation to that of its nodes.
    pub fn add_left(&self, u: &[[f64; 3]], y: &mut [[f64; 3]]) {
        add_scaled(y, dot(&self.weights, u), &self.normals);
    }

    /// Adds the right-hand side, from the tractions on the panels, to that of the cavity's nodes.
    pub fn add_right(&self, basis: &Basis, tractions: &[Traction], y: &mut [[f64; 3]]) {
        let surface = basis.surface;
        let work = |(t, traction): (usize, &Traction)| -> f64 {
            let at = SIX_POINTS.iter().map(|(at, share)| {
                let r = place(surface, t, at) - self.source;
                traction.at(*at).dot(r) / r.length().powi(3) * share
            });
            surface.areas[t] * at.sum::<f64>()
        };
        let sum: f64 = tractions.iter().enumerate().map(work).sum();
        add_scaled(y, sum / self.scale, &self.normals);
    }
}
