//! A cavity that no crack reaches belongs to the fragment whose surface encloses it. Where walls are thin,
//! elements of another fragment may be nearer to its vertices.

use crate::geometry::TriMesh;
use crate::geometry::inside::InsideTest;
use crate::reconstruct::faces::surface::BodySurface;

/// Assigns each cavity among the components `uncracked` to the fragment of the smallest surface around it.
/// Components are identified by their smallest vertex, also in `fragment`.
pub fn assign_cavities(surface: &BodySurface, uncracked: &[u32], fragment: &mut [u32]) {
    if uncracked.is_empty() {
        return;
    }
    let mut volume = vec![0.0; surface.positions.len()];
    for triangle in &surface.triangles {
        let part = surface.component[triangle[0] as usize] as usize;
        let [a, b, c] = triangle.map(|v| surface.positions[v as usize] - surface.positions[part]);
        volume[part] += a.dot(b.cross(c)) / 6.0;
    }
    // The surface of a cavity has negative volume.
    let is_cavity = |part: &&u32| volume[**part as usize] < 0.0;
    if !uncracked.iter().any(|part| is_cavity(&part)) {
        return;
    }
    let mesh = TriMesh {
        positions: surface.positions.clone(),
        triangles: surface.triangles.clone(),
        ..TriMesh::default()
    };
    let crossings = InsideTest::new(&mesh);
    for &cavity in uncracked.iter().filter(is_cavity) {
        // A ray from the cavity leaves each surrounding surface once more than it enters it.
        let mut met: Vec<u32> = Vec::new();
        crossings.behind(surface.positions[cavity as usize], |t| {
            met.push(surface.component[surface.triangles[t as usize][0] as usize]);
        });
        met.sort_unstable();
        let around = met
            .chunk_by(|a, b| a == b)
            .filter(|met| met.len() % 2 == 1 && met[0] != cavity)
            .map(|met| met[0] as usize)
            .filter(|&part| volume[part] > 0.0);
        if let Some(part) = around.min_by(|&a, &b| volume[a].total_cmp(&volume[b])) {
            fragment[cavity as usize] = fragment[part];
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::geometry::{check, shapes};

    #[test]
    fn a_cavity_belongs_to_the_surface_around_it() {
        // A box with a cavity in its right half, another box close to the cavity, and a larger box around
        // all.
        let moved = |size: f64, x: f64| {
            let mut mesh = shapes::cuboid(DVec3::splat(size));
            mesh.positions.iter_mut().for_each(|p| p.x += x);
            mesh
        };
        let mut cavity = moved(0.8, 0.5);
        check::flip(&mut cavity);
        let mut mesh = moved(8.0, 0.0);
        let first: Vec<u32> = [moved(2.0, 0.0), cavity, moved(2.0, 2.1)]
            .map(|other| {
                let first = mesh.positions.len() as u32;
                mesh.append(other);
                first
            })
            .to_vec();
        let mut surface = BodySurface {
            positions: mesh.positions,
            triangles: mesh.triangles,
            ..BodySurface::default()
        };
        surface.find_components();
        let mut fragment = vec![u32::MAX; surface.positions.len()];
        let parts = [0, first[0], first[1], first[2]];
        for (part, of) in parts.into_iter().zip([3, 1, 2, 2]) {
            assert_eq!(surface.component[part as usize], part);
            fragment[part as usize] = of;
        }
        assign_cavities(&surface, &parts, &mut fragment);
        assert_eq!(parts.map(|part| fragment[part as usize]), [3, 1, 1, 2]);
    }
}
