//! Points that stand for panels where these are far away.

use glam::DVec3;

use super::basis::{Basis, MOST};
use super::fmm::Jump;
use super::surface::{Surface, plain};
use super::traction::Traction;
use super::triangle::V;
use crate::math::Vec3;
use crate::parallel::prelude::*;

/// A rule of integration over a triangle: barycentric coordinates and part of the area of each point.
pub type Rule = &'static [([f64; 3], f64)];

/// Exact to second degree. The two panels of an edge share its middle. A static, so that it is told from
/// other rules by its address.
pub static MIDDLES: Rule = &[
    ([0.5, 0.5, 0.0], 1.0 / 3.0),
    ([0.0, 0.5, 0.5], 1.0 / 3.0),
    ([0.5, 0.0, 0.5], 1.0 / 3.0),
];

/// Exact to fourth degree (Dunavant 1985).
pub const SIX: Rule = &[
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
pub const TWELVE: Rule = &[
    ([0.501426509658179, INNER, INNER], TWELFTHS[0]),
    ([INNER, 0.501426509658179, INNER], TWELFTHS[0]),
    ([INNER, INNER, 0.501426509658179], TWELFTHS[0]),
    ([0.873821971016996, OUTER, OUTER], TWELFTHS[1]),
    ([OUTER, 0.873821971016996, OUTER], TWELFTHS[1]),
    ([OUTER, OUTER, 0.873821971016996], TWELFTHS[1]),
    ([ASKEW[0], ASKEW[1], ASKEW[2]], TWELFTHS[2]),
    ([ASKEW[0], ASKEW[2], ASKEW[1]], TWELFTHS[2]),
    ([ASKEW[1], ASKEW[0], ASKEW[2]], TWELFTHS[2]),
    ([ASKEW[1], ASKEW[2], ASKEW[0]], TWELFTHS[2]),
    ([ASKEW[2], ASKEW[0], ASKEW[1]], TWELFTHS[2]),
    ([ASKEW[2], ASKEW[1], ASKEW[0]], TWELFTHS[2]),
];
const INNER: f64 = 0.249286745170910;
const OUTER: f64 = 0.063089014491502;
const ASKEW: [f64; 3] = [0.053145049844817, 0.310352451033784, 0.636502499121399];
const TWELFTHS: [f64; 3] = [0.116786275726379, 0.050844906370207, 0.082851075618374];

/// Places of all points, and what they stand for.
#[derive(Clone, Debug)]
pub struct Points {
    rule: Rule,
    /// Shape functions at each point of the rule.
    values: Vec<[f64; MOST]>,
    /// m.
    pub places: Vec<DVec3>,
    /// A panel that each lies on, and which point of the rule it is there.
    owners: Vec<(u32, u32)>,
    /// Area along the normal, m².
    areas: Vec<V>,
    /// Point of each panel and point of the rule; a point has one or two of these.
    of_panels: Vec<u32>,
}

/// A point of one panel.
#[derive(Clone, Copy, Debug)]
pub struct PanelPoint {
    /// m.
    pub place: DVec3,
    /// Area along the normal, m².
    pub area: V,
    /// Barycentric coordinates.
    pub coordinates: [f64; 3],
    /// Shape functions.
    pub values: [f64; MOST],
}

impl Points {
    /// Of a rule on a surface.
    pub fn new(basis: &Basis, rule: Rule) -> Self {
        let shared = std::ptr::eq(rule, MIDDLES);
        let panels = basis.surface.len();
        let count = if shared {
            basis.edges.ends.len()
        } else {
            panels * rule.len()
        };
        let mut points = Points {
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

    /// The double layer of a displacement of the nodes, m.
    pub fn jumps(&self, basis: &Basis, u: &[[f64; 3]]) -> Vec<Jump> {
        let of = |((t, k), area): (&(u32, u32), &V)| Jump {
            jump: basis.field(*t as usize, &self.values[*k as usize], u),
            area: *area,
        };
        self.owners.par_iter().zip(&self.areas).map(of).collect()
    }

    /// Forces, N, of tractions on the panels.
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

    /// Of one panel.
    pub fn of_panel(&self, surface: &Surface, t: usize) -> impl Iterator<Item = PanelPoint> {
        let own =
            move |((coordinates, share), values): (&([f64; 3], f64), &[f64; MOST])| PanelPoint {
                place: place(surface, t, coordinates),
                area: area(surface, t, *share),
                coordinates: *coordinates,
                values: *values,
            };
        self.rule.iter().zip(&self.values).map(own)
    }
}

/// Place at barycentric coordinates of panel `t`, m.
pub fn place(surface: &Surface, t: usize, weights: &[f64; 3]) -> DVec3 {
    let [a, b, c] = surface.mesh.corners(t);
    a * weights[0] + b * weights[1] + c * weights[2]
}

fn area(surface: &Surface, t: usize, share: f64) -> V {
    plain(surface.normals[t] * (surface.areas[t] * share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_exact_to_their_degree() {
        for (rule, degree) in [(MIDDLES, 2), (SIX, 4), (TWELVE, 6)] {
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
