//! Repairs a mesh from a file as far as that leaves its surface in place: what remains may cross itself.

use std::collections::BTreeMap;

use glam::DVec3;

use super::clean::clean;
use super::duplicates::{remove_duplicates, remove_fins};
use super::error::RepairError;
use super::gaps::{close_gaps, remove_loose_parts, remove_walls};
use super::holes::{fill_hidden, fill_small};
use super::junctions::join_vertices;
use super::repair_mesh::RepairMesh;
use super::report::Repairs;
use super::sheet::wind_patches;
use super::weld::remove_degenerate;
use crate::geometry::check::{components, is_balanced, patches, same_edge, sorted_edges};
use crate::geometry::mesh::TriMesh;
use crate::geometry::read::without_unused;
use crate::geometry::winding::Winding;
use crate::math::UnionFind;

/// A mesh whose surfaces are closed as far as possible.
#[derive(Debug)]
pub struct ClosedParts {
    /// Triangles of closed surfaces, wound out of what they enclose unless they bound a cavity of another; they may
    /// cross each other.
    pub closed: TriMesh,
    /// Triangles of the surfaces that are still open.
    pub open: TriMesh,
}

/// Merges vertices, removes double and degenerate triangles, closes slits and gaps, winds neighbours consistently,
/// removes walls inside and fills small holes; reports what was done. Gaps at borders, and loose parts, are at most
/// `gap` (m) wide.
///
/// # Errors
///
/// Damaged meshes, and meshes without size.
pub fn close_parts(
    mesh: &TriMesh,
    gap: f64,
    done: &mut Repairs,
) -> Result<ClosedParts, RepairError> {
    let mut work = clean(mesh, done)?;
    if work.mesh.triangles.is_empty() {
        return Err(RepairError::Empty);
    }
    if !is_balanced(&sorted_edges(&work.mesh)) {
        mend_borders(&mut work, gap, done);
        done.turned_triangles = wind_patches(&mut work)?.1;
        done.wall_triangles = remove_walls(&mut work);
        let [holes, triangles] = fill_small(&mut work);
        // A triangle without area whose third corner lies on its side leaves a hole of its own shape.
        done.duplicate_triangles += remove_duplicates(&mut work);
        done.fin_triangles = remove_fins(&mut work);
        let (closed, open) = split_open(&work.mesh);
        let hidden = match closed.triangles.is_empty() || open.triangles.is_empty() {
            true => [0; 2],
            false => fill_hidden(&mut work, &closed),
        };
        done.filled_holes = holes + hidden[0];
        done.hole_triangles = triangles + hidden[1];
    }
    let (mut closed, mut open) = split_open(&work.in_original_coordinates());
    done.turned_triangles += turn_outward(&mut closed);
    turn_outward(&mut open);
    Ok(ClosedParts {
        closed: without_unused(&closed),
        open: without_unused(&open),
    })
}

/// Removes loose parts and closes gaps up to `gap`, m.
fn mend_borders(work: &mut RepairMesh, gap: f64, done: &mut Repairs) {
    let gap = gap * work.scale;
    if gap <= RepairMesh::TOLERANCE {
        return;
    }
    done.loose_triangles = remove_loose_parts(work, gap);
    done.gap_vertices = close_gaps(work, gap);
    if done.gap_vertices > 0 {
        done.degenerate_triangles += remove_degenerate(work);
        done.duplicate_triangles += remove_duplicates(work);
        done.joined_vertices += join_vertices(work);
    }
}

/// Triangles of the closed and of the open surfaces. A surface is open if an edge has not as many triangles one way
/// as the other.
fn split_open(mesh: &TriMesh) -> (TriMesh, TriMesh) {
    let edges = sorted_edges(mesh);
    let part = components(mesh.triangles.len(), &edges);
    let mut is_open = vec![false; part.len()];
    for group in edges
        .chunk_by(same_edge)
        .filter(|group| !is_balanced(group))
    {
        is_open[part[group[0].3 as usize] as usize] = true;
    }
    let select = |wanted: bool| {
        let kept = (0..part.len()).filter(|t| is_open[part[*t] as usize] == wanted);
        let kept: Vec<usize> = kept.collect();
        TriMesh {
            positions: mesh.positions.clone(),
            triangles: kept.iter().map(|t| mesh.triangles[*t]).collect(),
            uv: kept
                .iter()
                .filter_map(|t| mesh.uv.get(*t).copied())
                .collect(),
            ..TriMesh::default()
        }
    };
    (select(false), select(true))
}

/// Reverses surfaces that are wound inward and bound no cavity of another surface. An open surface counts as wound
/// inward if it would be with each border edge joined to its middle. Returns the number of triangles reversed.
fn turn_outward(mesh: &mut TriMesh) -> usize {
    let mut turned = 0;
    let part = shells(mesh);
    let mut own: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (t, part) in part.iter().enumerate() {
        own.entry(*part).or_default().push(t);
    }
    for (root, own) in own {
        let area: f64 = own.iter().map(|t| mesh.area_of(*t)).sum();
        let centre = |t: usize| mesh.corners(t).iter().sum::<DVec3>() / 3.0;
        let middle = own
            .iter()
            .map(|t| centre(*t) * mesh.area_of(*t))
            .sum::<DVec3>()
            / area;
        let volume: f64 = own
            .iter()
            .map(|t| {
                let [a, b, c] = mesh.corners(*t).map(|p| p - middle);
                a.dot(b.cross(c))
            })
            .sum();
        if volume >= 0.0 {
            continue;
        }
        let others = (0..part.len()).filter(|t| part[*t] != root);
        let rest = TriMesh {
            positions: mesh.positions.clone(),
            triangles: others.map(|t| mesh.triangles[t]).collect(),
            ..TriMesh::default()
        };
        // A cavity lies inside as a whole.
        let is_cavity = !rest.triangles.is_empty() && {
            let winding = Winding::new(&rest);
            let mut points = own.iter().flat_map(|t| mesh.corners(*t));
            points.all(|p| winding.number(p) > 0.5)
        };
        if !is_cavity {
            turned += own.len();
            own.into_iter().for_each(|t| mesh.flip(t));
        }
    }
    turned
}

/// For each triangle the smallest triangle of its shell. Shells are connected by edges of two triangles; those that
/// are not closed by themselves count as one with what they share edges with.
fn shells(mesh: &TriMesh) -> Vec<u32> {
    let edges = sorted_edges(mesh);
    let patch = patches(mesh.triangles.len(), &edges);
    let mut joined = UnionFind::new(patch.len());
    for (t, root) in (0..).zip(&patch) {
        joined.join(t, *root);
    }
    let mut is_closed = vec![true; patch.len()];
    for edge in edges.chunk_by(same_edge).filter(|edge| edge.len() > 2) {
        for own in edge {
            let root = patch[own.3 as usize];
            let same = edge.iter().filter(|e| patch[e.3 as usize] == root);
            let (mut all, mut forward) = (0, 0);
            same.for_each(|e| {
                all += 1;
                forward += u32::from(e.2);
            });
            is_closed[root as usize] &= 2 * forward == all;
        }
    }
    for edge in edges.chunk_by(same_edge).filter(|edge| edge.len() > 2) {
        let mut open = edge
            .iter()
            .filter(|e| !is_closed[patch[e.3 as usize] as usize]);
        if let Some(first) = open.next() {
            open.for_each(|e| {
                joined.join(first.3, e.3);
            });
        }
    }
    joined.roots()
}
