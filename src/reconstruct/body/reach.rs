//! Which elements a point of the solid is connected with.
//!
//! The element nearest to a point may lie across a gap: beside a thin ear that no element fits into, or in
//! the other prong of a fork. A point *sees* an element if the segment between them does not leave the
//! solid. It is connected with the elements that it sees, and with those that at most two bonds join to the
//! nearest of them. A vertex of the skin that sees no element near it, as at the tip of a bent blade, is
//! connected with the elements of its *root*: the vertex nearest along the skin that does see one. It moves
//! as if it were there, so a blade moves with the part of the body that it grows from. For other points that
//! see none, the *foot* takes the place of the root: the middle between the roots on both faces of the blade,
//! moved along the skin to the point nearest to them. Cracks at the foot of a blade run straight through it,
//! but no fragment carries more of a blade than it is wide: crumbs at the foot do not swing long splinters.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use glam::DVec3;

use super::bins::ElementBins;
use super::graph::BondGraph;
use super::skin::Skin;
use crate::geometry::TriMesh;
use crate::geometry::bvh::Bvh;
use crate::geometry::nearest::nearest_on_triangle;
use crate::parallel::prelude::*;
use crate::reconstruct::surface::rigged::MAX_INFLUENCES;

/// Initial search radius for the nearest elements, radii.
const SEARCH_RADIUS: f64 = 2.5;
/// Distance up to which a point sees elements other than the nearest one, radii. From the tip of a blade, those
/// deep under its foot may be in sight.
const SIGHT: f64 = 3.0;
/// Number of the nearest elements that are considered.
pub const MAX_CANDIDATES: usize = 32;
/// Largest number of bonds between the foot of a blade and the elements that carry it.
const CARRY_BONDS: usize = 8;
/// Largest thickness of a blade, radii: elements fit into thicker parts.
const BLADE_THICKNESS: f64 = 3.0;
/// Points of the solid within this distance of a vertex that is near a gap are near a gap too, radii: edges
/// of the skin are up to two radii long.
const GAP_MARGIN: f64 = 2.5;

/// The elements of a body at rest.
#[derive(Clone, Copy)]
pub struct ElementsAtRest<'a> {
    /// Rest positions, m.
    pub positions: &'a [DVec3],
    /// The elements sorted into bins.
    pub bins: &'a ElementBins,
    /// Mean radius, m.
    pub radius: f64,
}

impl ElementsAtRest<'_> {
    /// The elements near `x` for which `wanted` is true, as (squared distance, element), nearest first, in
    /// `found`: at least one, provided that one is wanted.
    pub fn nearest(&self, x: DVec3, wanted: impl Fn(u32) -> bool, found: &mut Vec<(f64, u32)>) {
        let mut reach = SEARCH_RADIUS * self.radius;
        let everything = self.bins.max_search_radius() + x.distance(self.positions[0]);
        loop {
            self.bins.within(self.positions, x, reach, &wanted, found);
            if !found.is_empty() || reach > everything {
                break;
            }
            reach *= 2.0;
        }
    }
}

/// The elements nearest to each vertex of a skin, nearest first.
pub type NearestElements = Vec<[u32; MAX_INFLUENCES]>;

/// The connections of a body that has elements across gaps.
#[derive(Debug)]
pub struct ElementReach {
    bvh: Bvh,
    /// All bonds at rest.
    graph: BondGraph,
    /// Root of each vertex of the skin; the vertex itself if it sees an element, or if the part of the skin
    /// that it belongs to has none inside.
    roots: Vec<u32>,
    /// Edges of the skin.
    edges: BondGraph,
    /// For each bin of elements, whether points in it may be near elements across a gap.
    near_gap: Vec<bool>,
}

/// The elements found for a vertex of the skin.
struct FoundElements {
    /// The nearest connected elements, or just the nearest ones if it sees none.
    nearest: [u32; MAX_INFLUENCES],
    sees_any: bool,
    /// Whether elements near it lie across a gap.
    near_gap: bool,
}

impl ElementReach {
    /// The connected elements nearest to each vertex of `skin`, and the connections, if there are any gaps.
    /// `bonds` are the bonds at rest.
    pub fn new(
        elements: ElementsAtRest,
        skin: &Skin,
        bonds: impl Iterator<Item = [u32; 2]> + Clone,
    ) -> (NearestElements, Option<Self>) {
        let mesh = &skin.mesh;
        let mut reach = ElementReach {
            bvh: Bvh::new(mesh),
            graph: BondGraph::new(elements.positions.len(), bonds),
            roots: (0..mesh.positions.len() as u32).collect(),
            edges: BondGraph::new(mesh.positions.len(), skin.edges.iter().copied()),
            near_gap: Vec::new(),
        };
        let vertices = mesh.positions.par_iter().with_min_len(256);
        let found: Vec<FoundElements> = vertices
            .map_init(Vec::new, |found, &x| {
                reach.of_vertex(elements, mesh, x, found)
            })
            .collect();
        if found.iter().any(|found| !found.sees_any) {
            let sees = |vertex: usize| found[vertex].sees_any;
            let away = |vertex: usize| {
                let nearest = found[vertex].nearest[0] as usize;
                mesh.positions[vertex].distance(elements.positions[nearest])
            };
            spread_along_skin(
                &mesh.positions,
                &reach.edges,
                (sees, away),
                &mut reach.roots,
            );
        }
        let of_root = |&root: &u32| found[root as usize].nearest;
        let nearest = reach.roots.iter().map(of_root).collect();
        let near_gaps = found.iter().zip(&mesh.positions);
        let near_gaps = near_gaps.filter(|(found, _)| found.near_gap);
        let mut bins = vec![false; elements.bins.count()];
        let margin = GAP_MARGIN * elements.radius;
        let mut any = false;
        for (_, &x) in near_gaps {
            any = true;
            elements.bins.each_bin(x, margin, |bin| bins[bin] = true);
        }
        reach.near_gap = bins;
        (nearest, any.then_some(reach))
    }

    /// Removes the elements that `x` is not connected with from `found`, the elements near `x` as (squared
    /// distance, element), nearest first. If it sees none of them, those of its roots replace them, with their
    /// distances from the foot of `x`, which is returned. `nearest` are the elements of the vertices.
    pub fn keep_own_side(
        &self,
        elements: ElementsAtRest,
        mesh: &TriMesh,
        nearest: &[[u32; MAX_INFLUENCES]],
        x: DVec3,
        found: &mut Vec<(f64, u32)>,
    ) -> Option<DVec3> {
        if self.keep_connected(elements, mesh, x, found) {
            return None;
        }
        let faces = self.faces_of_blade(mesh, x, BLADE_THICKNESS * elements.radius);
        let middle = (faces[0].0 + faces[1].0) / 2.0;
        let roots = faces.map(|(face, triangle)| {
            let corners = mesh.triangles[triangle as usize].into_iter();
            let squared = |&v: &u32| mesh.positions[v as usize].distance_squared(face);
            let corner = corners.min_by(|a, b| squared(a).total_cmp(&squared(b)).then(a.cmp(b)));
            self.roots[corner.expect("a triangle has corners") as usize]
        });
        let [a, b] = roots.map(|root| self.near_root(mesh, root, middle));
        let foot = (a + b) / 2.0;
        found.clear();
        for element in roots.into_iter().flat_map(|root| nearest[root as usize]) {
            let squared = foot.distance_squared(elements.positions[element as usize]);
            found.push((squared, element));
        }
        found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        found.dedup();
        Some(foot)
    }

    /// Replaces `found`, the elements near a foot, by those elements which `is_wide` accepts and the fewest
    /// bonds lead to from there, with their distances from the foot. Without any, `found` stays as it is.
    pub fn find_wide(
        &self,
        positions: &[DVec3],
        foot: DVec3,
        is_wide: impl Fn(u32) -> bool,
        found: &mut Vec<(f64, u32)>,
    ) {
        let mut reached: Vec<u32> = found.iter().map(|&(_, element)| element).collect();
        let mut seen: HashSet<u32> = reached.iter().copied().collect();
        let mut first = 0;
        for _ in 0..=CARRY_BONDS {
            let end = reached.len();
            if reached[first..].iter().any(|&element| is_wide(element)) {
                let wide = reached[first..].iter().filter(|element| is_wide(**element));
                let squared = |e: u32| foot.distance_squared(positions[e as usize]);
                *found = wide.map(|&element| (squared(element), element)).collect();
                found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                return;
            }
            for at in first..end {
                for &next in self.graph.neighbours(reached[at]) {
                    if seen.insert(next) {
                        reached.push(next);
                    }
                }
            }
            first = end;
        }
    }

    /// Point of the skin nearest to `x` and the point opposite to it, if that is within `thickness` (m), or
    /// the same point again; with their triangles.
    fn faces_of_blade(&self, mesh: &TriMesh, x: DVec3, thickness: f64) -> [(DVec3, u32); 2] {
        let (_, triangle) = self.bvh.nearest(mesh, x);
        let [a, b, c] = mesh.corners(triangle as usize);
        let face = nearest_on_triangle(x, [a, b, c]);
        let across = face - (b - a).cross(c - a).normalize_or_zero() * thickness;
        let from = face.lerp(across, 1e-6);
        let Some(distance) = self.bvh.first_on_segment(mesh, from, across) else {
            return [(face, triangle); 2];
        };
        let beyond = from + (across - from).normalize_or_zero() * distance;
        [(face, triangle), (beyond, self.bvh.nearest(mesh, beyond).1)]
    }

    /// The point nearest to `x` on the edges between a root and the roots next to it.
    fn near_root(&self, mesh: &TriMesh, root: u32, x: DVec3) -> DVec3 {
        let start = mesh.positions[root as usize];
        let others = self.edges.neighbours(root).iter();
        let roots = others.filter(|&&other| self.roots[other as usize] == other);
        let points = roots.map(|&other| {
            let along = mesh.positions[other as usize] - start;
            let part = (x - start).dot(along) / along.length_squared();
            start + along * part.clamp(0.0, 1.0)
        });
        points.fold(start, |best, point| {
            match point.distance_squared(x) < best.distance_squared(x) {
                true => point,
                false => best,
            }
        })
    }

    /// Whether elements near `x` may lie across a gap.
    pub fn is_near_gap(&self, bins: &ElementBins, x: DVec3) -> bool {
        self.near_gap[bins.flat_bin_of(x)]
    }

    /// Root of a vertex of the skin.
    pub fn root(&self, vertex: u32) -> u32 {
        self.roots[vertex as usize]
    }

    /// Keeps the elements of `found` that `x` is connected with. Returns whether it sees any; if not, `found`
    /// stays as it is.
    fn keep_connected(
        &self,
        ElementsAtRest {
            positions, radius, ..
        }: ElementsAtRest,
        mesh: &TriMesh,
        x: DVec3,
        found: &mut Vec<(f64, u32)>,
    ) -> bool {
        let sees = |element: u32| self.bvh.sees(mesh, x, positions[element as usize]);
        let sight = (SIGHT * radius).powi(2).max(found[0].0);
        let mut in_sight = found.iter().take_while(|entry| entry.0 <= sight);
        let Some(&(_, first)) = in_sight.find(|&&(_, element)| sees(element)) else {
            return false;
        };
        found.retain(|&(_, element)| self.graph.are_close(first, element) || sees(element));
        true
    }

    /// The elements that a vertex at `x` is connected with. `found` is a scratch buffer.
    fn of_vertex(
        &self,
        elements: ElementsAtRest,
        mesh: &TriMesh,
        x: DVec3,
        found: &mut Vec<(f64, u32)>,
    ) -> FoundElements {
        elements.nearest(x, |_| true, found);
        found.truncate(MAX_CANDIDATES);
        let before = found.len();
        let sees_any = self.keep_connected(elements, mesh, x, found);
        FoundElements {
            nearest: std::array::from_fn(|m| found[m.min(found.len() - 1)].1),
            sees_any,
            near_gap: !sees_any || found.len() != before,
        }
    }
}

/// Gives each vertex that does not see an element the root with the shortest way along edges and, by
/// `away` (m), from there to its nearest element.
fn spread_along_skin(
    positions: &[DVec3],
    edges: &BondGraph,
    (sees, away): (impl Fn(usize) -> bool, impl Fn(usize) -> f64),
    roots: &mut [u32],
) {
    // Lengths are not negative, so their bits are in their order.
    let mut queue = BinaryHeap::new();
    for vertex in (0..positions.len()).filter(|&vertex| sees(vertex)) {
        let neighbours = edges.neighbours(vertex as u32).iter();
        if neighbours.copied().any(|other| !sees(other as usize)) {
            queue.push(Reverse((
                away(vertex).to_bits(),
                vertex as u32,
                vertex as u32,
            )));
        }
    }
    let mut is_done = vec![false; positions.len()];
    while let Some(Reverse((way, vertex, root))) = queue.pop() {
        if std::mem::replace(&mut is_done[vertex as usize], true) {
            continue;
        }
        roots[vertex as usize] = root;
        for &other in edges.neighbours(vertex) {
            if !sees(other as usize) && !is_done[other as usize] {
                let step = positions[vertex as usize].distance(positions[other as usize]);
                let way = f64::from_bits(way) + step;
                queue.push(Reverse((way.to_bits(), other, root)));
            }
        }
    }
}
