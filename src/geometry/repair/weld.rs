//! Merges vertices at the same position, or near each other.

use super::repair_mesh::RepairMesh;
use crate::geometry::hash_grid::HashGrid;
use crate::math::UnionFind;

/// Merges used vertices within the tolerance of each other, each group at the position of its first vertex.
/// Returns the number of vertices removed.
pub fn merge_vertices(work: &mut RepairMesh) -> usize {
    let mut used: Vec<u32> = work.mesh.triangles.as_flattened().to_vec();
    used.sort_unstable();
    used.dedup();
    merge_within(work, &used, RepairMesh::TOLERANCE, |_| {
        RepairMesh::TOLERANCE
    })
}

/// Merges those of `vertices` (ascending) that are within the reach of both of each other, each group at the position
/// of its first vertex. `reach` takes the number of a vertex in the list and is at most `most`. Returns the number of
/// vertices removed.
pub fn merge_within(
    work: &mut RepairMesh,
    vertices: &[u32],
    most: f64,
    reach: impl Fn(usize) -> f64,
) -> usize {
    let positions = &work.mesh.positions;
    let place = |k: usize| positions[vertices[k] as usize];
    let grid = HashGrid::new(vertices.len(), most, place);
    let mut joined = UnionFind::new(positions.len());
    let mut merged = 0;
    for (k, &vertex) in vertices.iter().enumerate() {
        grid.around(place(k), |other| {
            let other = other as usize;
            let near = place(k).distance(place(other)) <= reach(k).min(reach(other));
            if near && other < k && joined.join(vertex, vertices[other]) {
                merged += 1;
            }
        });
    }
    let root = joined.roots();
    for vertex in work.mesh.triangles.as_flattened_mut() {
        *vertex = root[*vertex as usize];
    }
    merged
}

/// Removes triangles without three different vertices. Returns how many.
pub fn remove_degenerate(work: &mut RepairMesh) -> usize {
    let triangles = work.mesh.triangles.clone();
    work.retain(|t| {
        let [a, b, c] = triangles[t];
        a != b && b != c && c != a
    })
}
