//! Merges vertices at the same position.

use super::repair_mesh::RepairMesh;
use crate::geometry::hash_grid::HashGrid;
use crate::math::UnionFind;

/// Merges used vertices within the tolerance of each other, each group at the position of its first vertex.
/// Returns the number of vertices removed.
pub fn merge_vertices(work: &mut RepairMesh) -> usize {
    let positions = &work.mesh.positions;
    let mut used: Vec<u32> = work.mesh.triangles.as_flattened().to_vec();
    used.sort_unstable();
    used.dedup();
    let place = |k: usize| positions[used[k] as usize];
    let grid = HashGrid::new(used.len(), RepairMesh::TOLERANCE, place);
    let mut joined = UnionFind::new(positions.len());
    let mut merged = 0;
    for (k, &vertex) in used.iter().enumerate() {
        grid.around(place(k), |other| {
            let near = place(k).distance(place(other as usize)) <= RepairMesh::TOLERANCE;
            if near && (other as usize) < k && joined.join(vertex, used[other as usize]) {
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
