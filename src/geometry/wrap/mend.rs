//! Removes crossings of the dual surface with itself: vertices nearby move back to the mean of their crossings.

use super::vertices::DualSurface;
use crate::geometry::intersect::meeting_pairs;
use crate::geometry::mesh::TriMesh;

/// Rounds of moving vertices. The first ones go half of the way back, the last ones all of it and further out.
const MAX_ROUNDS: u32 = 12;
/// Rounds after which vertices move all of the way.
const HALF_ROUNDS: u32 = 3;

/// The surface with vertices moved until it no longer crosses itself, as far as that is possible.
pub fn untangle(dual: DualSurface) -> TriMesh {
    let DualSurface { mut mesh, safe, .. } = dual;
    for round in 0..MAX_ROUNDS {
        let pairs = meeting_pairs(&mesh);
        if pairs.is_empty() {
            break;
        }
        let mut is_tangled = vec![false; mesh.positions.len()];
        for t in pairs.as_flattened() {
            for v in mesh.triangles[*t as usize] {
                is_tangled[v as usize] = true;
            }
        }
        // Later rounds take the neighbours too.
        if round > HALF_ROUNDS {
            let before = is_tangled.clone();
            for triangle in &mesh.triangles {
                if triangle.iter().any(|v| before[*v as usize]) {
                    triangle.iter().for_each(|v| is_tangled[*v as usize] = true);
                }
            }
        }
        let part = if round < HALF_ROUNDS { 0.5 } else { 1.0 };
        for (v, place) in mesh.positions.iter_mut().enumerate() {
            if is_tangled[v] {
                *place = place.lerp(safe[v], part);
            }
        }
    }
    mesh
}
