//! The fragment of a cavity that no crack reaches is that of the surface around it. Where walls are thin,
//! elements of another fragment may be nearer to its vertices.

use crate::geometry::TriMesh;
use crate::geometry::inside::Crossings;
use crate::reconstruct::faces::surface::Surface;

/// Gives each cavity among the connected surfaces `uncracked` the piece of the smallest surface around it.
/// Surfaces go by their smallest vertex, in `piece` too.
pub fn claim(surface: &Surface, uncracked: &[u32], piece: &mut [u32]) {
    if uncracked.is_empty() {
        return;
    }
    let mut volume = vec![0.0; surface.positions.len()];
    for triangle in &surface.triangles {
        let part = surface.part[triangle[0] as usize] as usize;
        let [a, b, c] = triangle.map(|v| surface.positions[v as usize] - surface.positions[part]);
        volume[part] += a.dot(b.cross(c)) / 6.0;
    }
    // A cavity is wound towards its inside.
    let is_cavity = |part: &&u32| volume[**part as usize] < 0.0;
    if !uncracked.iter().any(|part| is_cavity(&part)) {
        return;
    }
    let mesh = TriMesh {
        positions: surface.positions.clone(),
        triangles: surface.triangles.clone(),
        uv: Vec::new(),
    };
    let crossings = Crossings::new(&mesh);
    for &cavity in uncracked.iter().filter(is_cavity) {
        // A ray from the cavity leaves each surface around it once more than it enters it.
        let mut met: Vec<u32> = Vec::new();
        crossings.behind(surface.positions[cavity as usize], |t| {
            met.push(surface.part[surface.triangles[t as usize][0] as usize]);
        });
        met.sort_unstable();
        let around = met
            .chunk_by(|a, b| a == b)
            .filter(|met| met.len() % 2 == 1 && met[0] != cavity)
            .map(|met| met[0] as usize)
            .filter(|&part| volume[part] > 0.0);
        if let Some(part) = around.min_by(|&a, &b| volume[a].total_cmp(&volume[b])) {
            piece[cavity as usize] = piece[part];
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
        // A box with a cavity in its right half, another box close to that, and a larger one around all.
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
        let mut surface = Surface {
            positions: mesh.positions,
            triangles: mesh.triangles,
            ..Surface::default()
        };
        surface.find_parts();
        let mut piece = vec![u32::MAX; surface.positions.len()];
        let parts = [0, first[0], first[1], first[2]];
        for (part, of) in parts.into_iter().zip([3, 1, 2, 2]) {
            assert_eq!(surface.part[part as usize], part);
            piece[part as usize] = of;
        }
        claim(&surface, &parts, &mut piece);
        assert_eq!(parts.map(|part| piece[part as usize]), [3, 1, 1, 2]);
    }
}
