//! Repairs of open surfaces that need a length: gaps at borders, small loose parts, and walls inside.

use std::collections::BTreeMap;

use glam::DVec3;

use super::repair_mesh::RepairMesh;
use super::weld::merge_within;
use crate::geometry::check::{components, patches, same_edge, sorted_edges};
use crate::geometry::mesh::TriMesh;
use crate::geometry::winding::Winding;

/// Maximum number of points of a patch at which the winding number is taken.
const MAX_SAMPLES: usize = 32;

/// Removes open parts without an edge to others that are smaller than `size`, such as loose triangles that boolean
/// operations leave. Returns the number of triangles removed.
pub fn remove_loose_parts(work: &mut RepairMesh, size: f64) -> usize {
    let edges = sorted_edges(&work.mesh);
    let part = components(work.mesh.triangles.len(), &edges);
    let mut bounds: BTreeMap<u32, (DVec3, DVec3)> = BTreeMap::new();
    for (t, part) in part.iter().enumerate() {
        for p in work.mesh.corners(t) {
            let (low, high) = bounds.entry(*part).or_insert((p, p));
            (*low, *high) = (low.min(p), high.max(p));
        }
    }
    let mut is_open = vec![false; part.len()];
    for edge in edges.chunk_by(same_edge).filter(|edge| edge.len() == 1) {
        is_open[part[edge[0].3 as usize] as usize] = true;
    }
    let is_loose = |t: usize| {
        let (low, high) = bounds[&part[t]];
        is_open[part[t] as usize] && (high - low).max_element() < size
    };
    // A mesh that has no other parts stays whole.
    if (0..part.len()).all(is_loose) {
        return 0;
    }
    work.retain(|t| !is_loose(t))
}

/// Largest gap over the shortest border edge at a vertex: vertices along a border never merge.
const GAP_EDGES: f64 = 0.3;

/// Merges vertices at borders that are within `gap` of each other and far closer than their neighbours along the
/// border, each group at the position of its first vertex. Returns the number of vertices removed.
pub fn close_gaps(work: &mut RepairMesh, gap: f64) -> usize {
    let edges = sorted_edges(&work.mesh);
    let positions = &work.mesh.positions;
    // Border vertices, and how far each may be moved.
    let mut reach: BTreeMap<u32, f64> = BTreeMap::new();
    for edge in edges.chunk_by(same_edge).filter(|edge| edge.len() == 1) {
        let ends = [edge[0].0, edge[0].1];
        let [a, b] = ends.map(|v| positions[v as usize]);
        let own = GAP_EDGES * a.distance(b);
        for end in ends {
            let least = reach.entry(end).or_insert(gap);
            *least = least.min(own);
        }
    }
    let (border, reach): (Vec<u32>, Vec<f64>) = reach.into_iter().unzip();
    merge_within(work, &border, gap, |k| reach[k])
}

/// Removes walls inside: patches with an edge of an odd number of triangles, three or more, around which the others
/// wind without them. Triangles on both sides of an edge of two must be wound consistently. Small patches are tried
/// first. Returns the number of triangles removed.
pub fn remove_walls(work: &mut RepairMesh) -> usize {
    let edges = sorted_edges(&work.mesh);
    let odd = edges.chunk_by(same_edge);
    let odd = odd.filter(|edge| edge.len() > 1 && edge.len() % 2 == 1);
    let mut candidates: Vec<u32> = odd.flatten().map(|edge| edge.3).collect();
    if candidates.is_empty() {
        return 0;
    }
    let patch = patches(work.mesh.triangles.len(), &edges);
    let mut triangles: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (t, patch) in patch.iter().enumerate() {
        triangles.entry(*patch).or_default().push(t);
    }
    candidates.iter_mut().for_each(|t| *t = patch[*t as usize]);
    candidates.sort_unstable();
    candidates.dedup();
    candidates.sort_by_key(|patch| triangles[patch].len());
    let part = |own: &[usize]| TriMesh {
        positions: own.iter().flat_map(|t| work.mesh.corners(*t)).collect(),
        triangles: (0..own.len() as u32)
            .map(|t| [0, 1, 2].map(|m| 3 * t + m))
            .collect(),
        ..TriMesh::default()
    };
    let all = Winding::new(&work.mesh);
    // What is left winds as the whole does, less the walls found so far.
    let mut walls = TriMesh::default();
    let mut is_wall = vec![false; patch.len()];
    for number in candidates {
        let own = &triangles[&number];
        let mut gone = part(own);
        gone.append(walls.clone());
        let without = Winding::new(&gone);
        let stride = own.len().div_ceil(MAX_SAMPLES);
        let mut points = own.iter().step_by(stride).map(|t| {
            let [a, b, c] = work.mesh.corners(*t);
            // Beside the patch, where both numbers are defined.
            let side = (b - a).cross(c - a).normalize_or_zero();
            (a + b + c) / 3.0 + side * RepairMesh::TOLERANCE
        });
        if points.all(|p| all.number(p) - without.number(p) > 0.5) {
            own.iter().for_each(|t| is_wall[*t] = true);
            walls = gone;
        }
    }
    work.retain(|t| !is_wall[t])
}
