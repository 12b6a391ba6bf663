//! Which elements a point of the solid is connected with.
//!
//! The element nearest to a point may lie across a gap: beside a thin ear that no element fits into, or in
//! the other prong of a fork. A point *sees* an element if the segment between them does not leave the
//! solid. It is connected with the elements that it sees, and with those that at most two bonds join to the
//! nearest of them. Vertices of the skin that see no element near them, as at the tip of a bent blade, are
//! connected with the elements of the vertex that is nearest along the skin.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::DVec3;

use super::bins::ElementBins;
use super::graph::BondGraph;
use super::skin::Skin;
use crate::geometry::TriMesh;
use crate::geometry::bvh::Bvh;
use crate::parallel::prelude::*;
use crate::reconstruct::surface::rigged::MAX_INFLUENCES;

/// Initial search radius for the nearest elements, radii.
const SEARCH_RADIUS: f64 = 2.5;
/// Distance up to which the elements that a point sees are searched for, radii.
const SIGHT: f64 = 6.0;
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
    /// The nearest connected element of each vertex of the skin.
    below: Vec<u32>,
    /// For each bin of elements, whether points in it may be near elements across a gap.
    near_gap: Vec<bool>,
}

/// The elements found for a vertex of the skin.
struct FoundElements {
    /// The nearest connected elements; `None` if the vertex sees none.
    nearest: Option<[u32; MAX_INFLUENCES]>,
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
            below: Vec::new(),
            near_gap: Vec::new(),
        };
        let vertices = mesh.positions.par_iter().with_min_len(256);
        let found: Vec<FoundElements> = vertices
            .map_init(Vec::new, |found, &x| {
                reach.of_vertex(elements, mesh, x, found)
            })
            .collect();
        let is_near_gap = |vertex: usize| found[vertex].near_gap;
        let any = (0..found.len()).any(is_near_gap);
        let nearest = reach.along_skin(elements, skin, &found);
        if !any {
            return (nearest, None);
        }
        reach.near_gap = vec![false; elements.bins.count()];
        let margin = GAP_MARGIN * elements.radius;
        for vertex in (0..found.len()).filter(|&vertex| is_near_gap(vertex)) {
            let x = mesh.positions[vertex];
            let near_gap = &mut reach.near_gap;
            elements
                .bins
                .each_bin(x, margin, |bin| near_gap[bin] = true);
        }
        reach.below = nearest.iter().map(|elements| elements[0]).collect();
        (nearest, Some(reach))
    }

    /// Removes the elements that `x` is not connected with from `found`, the elements near `x` as (squared
    /// distance, element), nearest first. If it sees none of them, those below the nearest vertex of the skin
    /// replace them. Returns whether anything changed.
    pub fn drop_unconnected(
        &self,
        elements: ElementsAtRest,
        mesh: &TriMesh,
        x: DVec3,
        found: &mut Vec<(f64, u32)>,
    ) -> bool {
        if !self.near_gap[elements.bins.flat_bin_of(x)] {
            return false;
        }
        let before = found.len();
        if !self.keep_connected(elements.positions, mesh, x, found) {
            let (_, triangle) = self.bvh.nearest(mesh, x);
            let corners = mesh.triangles[triangle as usize].into_iter();
            let squared = |&v: &u32| mesh.positions[v as usize].distance_squared(x);
            let corner = corners.min_by(|a, b| squared(a).total_cmp(&squared(b)).then(a.cmp(b)));
            let corner = corner.expect("a triangle has corners");
            self.around(elements.positions, x, self.below[corner as usize], found);
            return true;
        }
        found.len() != before
    }

    /// Keeps the elements of `found` that `x` is connected with. Returns whether it sees any; if not, `found`
    /// stays as it is.
    fn keep_connected(
        &self,
        positions: &[DVec3],
        mesh: &TriMesh,
        x: DVec3,
        found: &mut Vec<(f64, u32)>,
    ) -> bool {
        let sees = |element: u32| self.bvh.sees(mesh, x, positions[element as usize]);
        let Some(&(_, first)) = found.iter().find(|&&(_, element)| sees(element)) else {
            return false;
        };
        found.retain(|&(_, element)| self.graph.are_close(first, element) || sees(element));
        true
    }

    /// The elements that at most two bonds join to `element`, nearest to `x` first, in `found`.
    fn around(&self, positions: &[DVec3], x: DVec3, element: u32, found: &mut Vec<(f64, u32)>) {
        let squared = |e: u32| (x.distance_squared(positions[e as usize]), e);
        found.clear();
        found.push(squared(element));
        for &near in self.graph.neighbours(element) {
            found.push(squared(near));
            found.extend(self.graph.neighbours(near).iter().map(|&e| squared(e)));
        }
        found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        found.dedup();
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
        let before = found.len();
        let mut sees_any = self.keep_connected(elements.positions, mesh, x, found);
        let mut near_gap = found.len() != before;
        if !sees_any {
            near_gap = true;
            let sight = SIGHT * elements.radius;
            elements
                .bins
                .within(elements.positions, x, sight, |_| true, found);
            sees_any = self.keep_connected(elements.positions, mesh, x, found);
        }
        FoundElements {
            near_gap,
            nearest: sees_any.then(|| first_of(found)),
        }
    }

    /// The nearest connected elements of all vertices: those of vertices that see none follow from the vertex
    /// that is nearest along the edges of the skin.
    fn along_skin(
        &self,
        elements: ElementsAtRest,
        skin: &Skin,
        found: &[FoundElements],
    ) -> NearestElements {
        let positions = &skin.mesh.positions;
        let mut below: Vec<Option<u32>> = found
            .iter()
            .map(|found| found.nearest.map(|elements| elements[0]))
            .collect();
        if below.iter().any(Option::is_none) {
            spread_along_skin(elements.positions, skin, &mut below);
        }
        let vertices = found.par_iter().zip(&below).zip(positions);
        vertices
            .with_min_len(256)
            .map_init(Vec::new, |near, ((found, below), &x)| {
                if let Some(nearest) = found.nearest {
                    return nearest;
                }
                match *below {
                    Some(element) => self.around(elements.positions, x, element, near),
                    // A part of the skin without any element inside.
                    None => elements.nearest(x, |_| true, near),
                }
                first_of(near)
            })
            .collect()
    }
}

/// The first entries of a list; the last one fills the array.
fn first_of(found: &[(f64, u32)]) -> [u32; MAX_INFLUENCES] {
    std::array::from_fn(|m| found[m.min(found.len() - 1)].1)
}

/// Gives each vertex without an element below it that of the vertex with the shortest way along edges and
/// from there to the element.
fn spread_along_skin(elements: &[DVec3], skin: &Skin, below: &mut [Option<u32>]) {
    let positions = &skin.mesh.positions;
    let pairs = skin.edges.iter().copied();
    let edges = BondGraph::new(positions.len(), pairs);
    let lacks: Vec<bool> = below.iter().map(Option::is_none).collect();
    // Lengths are not negative, so their bits are in their order.
    let mut queue = BinaryHeap::new();
    let border = |&vertex: &u32| {
        let neighbours = edges.neighbours(vertex).iter();
        neighbours.copied().any(|other| lacks[other as usize])
    };
    for vertex in (0..positions.len() as u32).filter(border) {
        if let Some(element) = below[vertex as usize] {
            let away = positions[vertex as usize].distance(elements[element as usize]);
            queue.push(Reverse((away.to_bits(), vertex, element)));
        }
    }
    let mut is_done = vec![false; positions.len()];
    while let Some(Reverse((way, vertex, element))) = queue.pop() {
        if std::mem::replace(&mut is_done[vertex as usize], true) {
            continue;
        }
        below[vertex as usize] = Some(element);
        for &other in edges.neighbours(vertex) {
            if lacks[other as usize] && !is_done[other as usize] {
                let step = positions[vertex as usize].distance(positions[other as usize]);
                let way = f64::from_bits(way) + step;
                queue.push(Reverse((way.to_bits(), other, element)));
            }
        }
    }
}
