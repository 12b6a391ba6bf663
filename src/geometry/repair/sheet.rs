//! Repairs an open surface that is to become a solid by being given a thickness.

use super::duplicates::remove_duplicates;
use super::error::RepairError;
use super::junctions::join_vertices;
use super::repair_mesh::RepairMesh;
use super::report::Repairs;
use super::splitting::split_fans;
use super::weld::{merge_vertices, remove_degenerate};
use super::wind::{NeighbourPair, wind};
use crate::geometry::check::{same_edge, sorted_edges};
use crate::geometry::mesh::TriMesh;
use crate::geometry::read::without_unused;
use crate::math::UnionFind;

/// Repairs a surface with at most two triangles per edge, open or closed, and reports what was done. Each
/// connected part is wound consistently, in the sense that more of its area had, and each vertex has one fan
/// of triangles.
///
/// # Errors
///
/// Damaged meshes, edges of more than two triangles, and one-sided surfaces.
pub fn sheet(mesh: &TriMesh) -> Result<(TriMesh, Repairs), RepairError> {
    let mut done = Repairs::default();
    let mut work = RepairMesh::new(mesh)?;
    done.unused_vertices = work.unused;
    done.merged_vertices = merge_vertices(&mut work);
    done.degenerate_triangles = remove_degenerate(&mut work);
    done.duplicate_triangles = remove_duplicates(&mut work);
    done.joined_vertices = join_vertices(&mut work);
    done.degenerate_triangles += remove_degenerate(&mut work);
    if work.mesh.triangles.is_empty() {
        return Err(RepairError::Empty);
    }
    let pairs = pairs(&work)?;
    let before = work.mesh.triangles.clone();
    wind(&mut work, &pairs)?;
    keep_sense(&mut work, &before, &pairs);
    let turned = work.mesh.triangles.iter().zip(&before);
    done.turned_triangles = turned.filter(|(after, before)| after != before).count();
    split_fans(&mut work, &pairs)?;
    Ok((without_unused(&work.in_original_coordinates()), done))
}

/// Neighbours over each edge of two triangles.
fn pairs(work: &RepairMesh) -> Result<Vec<NeighbourPair>, RepairError> {
    let edges = sorted_edges(&work.mesh);
    let mut pairs = Vec::with_capacity(edges.len() / 2);
    for group in edges.chunk_by(same_edge) {
        match group {
            [] | [_] => {}
            [s, t] => pairs.push(NeighbourPair {
                triangles: [s.3, t.3],
                edge: [s.0, s.1],
                is_same_direction: s.2 == t.2,
            }),
            [first, ..] => {
                let groups = edges.chunk_by(same_edge);
                return Err(RepairError::NonManifold {
                    edges: groups.filter(|edge| edge.len() > 2).count(),
                    count: group.len(),
                    vertices: [first.0, first.1],
                    near: work.middle(first.0, first.1),
                });
            }
        }
    }
    Ok(pairs)
}

/// Reverses the parts most of whose area was turned.
fn keep_sense(work: &mut RepairMesh, before: &[[u32; 3]], pairs: &[NeighbourPair]) {
    let mut joined = UnionFind::new(before.len());
    for pair in pairs {
        joined.join(pair.triangles[0], pair.triangles[1]);
    }
    let part = joined.roots();
    // Area that was turned minus area that was not, per part.
    let mut excess = vec![0.0; before.len()];
    for (t, part) in part.iter().enumerate() {
        let sign = match work.mesh.triangles[t] == before[t] {
            true => -1.0,
            false => 1.0,
        };
        excess[*part as usize] += sign * work.mesh.area_of(t);
    }
    for (t, part) in part.iter().enumerate() {
        if excess[*part as usize] > 0.0 {
            work.mesh.flip(t);
        }
    }
}
