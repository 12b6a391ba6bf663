//! Merges vertices and removes triangles that bound nothing: the first steps of every repair.

use super::duplicates::remove_duplicates;
use super::error::RepairError;
use super::junctions::join_vertices;
use super::repair_mesh::RepairMesh;
use super::report::Repairs;
use super::weld::{merge_vertices, remove_degenerate};
use crate::geometry::mesh::TriMesh;

/// Prepares a mesh for repair: merges vertices at the same position, closes slits, and removes degenerate and double
/// triangles. Records in `done` what was done.
pub fn clean(mesh: &TriMesh, done: &mut Repairs) -> Result<RepairMesh, RepairError> {
    let mut work = RepairMesh::new(mesh)?;
    done.unused_vertices = work.unused;
    done.merged_vertices = merge_vertices(&mut work);
    done.degenerate_triangles = remove_degenerate(&mut work);
    done.duplicate_triangles = remove_duplicates(&mut work);
    done.joined_vertices = join_vertices(&mut work);
    done.degenerate_triangles += remove_degenerate(&mut work);
    done.duplicate_triangles += remove_duplicates(&mut work);
    Ok(work)
}
