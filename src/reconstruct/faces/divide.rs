//! Cuts closed surfaces along edges of triangles, and closes the holes.
//!
//! Rims of the cut that share a vertex have one common middle point, and each rim is closed by a fan around
//! it. So the fans of both sides coincide, whatever the rims look like, and the volumes of the parts add up
//! to the volume of the original.

use glam::DVec3;

use super::surface::BodySurface;
use crate::math::hash::QuickMap;
use crate::math::union_find::UnionFind;
use crate::reconstruct::surface::binding::Binding;

/// Label of triangles that belong to no cut-off piece.
pub const UNLABELLED: u32 = u32::MAX;

/// Triangles of closed surfaces, with their neighbours across edges.
pub struct TriangleAdjacency {
    /// Indices of the triangles in the surface, ascending. Other lists are indexed by position in this one.
    pub triangles: Vec<u32>,
    /// For each triangle, the positions (in `triangles`) of its neighbours across its edges, from each corner
    /// to the next.
    pub neighbours: Vec<[u32; 3]>,
}

impl TriangleAdjacency {
    /// Collects the triangles of the connected surfaces for which `is_wanted` is true, given the smallest
    /// vertex of each. Returns `None` if an edge does not have exactly one triangle on either side.
    pub fn new(surface: &BodySurface, is_wanted: impl Fn(u32) -> bool) -> Option<Self> {
        let all = (0_u32..).zip(&surface.triangles);
        let wanted = all.filter(|(_, corners)| is_wanted(surface.component[corners[0] as usize]));
        let triangles: Vec<u32> = wanted.map(|(triangle, _)| triangle).collect();
        let edges = |triangle: u32| {
            let [a, b, c] = surface.triangles[triangle as usize];
            [(a, b), (b, c), (c, a)]
        };
        let mut at_edge: QuickMap<(u32, u32), u32> = QuickMap::default();
        for (index, &triangle) in (0..).zip(&triangles) {
            for edge in edges(triangle) {
                if at_edge.insert(edge, index).is_some() {
                    return None;
                }
            }
        }
        let beyond = |(a, b): (u32, u32)| at_edge.get(&(b, a)).copied();
        let neighbours = triangles.iter().map(|&triangle| {
            let [a, b, c] = edges(triangle).map(beyond);
            Some([a?, b?, c?])
        });
        Some(TriangleAdjacency {
            neighbours: neighbours.collect::<Option<_>>()?,
            triangles,
        })
    }

    /// Corners of the triangle at a position in `triangles`.
    pub fn corners(&self, surface: &BodySurface, index: usize) -> [u32; 3] {
        surface.triangles[self.triangles[index] as usize]
    }

    /// Cuts between triangles of different labels and closes both sides with fans. Returns the middle
    /// vertices of the fans with the labels of their sides.
    pub fn cut(&self, surface: &mut BodySurface, label: &[u32]) -> Vec<(u32, u32)> {
        let origin = self.split_vertices(surface, label);
        // Start of each rim edge by its end: a fan runs against the triangles around it.
        let mut before: QuickMap<u32, u32> = QuickMap::default();
        let mut ends = Vec::new();
        let mut rims = UnionFind::new(origin.len());
        for (index, neighbours) in self.neighbours.iter().enumerate() {
            let corners = self.corners(surface, index);
            for (m, &other) in neighbours.iter().enumerate() {
                if label[other as usize] != label[index] {
                    let (from, to) = (corners[m], corners[(m + 1) % 3]);
                    before.insert(to, from);
                    ends.push((to, label[index]));
                    rims.join(origin[from as usize], origin[to as usize]);
                }
            }
        }
        let mut rim_of = |vertex: u32| rims.root(origin[vertex as usize]);
        let mut sums: QuickMap<u32, (DVec3, f64)> = QuickMap::default();
        for &(end, _) in &ends {
            let (sum, count) = sums.entry(rim_of(end)).or_default();
            *sum += surface.positions[end as usize];
            *count += 1.0;
        }
        let mut middles = Vec::new();
        for (end, label) in ends {
            let mut rim = Vec::new();
            let mut at = end;
            while let Some(from) = before.remove(&at) {
                rim.push(at);
                at = from;
            }
            if rim.is_empty() {
                continue; // already part of an earlier rim
            }
            let (sum, count) = sums[&rim_of(end)];
            let middle = surface.positions.len() as u32;
            surface.positions.push(sum / count);
            surface.bindings.push(Binding::Nearest);
            middles.push((middle, label));
            let fan = (0..rim.len()).map(|m| [rim[m], rim[(m + 1) % rim.len()], middle]);
            surface.triangles.extend(fan);
        }
        surface.inside.resize(surface.triangles.len(), 1);
        let count = surface.triangles.len();
        surface.sources.resize(count, u32::MAX);
        middles
    }

    /// Splits vertices on the cut: around a vertex, each set of triangles of one label that are connected by
    /// edges gets its own copy. Returns the original vertex of every vertex.
    fn split_vertices(&self, surface: &mut BodySurface, label: &[u32]) -> Vec<u32> {
        // Corner indices: three per triangle.
        let mut runs = UnionFind::new(3 * label.len());
        for (index, neighbours) in (0..).zip(&self.neighbours) {
            let corners = self.corners(surface, index as usize);
            for (m, &other) in neighbours.iter().enumerate() {
                if label[other as usize] != label[index as usize] {
                    continue;
                }
                let there = self.corners(surface, other as usize);
                for end in [m, (m + 1) % 3] {
                    let mut same = (0..3).filter(|&n| there[n as usize] == corners[end]);
                    if let Some(n) = same.next() {
                        runs.join(3 * index + end as u32, 3 * other + n);
                    }
                }
            }
        }
        let runs = runs.roots();
        let mut origin: Vec<u32> = (0..surface.positions.len() as u32).collect();
        let mut vertex_of: QuickMap<u32, u32> = QuickMap::default();
        let mut is_taken = vec![false; origin.len()];
        let labelled = (0..label.len()).filter(|&index| label[index] != UNLABELLED);
        for (index, m) in labelled.flat_map(|index| [0, 1, 2].map(|m| (index, m))) {
            let triangle = self.triangles[index] as usize;
            let vertex = surface.triangles[triangle][m];
            let own = vertex_of.entry(runs[3 * index + m]).or_insert_with(|| {
                // The first set keeps the existing vertex.
                if !std::mem::replace(&mut is_taken[vertex as usize], true) {
                    return vertex;
                }
                surface.positions.push(surface.positions[vertex as usize]);
                surface.bindings.push(surface.bindings[vertex as usize]);
                origin.push(vertex);
                origin.len() as u32 - 1
            });
            surface.triangles[triangle][m] = *own;
        }
        origin
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::geometry::icosphere;
    use crate::reconstruct::faces::fans::have_single_fans;

    fn ball() -> BodySurface {
        let mesh = icosphere(2);
        let mut surface = BodySurface {
            bindings: vec![Binding::Nearest; mesh.positions.len()],
            inside: vec![0; mesh.triangles.len()],
            sources: (0..mesh.triangles.len() as u32).collect(),
            positions: mesh.positions,
            triangles: mesh.triangles,
            component: Vec::new(),
        };
        surface.find_components();
        surface
    }

    fn volume(surface: &BodySurface) -> f64 {
        let of = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| surface.positions[v as usize]);
            a.dot(b.cross(c)) / 6.0
        };
        surface.triangles.iter().map(of).sum()
    }

    #[test]
    fn whatever_is_cut_off_is_closed_and_volumes_add_up() {
        let whole = volume(&ball());
        let mut state = 1_u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 16
        };
        // Rims that cross themselves and each other, and isolated triangles.
        for labels in [2, 3, 7] {
            let mut surface = ball();
            let adjacency = TriangleAdjacency::new(&surface, |_| true).unwrap();
            let label: Vec<u32> = adjacency
                .neighbours
                .iter()
                .map(|_| random() % labels)
                .collect();
            let middles = adjacency.cut(&mut surface, &label);
            surface.find_components();
            assert!(middles.len() > 20, "{} rims", middles.len());
            assert!(have_single_fans(surface.triangles.iter()));
            assert!((volume(&surface) / whole - 1.0).abs() < 1e-12);
            let count = surface.triangles.len();
            assert_eq!(
                (surface.inside.len(), surface.sources.len()),
                (count, count)
            );
            assert_eq!(surface.bindings.len(), surface.positions.len());
            let mut label_of = vec![None; surface.positions.len()];
            for (index, &label) in label.iter().enumerate() {
                let part = surface.component[adjacency.corners(&surface, index)[0] as usize];
                let known = label_of[part as usize].get_or_insert(label);
                assert_eq!(*known, label);
            }
        }
    }

    #[test]
    fn one_label_or_none_cuts_nothing_and_an_open_surface_is_refused() {
        let mut surface = ball();
        let (positions, triangles) = (surface.positions.clone(), surface.triangles.clone());
        let adjacency = TriangleAdjacency::new(&surface, |_| true).unwrap();
        for label in [5, UNLABELLED] {
            let labels = vec![label; triangles.len()];
            assert!(adjacency.cut(&mut surface, &labels).is_empty());
            assert_eq!(surface.positions, positions);
            assert_eq!(surface.triangles, triangles);
        }
        surface.triangles.pop();
        assert!(TriangleAdjacency::new(&surface, |_| true).is_none());
        surface.triangles.push(surface.triangles[0]);
        assert!(TriangleAdjacency::new(&surface, |_| true).is_none());
    }
}
