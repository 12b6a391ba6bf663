//! Quadrature points that represent distant panels.

use glam::DVec3;

use super::basis::{Basis, MAX_NODES};
use super::fmm::DoubleLayerPoint;
use super::surface::{Surface, to_vec3};
use super::traction::{SIDE_MIDPOINTS, Traction};
use super::triangle::Vec3d;
use crate::math::Vec3;
use crate::parallel::prelude::*;

/// A quadrature rule on a triangle: barycentric coordinates and fraction of the area of each point.
pub type QuadratureRule = &'static [([f64; 3], f64)];

/// Midpoints of the edges, exact to second degree. The two panels of an edge share its midpoint. This is a
/// static, so that it is recognized by its address.
pub static EDGE_MIDPOINTS: QuadratureRule = &[
    (SIDE_MIDPOINTS[0], 1.0 / 3.0),
    (SIDE_MIDPOINTS[1], 1.0 / 3.0),
    (SIDE_MIDPOINTS[2], 1.0 / 3.0),
];

/// Exact to fourth degree (Dunavant 1985).
pub const SIX_POINTS: QuadratureRule = &[
    (
        [0.10810301816807, 0.445948490915965, 0.445948490915965],
        NEAR_MIDDLES,
    ),
    (
        [0.445948490915965, 0.10810301816807, 0.445948490915965],
        NEAR_MIDDLES,
    ),
    (
        [0.445948490915965, 0.445948490915965, 0.10810301816807],
        NEAR_MIDDLES,
    ),
    (
        [0.816847572980458, 0.091576213509771, 0.091576213509771],
        NEAR_CORNERS,
    ),
    (
        [0.091576213509771, 0.816847572980458, 0.091576213509771],
        NEAR_CORNERS,
    ),
    (
        [0.091576213509771, 0.091576213509771, 0.816847572980458],
        NEAR_CORNERS,
    ),
];
const NEAR_MIDDLES: f64 = 0.223381589678011;
const NEAR_CORNERS: f64 = 0.109951743655322;

/// Exact to sixth degree (Dunavant 1985).
pub const TWELVE_POINTS: QuadratureRule = &[
    ([0.501426509658179, INNER, INNER], TWELVE_WEIGHTS[0]),
    ([INNER, 0.501426509658179, INNER], TWELVE_WEIGHTS[0]),
    ([INNER, INNER, 0.501426509658179], TWELVE_WEIGHTS[0]),
    ([0.873821971016996, OUTER, OUTER], TWELVE_WEIGHTS[1]),
    ([OUTER, 0.873821971016996, OUTER], TWELVE_WEIGHTS[1]),
    ([OUTER, OUTER, 0.873821971016996], TWELVE_WEIGHTS[1]),
    ([ASKEW[0], ASKEW[1], ASKEW[2]], TWELVE_WEIGHTS[2]),
    ([ASKEW[0], ASKEW[2], ASKEW[1]], TWELVE_WEIGHTS[2]),
    ([ASKEW[1], ASKEW[0], ASKEW[2]], TWELVE_WEIGHTS[2]),
    ([ASKEW[1], ASKEW[2], ASKEW[0]], TWELVE_WEIGHTS[2]),
    ([ASKEW[2], ASKEW[0], ASKEW[1]], TWELVE_WEIGHTS[2]),
    ([ASKEW[2], ASKEW[1], ASKEW[0]], TWELVE_WEIGHTS[2]),
];
const INNER: f64 = 0.249286745170910;
const OUTER: f64 = 0.063089014491502;
const ASKEW: [f64; 3] = [0.053145049844817, 0.310352451033784, 0.636502499121399];
const TWELVE_WEIGHTS: [f64; 3] = [0.116786275726379, 0.050844906370207, 0.082851075618374];

/// The quadrature points of all panels of a surface.
#[derive(Clone, Debug)]
pub struct QuadraturePoints {
    rule: QuadratureRule,
    /// Shape functions at each point of the rule.
    values: Vec<[f64; MAX_NODES]>,
    /// Position, m.
    pub places: Vec<DVec3>,
    /// For each point, a panel on which it lies, and its index in the rule there.
    owners: Vec<(u32, u32)>,
    /// Area vector (area times normal), m².
    areas: Vec<Vec3d>,
    /// For each panel, the indices of its points in the order of the rule; a shared point belongs to two
    /// panels.
    of_panels: Vec<u32>,
}

/// A quadrature point on one panel.
#[derive(Clone, Copy, Debug)]
pub struct PanelPoint {
    /// Position, m.
    pub place: DVec3,
    /// Area vector (area times normal), m².
    pub area: Vec3d,
    /// Barycentric coordinates.
    pub coordinates: [f64; 3],
    /// Values of the shape functions.
    pub values: [f64; MAX_NODES],
}

impl QuadraturePoints {
    /// The points of a rule on a surface.
    pub fn new(basis: &Basis, rule: QuadratureRule) -> Self {
        let shared = std::ptr::eq(rule, EDGE_MIDPOINTS);
        let panels = basis.surface.len();
        let count = if shared {
            basis.edges.ends.len()
        } else {
            panels * rule.len()
        };
        let mut points = QuadraturePoints {
            rule,
            values: rule.iter().map(|(at, _)| basis.values(*at)).collect(),
            places: vec![DVec3::ZERO; count],
            owners: vec![(0, 0); count],
            areas: vec![Vec3::zero(); count],
            of_panels: Vec::with_capacity(panels * rule.len()),
        };
        for t in 0..panels {
            for (k, (weights, share)) in rule.iter().enumerate() {
                let at = if shared {
                    basis.edges.numbers[t][k]
                } else {
                    (t * rule.len() + k) as u32
                };
                points.of_panels.push(at);
                let at = at as usize;
                points.places[at] = place(basis.surface, t, weights);
                points.owners[at] = (t as u32, k as u32);
                points.areas[at] = points.areas[at] + area(basis.surface, t, *share);
            }
        }
        points
    }

    /// Double-layer strength of each point for the displacements `u` of the nodes, m.
    pub fn jumps(&self, basis: &Basis, u: &[[f64; 3]]) -> Vec<DoubleLayerPoint> {
        let of = |((t, k), area): (&(u32, u32), &Vec3d)| DoubleLayerPoint {
            jump: basis.field(*t as usize, &self.values[*k as usize], u),
            area: *area,
        };
        self.owners.par_iter().zip(&self.areas).map(of).collect()
    }

    /// Force at each point, N, for tractions on the panels.
    pub fn forces(&self, surface: &Surface, tractions: &[Traction]) -> Vec<DVec3> {
        let mut forces = vec![DVec3::ZERO; self.places.len()];
        let of_panels = self.of_panels.chunks_exact(self.rule.len());
        for ((points, traction), area) in of_panels.zip(tractions).zip(&surface.areas) {
            for (point, (at, share)) in points.iter().zip(self.rule) {
                forces[*point as usize] += traction.at(*at) * (area * share);
            }
        }
        forces
    }

    /// Points of panel `t`.
    pub fn of_panel(&self, surface: &Surface, t: usize) -> impl Iterator<Item = PanelPoint> {
        let own = move |((coordinates, share), values): (&([f64; 3], f64), &[f64; MAX_NODES])| {
            PanelPoint {
                place: place(surface, t, coordinates),
                area: area(surface, t, *share),
                coordinates: *coordinates,
                values: *values,
            }
        };
        self.rule.iter().zip(&self.values).map(own)
    }
}

/// Position at barycentric coordinates of panel `t`, m.
pub fn place(surface: &Surface, t: usize, weights: &[f64; 3]) -> DVec3 {
    let [a, b, c] = surface.mesh.corners(t);
    a * weights[0] + b * weights[1] + c * weights[2]
}

fn area(surface: &Surface, t: usize, share: f64) -> Vec3d {
    to_vec3(surface.normals[t] * (surface.areas[t] * share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_exact_to_their_degree() {
        for (rule, degree) in [(EDGE_MIDPOINTS, 2), (SIX_POINTS, 4), (TWELVE_POINTS, 6)] {
            for i in 0..=degree {
                for j in 0..=degree - i {
                    let of = |([a, b, _], share): &([f64; 3], f64)| a.powi(i) * b.powi(j) * share;
                    let found: f64 = rule.iter().map(of).sum();
                    // 2 i! j! / (i + j + 2)!
                    let factorial = |n: i32| (1..=n).map(f64::from).product::<f64>();
                    let exact = 2.0 * factorial(i) * factorial(j) / factorial(i + j + 2);
                    assert!((found - exact).abs() < 1e-13, "{degree}: {i} {j}");
                }
            }
        }
    }
}
