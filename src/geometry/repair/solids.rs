//! Which solids a mesh bounds: outer surfaces, each with its cavities.

use glam::DVec3;

use super::error::{Part, RepairError};
use super::work::Work;
use crate::geometry::bvh::Bvh;
use crate::geometry::check::{parts, sorted_edges};
use crate::geometry::inside::Crossings;
use crate::geometry::mesh::TriMesh;
use crate::geometry::read::without_unused;

/// The solids that a mesh bounds, of surfaces that do not cut each other and are wound out of the solid; a
/// cavity goes with the smallest solid around it. In the order of their first triangles.
pub fn solids(mesh: &TriMesh) -> Vec<TriMesh> {
    let part = parts(mesh.triangles.len(), &sorted_edges(mesh));
    let mut roots: Vec<u32> = part.clone();
    roots.sort_unstable();
    roots.dedup();
    let mut surfaces = vec![TriMesh::default(); roots.len()];
    for (t, part) in part.iter().enumerate() {
        let surface = &mut surfaces[roots.binary_search(part).expect("every part is a root")];
        surface.triangles.push(mesh.triangles[t]);
        surface.uv.extend(mesh.uv.get(t));
    }
    for surface in &mut surfaces {
        surface.positions.clone_from(&mesh.positions);
        *surface = without_unused(surface);
    }
    let (mut solids, cavities): (Vec<_>, Vec<_>) =
        surfaces.into_iter().partition(|s| s.volume() > 0.0);
    let outer = solids.clone();
    let outer: Vec<_> = outer
        .iter()
        .map(|s| (Crossings::new(s), s.volume()))
        .collect();
    for cavity in cavities {
        let point = largest_middle(&cavity);
        let around = outer
            .iter()
            .enumerate()
            .filter(|(_, s)| s.0.contains(point));
        if let Some((k, _)) = around.min_by(|a, b| a.1.1.total_cmp(&b.1.1)) {
            solids[k].append(cavity);
        }
    }
    solids
}

/// Refuses surfaces that come nearer to each other than the tolerance elsewhere than at common vertices:
/// which of them lies inside is rounding.
pub fn require_clear(work: &Work, original: &[u32]) -> Result<(), RepairError> {
    let mesh = &work.mesh;
    let part = parts(mesh.triangles.len(), &sorted_edges(mesh));
    if part.iter().all(|root| *root == 0) {
        return Ok(());
    }
    let bvh = Bvh::new(mesh);
    let mut is_seen = vec![false; mesh.positions.len()];
    let (mut pairs, mut first) = (0, None);
    for (t, triangle) in mesh.triangles.iter().enumerate() {
        for &vertex in triangle {
            if std::mem::replace(&mut is_seen[vertex as usize], true) {
                continue;
            }
            let place = mesh.positions[vertex as usize];
            let own = original[vertex as usize];
            bvh.each_within(mesh, place, Work::TOLERANCE, |other| {
                let corners = mesh.triangles[other as usize];
                let is_common = corners.iter().any(|v| original[*v as usize] == own);
                if part[other as usize] != part[t] && !is_common {
                    pairs += 1;
                    first.get_or_insert([t, other as usize]);
                }
            });
        }
    }
    first.map_or(Ok(()), |triangles| {
        Err(RepairError::SelfCrossing {
            pairs,
            triangles: triangles.map(|t| work.source[t]),
            near: work.centre(triangles[0]),
        })
    })
}

/// Removes closed surfaces that are on average thinner than the tolerance, if others are left; how many triangles.
pub fn remove_flat(work: &mut Work) -> usize {
    let mesh = &work.mesh;
    let part = parts(mesh.triangles.len(), &sorted_edges(mesh));
    let mut sizes = vec![(0.0, 0.0); part.len()];
    for (t, &root) in part.iter().enumerate() {
        let size = &mut sizes[root as usize];
        // About a corner of the surface, so that rounding is that of its size.
        let about = mesh.corners(root as usize)[0];
        let [a, b, c] = mesh.corners(t).map(|p| p - about);
        size.0 += a.dot(b.cross(c)) / 6.0;
        size.1 += mesh.area_of(t);
    }
    let is_flat = |t: usize| {
        let (volume, area): (f64, f64) = sizes[part[t] as usize];
        2.0 * volume.abs() <= Work::TOLERANCE * area
    };
    if (0..part.len()).all(is_flat) {
        return 0;
    }
    work.retain(|t| !is_flat(t))
}

/// Middle of the largest triangle, which lies clear of all other surfaces.
fn largest_middle(mesh: &TriMesh) -> DVec3 {
    let all = 0..mesh.triangles.len();
    let largest = all.max_by(|s, t| mesh.area_of(*s).total_cmp(&mesh.area_of(*t)));
    largest.map_or(DVec3::ZERO, |t| mesh.corners(t).iter().sum::<DVec3>() / 3.0)
}

/// What an error says of solids; `place` gives points in the coordinates of the mesh given.
pub fn described(solids: &[TriMesh], place: impl Fn(DVec3) -> DVec3) -> Vec<Part> {
    solids
        .iter()
        .map(|solid| {
            let (low, high) = solid.bounds().unwrap_or_default();
            Part {
                triangles: solid.triangles.len(),
                middle: place((low + high) / 2.0),
            }
        })
        .collect()
}
