//! Makes a triangle mesh from a file fit for boundary elements: closed, wound outward, of one solid, without
//! triangles that have no normal.
//!
//! What has one sensible answer is repaired; the rest is refused with an error that says what is wrong and
//! where. Vertices stay where they are, to the bit, but for those at which a solid touches itself: these are
//! moved apart.

mod doubles;
mod error;
mod junctions;
mod needles;
mod parting;
mod report;
mod solids;
mod weld;
mod wind;
mod work;

use glam::DVec3;

pub use error::{Part, RepairError};
pub use report::Repairs;

use super::check::{same_edge, sorted_edges, wind_outward};
use super::intersect::self_intersections;
use super::mesh::TriMesh;
use super::read::without_unused;
use work::Work;

#[cfg(test)]
mod tests;

/// Largest distance of vertices from a plane over the size of a mesh that counts as flat.
const FLAT: f64 = 1e-9;

/// The mesh of one solid, which may have cavities, repaired, and what was done.
///
/// # Errors
///
/// What cannot be repaired, with its place; [`RepairError::Several`] where the mesh bounds several solids,
/// even if they touch at vertices or edges: such a joint bears no stress. [`solids()`] gives them one by one.
pub fn repair(mesh: &TriMesh) -> Result<(TriMesh, Repairs), RepairError> {
    let mut done = Repairs::default();
    let (mut work, original) = surfaces(mesh, &mut done)?;
    let found = solids::solids(&work.mesh);
    match found.len() {
        0 => Err(RepairError::NoVolume {
            near: work.centre(0),
        }),
        1 => {
            done.split_vertices = parting::move_apart(&mut work, &original);
            if done.split_vertices > 0 {
                require_apart(&work, &work.mesh)?;
            }
            done.turned_triangles = turned(mesh, &work, &original);
            Ok((without_unused(&work.back()), done))
        }
        _ => Err(RepairError::Several(solids::described(&found, |p| {
            work.place(p)
        }))),
    }
}

/// Each solid that a mesh bounds, repaired, with its cavities, and what was done to all.
///
/// # Errors
///
/// As [`repair`], but for several solids.
pub fn solids(mesh: &TriMesh) -> Result<(Vec<TriMesh>, Repairs), RepairError> {
    let mut done = Repairs::default();
    let (work, original) = surfaces(mesh, &mut done)?;
    done.turned_triangles = turned(mesh, &work, &original);
    let mut found = Vec::new();
    for solid in solids::solids(&work.back()) {
        // Vertices at which one solid touches itself are parted in it alone.
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

/// Closed surfaces that do not cut each other, wound out of the solid, each vertex with one fan of triangles;
/// and the vertex that each is a copy of.
fn surfaces(mesh: &TriMesh, done: &mut Repairs) -> Result<(Work, Vec<u32>), RepairError> {
    let mut work = Work::new(mesh)?;
    done.unused_vertices = work.unused;
    done.merged_vertices = weld::merge_vertices(&mut work);
    done.degenerate_triangles = weld::remove_degenerate(&mut work);
    done.duplicate_triangles = doubles::remove_duplicates(&mut work);
    done.joined_vertices = junctions::join_vertices(&mut work);
    done.degenerate_triangles += weld::remove_degenerate(&mut work);
    done.duplicate_triangles += doubles::remove_duplicates(&mut work);
    done.fin_triangles = doubles::remove_fins(&mut work);
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
        .and_then(|()| parting::part_fans(&mut work, &pairs))
        .map_err(|error| {
            // Surfaces that overlap in a face have edges of four triangles too, but that says less.
            let overlap = require_apart(&work, &whole).err();
            let is_plain = matches!(error, RepairError::OneSided { .. }) && is_plain;
            overlap.filter(|_| !is_plain).unwrap_or(error)
        })?;
    done.flat_triangles = solids::remove_flat(&mut work);
    needles::remove_needles(&mut work, done)?;
    require_apart(&work, &parting::joined(&work.mesh, &original))?;
    solids::require_clear(&work, &original)?;
    let edges = sorted_edges(&work.mesh);
    wind_outward(&mut work.mesh, &edges);
    Ok((work, original))
}

/// Refuses a mesh, that of `work` with copies of vertices joined or not, that cuts itself.
fn require_apart(work: &Work, mesh: &TriMesh) -> Result<(), RepairError> {
    match self_intersections(mesh) {
        None => Ok(()),
        Some((pairs, first)) => Err(RepairError::SelfCrossing {
            pairs,
            triangles: first.map(|t| work.source[t as usize]),
            near: work.centre(first[0] as usize),
        }),
    }
}

/// Whether all used vertices lie in a plane.
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
    away(farthest(&away)) <= FLAT * a.distance(b)
}

/// Triangles left that ran the other way round in the mesh given.
fn turned(given: &TriMesh, work: &Work, original: &[u32]) -> usize {
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
