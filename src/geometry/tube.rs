//! Tubes along paths: the skins of yarns and of bodies that follow a curve.

use std::f64::consts::TAU;

use glam::{DQuat, DVec3};

use super::mesh::TriMesh;

/// Along a path and across it, at each of its points: unit vectors, the second turned the shortest way from
/// point to point (parallel transport), so that what is carried along does not wind about the path. The path
/// has two points or more, no two in a row the same.
pub fn carried(path: &[DVec3]) -> Vec<(DVec3, DVec3)> {
    let last = path.len() - 1;
    let mut before = (path[1] - path[0]).normalize_or_zero();
    let mut across = before.any_orthonormal_vector();
    (0..=last)
        .map(|k| {
            let (from, to) = (path[k.saturating_sub(1)], path[(k + 1).min(last)]);
            let along = (to - from).normalize_or_zero();
            across = DQuat::from_rotation_arc(before, along) * across;
            before = along;
            (along, across)
        })
        .collect()
}

/// Closed tube with this many sides about a path, wound outward: a ring of vertices about each of its points,
/// `radius` (m) from it, and flat ends. The path has two points or more, no two in a row the same, and bends
/// less sharply than its radius.
pub fn tube(path: &[DVec3], radius: f64, sides: u32) -> TriMesh {
    let last = path.len() - 1;
    let mut mesh = TriMesh::default();
    for (&p, (along, across)) in path.iter().zip(carried(path)) {
        let other = along.cross(across);
        mesh.positions.extend((0..sides).map(|side| {
            let (sin, cos) = (TAU * f64::from(side) / f64::from(sides)).sin_cos();
            p + radius * (cos * across + sin * other)
        }));
    }
    mesh.positions.extend([path[0], path[last]]);
    let rings = last as u32;
    let [first_end, last_end] = [0, 1].map(|end| (rings + 1) * sides + end);
    let at = |ring: u32, side: u32| ring * sides + side % sides;
    for side in 0..sides {
        let next = side + 1;
        mesh.triangles.push([first_end, at(0, next), at(0, side)]);
        for ring in 0..rings {
            let [a, na] = [at(ring, side), at(ring, next)];
            let [b, nb] = [at(ring + 1, side), at(ring + 1, next)];
            mesh.triangles.extend([[a, na, nb], [a, nb, b]]);
        }
        mesh.triangles
            .push([last_end, at(rings, side), at(rings, next)]);
    }
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::check;

    #[test]
    fn tubes_are_closed_outward_and_of_the_volume_of_their_section() {
        let point = |k: u32| {
            let (sin, cos) = (0.1 * f64::from(k)).sin_cos();
            DVec3::new(cos, 0.02 * f64::from(k), sin)
        };
        let path: Vec<DVec3> = (0..100).map(point).collect();
        let mesh = tube(&path, 0.05, 8);
        let mut checked = mesh.clone();
        check::require_solid(&mut checked).unwrap();
        assert_eq!(checked, mesh, "already wound outward");
        let length: f64 = path.windows(2).map(|p| p[0].distance(p[1])).sum();
        let section = 4.0 * 2.0_f64.sqrt() / 2.0 * 0.05 * 0.05;
        assert!((mesh.volume() / (length * section) - 1.0).abs() < 5e-3);
    }
}
