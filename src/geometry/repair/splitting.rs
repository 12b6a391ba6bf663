//! Splits vertices that several surfaces share, or that one surface uses twice.

use super::error::RepairError;
use super::repair_mesh::RepairMesh;
use super::wind::NeighbourPair;
use crate::geometry::check::{same_edge, sorted_edges};
use crate::geometry::mesh::TriMesh;
use crate::math::UnionFind;

/// Fraction of the way to the average of its neighbours by which a copy moves.
const SPLIT_SHIFT: f64 = 1e-3;

/// Gives each fan of triangles about a vertex its own copy of the vertex, at the same position. Returns, for
/// each vertex, the vertex that it is a copy of.
pub fn split_fans(work: &mut RepairMesh, pairs: &[NeighbourPair]) -> Result<Vec<u32>, RepairError> {
    let triangles = &work.mesh.triangles;
    let corner = |t: u32, v: u32| {
        let at = triangles[t as usize].iter().position(|w| *w == v);
        3 * t + at.expect("the edge is of this triangle") as u32
    };
    let mut joined = UnionFind::new(3 * triangles.len());
    for pair in pairs {
        let [s, t] = pair.triangles;
        for v in pair.edge {
            joined.join(corner(s, v), corner(t, v));
        }
    }
    let fan = joined.roots();
    let mut original: Vec<u32> = (0..work.mesh.positions.len() as u32).collect();
    let mut is_taken = vec![false; original.len()];
    let mut vertex_of = vec![0; fan.len()];
    for (corner, &root) in fan.iter().enumerate() {
        let vertex = work.mesh.triangles[corner / 3][corner % 3];
        // The root of a fan is its first corner.
        if root as usize == corner {
            vertex_of[corner] = vertex;
            if std::mem::replace(&mut is_taken[vertex as usize], true) {
                vertex_of[corner] = original.len() as u32;
                original.push(vertex);
                is_taken.push(true);
                let place = work.mesh.positions[vertex as usize];
                work.mesh.positions.push(place);
            }
        }
        work.mesh.triangles[corner / 3][corner % 3] = vertex_of[root as usize];
    }
    require_two(work, &original)?;
    Ok(original)
}

/// Refuses edges with more than two triangles. `original` gives, for each vertex, the vertex that it is a copy of.
pub fn require_two(work: &RepairMesh, original: &[u32]) -> Result<(), RepairError> {
    let edges = sorted_edges(&work.mesh);
    let mut many = edges.chunk_by(same_edge).filter(|edge| edge.len() > 2);
    let Some(first) = many.next() else {
        return Ok(());
    };
    Err(RepairError::NonManifold {
        edges: 1 + many.count(),
        count: first.len(),
        vertices: [first[0].0, first[0].1].map(|v| original[v as usize]),
        near: work.middle(first[0].0, first[0].1),
    })
}

/// Copy of the mesh that uses the original vertices instead of their copies.
pub fn with_originals(mesh: &TriMesh, original: &[u32]) -> TriMesh {
    let mut mesh = mesh.clone();
    for vertex in mesh.triangles.as_flattened_mut() {
        *vertex = original[*vertex as usize];
    }
    mesh
}

/// Moves each split vertex and its copies a little towards their neighbours. Returns the number of vertices
/// with copies.
pub fn move_apart(work: &mut RepairMesh, original: &[u32]) -> usize {
    let mut copies = vec![0_usize; original.len()];
    original.iter().for_each(|v| copies[*v as usize] += 1);
    let shared: Vec<bool> = original.iter().map(|v| copies[*v as usize] > 1).collect();
    let mut sums = vec![(glam::DVec3::ZERO, 0.0); original.len()];
    for triangle in &work.mesh.triangles {
        for k in 0..3 {
            let sum = &mut sums[triangle[k] as usize];
            sum.0 += work.mesh.positions[triangle[(k + 1) % 3] as usize];
            sum.1 += 1.0;
        }
    }
    for (v, (sum, count)) in sums.into_iter().enumerate() {
        if shared[v] && count > 0.0 {
            let place = &mut work.mesh.positions[v];
            *place += (sum / count - *place) * SPLIT_SHIFT;
        }
    }
    copies.iter().filter(|n| **n > 1).count()
}
