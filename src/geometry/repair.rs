//! Repairs a triangle mesh from a file for boundary elements. The result is closed, wound outward, bounds one
//! solid and has no triangles without a normal.
//!
//! Defects with one sensible fix are repaired; others are refused with an error that says what is wrong and
//! where. Vertices stay in place bit for bit, except where a solid touches itself: those are moved apart.

mod clean;
mod closed;
mod duplicates;
mod error;
mod gaps;
mod holes;
mod junctions;
mod needles;
mod repair_mesh;
mod report;
mod sheet;
mod solids;
mod splitting;
mod weld;
mod wind;

use glam::DVec3;

pub use closed::{ClosedParts, close_parts};
pub use error::{RepairError, SolidSummary};
pub use report::Repairs;
pub use sheet::sheet;

use super::check::{same_edge, sorted_edges, wind_outward};
use super::intersect::self_intersections;
use super::mesh::TriMesh;
use super::read::without_unused;
use repair_mesh::RepairMesh;

#[cfg(test)]
mod tests;

/// A mesh is flat if no vertex is farther from a plane than this fraction of its size.
const FLATNESS: f64 = 1e-9;

/// Repairs the mesh of one solid, which may have cavities, and reports what was done.
///
/// # Errors
///
/// Defects that cannot be repaired, with their position; [`RepairError::Several`] if the mesh bounds several
/// solids, even if they touch at vertices or edges, as such a joint transmits no stress. [`solids()`] returns
/// them one by one.
pub fn repair(mesh: &TriMesh) -> Result<(TriMesh, Repairs), RepairError> {
    let mut done = Repairs::default();
    let (mut work, original) = closed_surfaces(mesh, &mut done)?;
    let found = solids::solids(&work.mesh);
    match found.len() {
        0 => Err(RepairError::NoVolume {
            near: work.centre(0),
        }),
        1 => {
            done.split_vertices = splitting::move_apart(&mut work, &original);
            if done.split_vertices > 0 {
                require_no_self_crossing(&work, &work.mesh)?;
            }
            done.turned_triangles = count_turned(mesh, &work, &original);
            Ok((without_unused(&work.in_original_coordinates()), done))
        }
        _ => Err(RepairError::Several(solids::summaries(&found, |p| {
            work.to_original(p)
        }))),
    }
}

/// Repairs each solid that a mesh bounds, with its cavities, and reports what was done in total.
///
/// # Errors
///
/// As [`repair`], except that several solids are allowed.
pub fn solids(mesh: &TriMesh) -> Result<(Vec<TriMesh>, Repairs), RepairError> {
    let mut done = Repairs::default();
    let (work, original) = closed_surfaces(mesh, &mut done)?;
    done.turned_triangles = count_turned(mesh, &work, &original);
    let mut found = Vec::new();
    for solid in solids::solids(&work.in_original_coordinates()) {
        // Vertices at which one solid touches itself are split in that solid only.
        let (solid, own) = repair(&solid)?;
        done.split_vertices += own.split_vertices;
        found.push(solid);
    }
    if found.is_empty() {
        return Err(RepairError::NoVolume {
            near: work.centre(0),
        });
    }
    Ok((found, done))
}

/// Closed surfaces that do not cut each other, wound out of the solid, with one fan of triangles per vertex.
/// Also returns, for each vertex, the vertex that it is a copy of.
fn closed_surfaces(
    mesh: &TriMesh,
    done: &mut Repairs,
) -> Result<(RepairMesh, Vec<u32>), RepairError> {
    let mut work = clean::clean(mesh, done)?;
    done.fin_triangles = duplicates::remove_fins(&mut work);
    if work.mesh.triangles.is_empty() || is_flat(&work.mesh) {
        let near = mesh.corners(0).iter().sum::<DVec3>() / 3.0;
        return Err(RepairError::NoVolume { near });
    }
    let pairs = wind::pairs(&work)?;
    let whole = work.mesh.clone();
    let is_plain = sorted_edges(&whole)
        .chunk_by(same_edge)
        .all(|edge| edge.len() == 2);
    let original = wind::wind(&mut work, &pairs)
        .and_then(|()| splitting::split_fans(&mut work, &pairs))
        .map_err(|error| {
            // Surfaces that overlap in a face also have edges of four triangles; the overlap is the better
            // explanation.
            let overlap = require_no_self_crossing(&work, &whole).err();
            let is_plain = matches!(error, RepairError::OneSided { .. }) && is_plain;
            overlap.filter(|_| !is_plain).unwrap_or(error)
        })?;
    done.flat_triangles = solids::remove_flat_shells(&mut work);
    needles::remove_needles(&mut work, done)?;
    require_no_self_crossing(&work, &splitting::with_originals(&work.mesh, &original))?;
    solids::require_clearance(&work, &original)?;
    let edges = sorted_edges(&work.mesh);
    wind_outward(&mut work.mesh, &edges);
    Ok((work, original))
}

/// Repairs closed surfaces, of one or several solids, and reports what was done. Vertices at which they touch are
/// moved apart.
///
/// # Errors
///
/// As [`repair`], except that several solids are allowed.
pub fn surfaces(mesh: &TriMesh) -> Result<(TriMesh, Repairs), RepairError> {
    let mut done = Repairs::default();
    let (mut work, original) = closed_surfaces(mesh, &mut done)?;
    done.split_vertices = splitting::move_apart(&mut work, &original);
    if done.split_vertices > 0 {
        require_no_self_crossing(&work, &work.mesh)?;
    }
    done.turned_triangles = count_turned(mesh, &work, &original);
    Ok((without_unused(&work.in_original_coordinates()), done))
}

/// Refuses a mesh that cuts itself. `mesh` is that of `work`, with or without copies of vertices merged.
fn require_no_self_crossing(work: &RepairMesh, mesh: &TriMesh) -> Result<(), RepairError> {
    match self_intersections(mesh) {
        None => Ok(()),
        Some((pairs, first)) => Err(RepairError::SelfCrossing {
            pairs,
            triangles: first.map(|t| work.source[t as usize]),
            near: work.centre(first[0] as usize),
        }),
    }
}

/// Whether all vertices of triangles lie in a plane.
fn is_flat(mesh: &TriMesh) -> bool {
    let places = || {
        let corners = mesh.triangles.as_flattened().iter();
        corners.map(|v| mesh.positions[*v as usize])
    };
    let farthest = |distance: &dyn Fn(DVec3) -> f64| {
        places()
            .max_by(|p, q| distance(*p).total_cmp(&distance(*q)))
            .unwrap_or_default()
    };
    let a = places().next().unwrap_or_default();
    let b = farthest(&|p| p.distance(a));
    let along = (b - a).normalize_or_zero();
    let c = farthest(&|p| (p - a).cross(along).length());
    let normal = along.cross(c - a).normalize_or_zero();
    let away = |p: DVec3| (p - a).dot(normal).abs();
    away(farthest(&away)) <= FLATNESS * a.distance(b)
}

/// Number of remaining triangles whose winding differs from the input mesh.
fn count_turned(given: &TriMesh, work: &RepairMesh, original: &[u32]) -> usize {
    let place = |v: u32| given.positions[v as usize];
    let is_turned = |t: usize| {
        let before = given.triangles[work.source[t] as usize].map(place);
        let after = work.mesh.triangles[t].map(|v| place(original[v as usize]));
        let [before, after] = [before, after].map(|[a, b, c]| (b - a).cross(c - a));
        before.dot(after) < 0.0
    };
    (0..work.mesh.triangles.len())
        .filter(|t| is_turned(*t))
        .count()
}
