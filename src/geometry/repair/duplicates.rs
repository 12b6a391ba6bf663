//! Removes duplicate triangles, walls between two parts of a solid, and fins.

use super::repair_mesh::RepairMesh;
use crate::geometry::check::{Edge, patches, same_edge, sorted_edges};
use crate::math::UnionFind;

/// Marks a triangle without a duplicate.
const NO_DUPLICATE: u32 = u32::MAX;

/// Removes triangles with the same vertices as an earlier one. Returns how many.
///
/// Of each connected set of such triangles one copy stays. None stays if that leaves fewer open edges and
/// most of the surface: two bricks with a common face become one solid.
pub fn remove_duplicates(work: &mut RepairMesh) -> usize {
    let count = work.mesh.triangles.len();
    let mut keys: Vec<([u32; 3], u32)> = (0..)
        .zip(&work.mesh.triangles)
        .map(|(t, triangle)| {
            let mut key = *triangle;
            key.sort_unstable();
            (key, t)
        })
        .collect();
    keys.sort_unstable();
    let mut group = vec![NO_DUPLICATE; count];
    let mut is_first = vec![true; count];
    for same in keys.chunk_by(|a, b| a.0 == b.0).filter(|s| s.len() > 1) {
        for (_, t) in same {
            group[*t as usize] = same[0].1;
            is_first[*t as usize] = *t == same[0].1;
        }
    }
    if group.iter().all(|g| *g == NO_DUPLICATE) {
        return 0;
    }
    let mut edges = sorted_edges(&work.mesh);
    edges.retain(|edge| is_first[edge.3 as usize]);
    let doubles = |edge: &[Edge]| -> Vec<u32> {
        let groups = edge.iter().map(|e| group[e.3 as usize]);
        groups.filter(|g| *g != NO_DUPLICATE).collect()
    };
    let mut joined = UnionFind::new(count);
    for edge in edges.chunk_by(same_edge) {
        let groups = doubles(edge);
        for pair in groups.windows(2) {
            joined.join(pair[0], pair[1]);
        }
    }
    let root = joined.roots();
    // For each set, the number of open edges if it stays and if it is removed.
    let mut open = vec![[0_usize; 2]; count];
    for edge in edges.chunk_by(same_edge) {
        let groups = doubles(edge);
        if let Some(first) = groups.first() {
            let own = &mut open[root[*first as usize] as usize];
            own[0] += edge.len() % 2;
            own[1] += (edge.len() - groups.len()) % 2;
        }
    }
    let (mut areas, mut total) = (vec![0.0; count], 0.0);
    for t in (0..count).filter(|t| is_first[*t]) {
        let area = work.mesh.area_of(t);
        total += area;
        if group[t] != NO_DUPLICATE {
            areas[root[t] as usize] += area;
        }
    }
    work.retain(|t| {
        group[t] == NO_DUPLICATE || {
            let set = root[group[t] as usize] as usize;
            let [stays, goes] = open[set];
            is_first[t] && (stays <= goes || 2.0 * areas[set] > total)
        }
    })
}

/// Removes open sheets attached to an edge of a surface that is closed without them, if the sheets are the
/// smaller part. Returns the number of triangles removed.
pub fn remove_fins(work: &mut RepairMesh) -> usize {
    let edges = sorted_edges(&work.mesh);
    let patch = patches(work.mesh.triangles.len(), &edges);
    // For each patch, whether it has open edges, and whether it has edges with another odd number of
    // triangles.
    let mut bounds = vec![[false; 2]; patch.len()];
    for edge in edges.chunk_by(same_edge).filter(|e| e.len() % 2 == 1) {
        for one in edge {
            bounds[patch[one.3 as usize] as usize][usize::from(edge.len() > 1)] = true;
        }
    }
    let is_fin = |t: u32| bounds[patch[t as usize] as usize] == [true; 2];
    let is_closed = edges
        .chunk_by(same_edge)
        .all(|edge| edge.iter().filter(|e| !is_fin(e.3)).count() % 2 == 0);
    let fins = (0..patch.len()).filter(|t| is_fin(*t as u32));
    let area: f64 = fins.map(|t| work.mesh.area_of(t)).sum();
    if !is_closed || 2.0 * area > work.mesh.area() {
        return 0;
    }
    work.retain(|t| !is_fin(t as u32))
}
