//! Repairs of open surfaces that need a length: gaps at borders, small loose parts, and walls inside.

use std::collections::BTreeMap;

use glam::DVec3;

use super::repair_mesh::RepairMesh;
use crate::geometry::check::{components, patches, same_edge, sorted_edges};
use crate::geometry::hash_grid::HashGrid;
use crate::geometry::mesh::TriMesh;
use crate::geometry::winding::Winding;
use crate::math::UnionFind;

/// Maximum number of patches that are tried as walls: each needs the winding number of all others.
const MAX_WALLS: usize = 64;
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
    let place = |k: usize| positions[border[k] as usize];
    let grid = HashGrid::new(border.len(), gap, place);
    let mut joined = UnionFind::new(positions.len());
    let mut merged = 0;
    for (k, &vertex) in border.iter().enumerate() {
        grid.around(place(k), |other| {
            let other = other as usize;
            let is_near = place(k).distance(place(other)) <= reach[k].min(reach[other]);
            if is_near && other < k && joined.join(vertex, border[other]) {
                merged += 1;
            }
        });
    }
    if merged > 0 {
        let root = joined.roots();
        for vertex in work.mesh.triangles.as_flattened_mut() {
            *vertex = root[*vertex as usize];
        }
    }
    merged
}

/// Removes walls inside: patches with an edge of three or more triangles around which the others wind without them.
/// Triangles on both sides of an edge of two must be wound consistently. Returns the number of triangles removed.
pub fn remove_walls(work: &mut RepairMesh) -> usize {
    let mut removed = 0;
    for _ in 0..MAX_WALLS {
        let gone = remove_wall(work);
        if gone == 0 {
            break;
        }
        removed += gone;
    }
    removed
}

/// Removes the smallest wall inside. Returns the number of its triangles.
fn remove_wall(work: &mut RepairMesh) -> usize {
    let edges = sorted_edges(&work.mesh);
    let patch = patches(work.mesh.triangles.len(), &edges);
    let mut triangles: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (t, patch) in patch.iter().enumerate() {
        triangles.entry(*patch).or_default().push(t);
    }
    let odd = edges.chunk_by(same_edge);
    let odd = odd.filter(|edge| edge.len() > 1 && edge.len() % 2 == 1);
    let mut candidates: Vec<u32> = odd.flatten().map(|edge| patch[edge.3 as usize]).collect();
    candidates.sort_unstable();
    candidates.dedup();
    candidates.sort_by_key(|patch| triangles[patch].len());
    for wall in candidates.into_iter().take(MAX_WALLS) {
        let others = (0..patch.len()).filter(|t| patch[*t] != wall);
        let rest = TriMesh {
            positions: work.mesh.positions.clone(),
            triangles: others.map(|t| work.mesh.triangles[t]).collect(),
            ..TriMesh::default()
        };
        let winding = Winding::new(&rest);
        let own = &triangles[&wall];
        let stride = own.len().div_ceil(MAX_SAMPLES);
        let mut centres = own.iter().step_by(stride).map(|t| {
            let corners = work.mesh.corners(*t);
            corners.iter().sum::<DVec3>() / 3.0
        });
        if centres.all(|p| winding.number(p) > 0.5) {
            return work.retain(|t| patch[t] != wall);
        }
    }
    0
}
