//! Points that stand for panels where these are far away.

use glam::DVec3;

use super::edges::Edges;
use super::fmm::Jump;
use super::surface::{Surface, plain};
use super::triangle::V;
use crate::math::Vec3;
use crate::parallel::prelude::*;

/// A rule of integration over a triangle: barycentric coordinates and part of the area of each point.
pub type Rule = &'static [([f64; 3], f64)];

/// Exact to second degree. The two panels of an edge share its middle.
pub const MIDDLES: Rule = &[
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

/// Places of all points, and what they stand for.
#[derive(Clone, Debug)]
pub struct Nodes {
    rule: Rule,
    /// m.
    pub places: Vec<DVec3>,
    /// Vertices that each lies between, and their weights.
    between: Vec<[(u32, f64); 3]>,
    /// Area along the normal, m².
    areas: Vec<V>,
    /// Point of each panel and point of the rule; a point has one or two of these.
    of_panels: Vec<u32>,
}

impl Nodes {
    /// Of a rule on a surface.
    pub fn new(surface: &Surface, edges: &Edges, rule: Rule) -> Self {
        let shared = std::ptr::eq(rule, MIDDLES);
        let panels = surface.len();
        let count = if shared {
            edges.ends.len()
        } else {
            panels * rule.len()
        };
        let mut nodes = Nodes {
            rule,
            places: vec![DVec3::ZERO; count],
            between: vec![[(0, 0.0); 3]; count],
            areas: vec![Vec3::zero(); count],
            of_panels: Vec::with_capacity(panels * rule.len()),
        };
        for t in 0..panels {
            let corners = surface.mesh.triangles[t];
            for (k, (weights, share)) in rule.iter().enumerate() {
                let at = if shared {
                    edges.numbers[t][k]
                } else {
                    (t * rule.len() + k) as u32
                };
                nodes.of_panels.push(at);
                let at = at as usize;
                nodes.places[at] = place(surface, t, weights);
                nodes.between[at] = [0, 1, 2].map(|c| (corners[c], weights[c]));
                nodes.areas[at] = nodes.areas[at] + area(surface, t, *share);
            }
        }
        nodes
    }

    /// The double layer of a displacement of the vertices, m.
    pub fn jumps(&self, u: &[[f64; 3]]) -> Vec<Jump> {
        let of = |(between, area): (&[(u32, f64); 3], &V)| {
            let at = |(vertex, weight): (u32, f64)| Vec3::from_f64(u[vertex as usize]) * weight;
            let [a, b, c] = between.map(at);
            Jump {
                jump: a + b + c,
                area: *area,
            }
        };
        self.between.par_iter().zip(&self.areas).map(of).collect()
    }

    /// Forces, N, of tractions on the panels, Pa.
    pub fn forces(&self, surface: &Surface, tractions: &[DVec3]) -> Vec<DVec3> {
        let mut forces = vec![DVec3::ZERO; self.places.len()];
        let of_panels = self.of_panels.chunks_exact(self.rule.len());
        for ((nodes, traction), area) in of_panels.zip(tractions).zip(&surface.areas) {
            for (node, (_, share)) in nodes.iter().zip(self.rule) {
                forces[*node as usize] += *traction * (area * share);
            }
        }
        forces
    }

    /// Of one panel: place, area along the normal, barycentric coordinates.
    pub fn of_panel(
        &self,
        surface: &Surface,
        t: usize,
    ) -> impl Iterator<Item = (DVec3, V, [f64; 3])> {
        let own = move |(weights, share): &([f64; 3], f64)| {
            let area = area(surface, t, *share);
            (place(surface, t, weights), area, *weights)
        };
        self.rule.iter().map(own)
    }
}

fn place(surface: &Surface, t: usize, weights: &[f64; 3]) -> DVec3 {
    let [a, b, c] = surface.mesh.corners(t);
    a * weights[0] + b * weights[1] + c * weights[2]
}

fn area(surface: &Surface, t: usize, share: f64) -> V {
    plain(surface.normals[t] * (surface.areas[t] * share))
}
