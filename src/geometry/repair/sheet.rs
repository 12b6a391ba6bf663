//! Repairs an open surface that is to become a solid by being given a thickness.

use super::clean::clean;
use super::error::RepairError;
use super::repair_mesh::RepairMesh;
use super::report::Repairs;
use super::splitting::{require_two, split_fans};
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
    let mut work = clean(mesh, &mut done)?;
    if work.mesh.triangles.is_empty() {
        return Err(RepairError::Empty);
    }
    let own: Vec<u32> = (0..work.mesh.positions.len() as u32).collect();
    require_two(&work, &own)?;
    let (pairs, turned) = wind_patches(&mut work)?;
    done.turned_triangles = turned;
    split_fans(&mut work, &pairs)?;
    Ok((without_unused(&work.in_original_coordinates()), done))
}

/// Winds neighbours over edges of two triangles consistently, each part in the sense that more of its area had.
/// Returns these neighbours and the number of triangles reversed.
pub fn wind_patches(work: &mut RepairMesh) -> Result<(Vec<NeighbourPair>, usize), RepairError> {
    let before = work.mesh.triangles.clone();
    let pairs = pairs_of_two(work);
    wind(work, &pairs)?;
    keep_sense(work, &before, &pairs);
    let after = work.mesh.triangles.iter().zip(&before);
    let turned = after.filter(|(after, before)| after != before).count();
    Ok((pairs, turned))
}

/// Neighbours over each edge of two triangles.
fn pairs_of_two(work: &RepairMesh) -> Vec<NeighbourPair> {
    let edges = sorted_edges(&work.mesh);
    let pairs = edges.chunk_by(same_edge).filter_map(|group| match group {
        [s, t] => Some(NeighbourPair {
            triangles: [s.3, t.3],
            edge: [s.0, s.1],
            is_same_direction: s.2 == t.2,
        }),
        _ => None,
    });
    pairs.collect()
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
