//! Skins of simple shapes: closed meshes, wound outward, centred on the origin.

use std::f64::consts::{PI, TAU};

use glam::DVec3;

use super::icosphere;
use super::mesh::TriMesh;

/// Box with these edge lengths (m).
pub fn cuboid(size: DVec3) -> TriMesh {
    let corner = |at: u32| {
        let sign = |bit: u32| if at >> bit & 1 == 1 { 0.5 } else { -0.5 };
        DVec3::new(sign(0), sign(1), sign(2)) * size
    };
    // Faces -z, +z, -y, +y, -x, +x; bit 0 of a corner is x, bit 1 y, bit 2 z.
    let quads = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    TriMesh {
        positions: (0..8).map(corner).collect(),
        triangles: quads
            .iter()
            .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]])
            .collect(),
        ..TriMesh::default()
    }
}

/// Number of times that the icosahedron's edges are halved: 5120 triangles.
const SPHERE_HALVINGS: u32 = 4;

/// Icosphere with the volume of a ball of this radius (m): its vertices lie 0.07 % outside the ball, the
/// centres of its triangles inside.
pub fn sphere(radius: f64) -> TriMesh {
    let mut mesh = icosphere(SPHERE_HALVINGS);
    let scale = radius * (4.0 / 3.0 * PI / mesh.volume()).cbrt();
    mesh.positions.iter_mut().for_each(|p| *p *= scale);
    mesh
}

/// Number of sides of the cylinder's prism.
const CYLINDER_SIDES: u32 = 96;

/// Prism along y with the volume of a cylinder of this radius (m): its edges lie 0.04 % outside the cylinder.
pub fn cylinder(radius: f64, height: f64) -> TriMesh {
    let half = height / 2.0;
    let n = CYLINDER_SIDES;
    let sector = TAU / f64::from(n);
    let radius = radius * (sector / sector.sin()).sqrt();
    let mut positions = vec![DVec3::new(0.0, -half, 0.0), DVec3::new(0.0, half, 0.0)];
    let mut triangles = Vec::new();
    for side in 0..n {
        let (sin, cos) = (sector * f64::from(side)).sin_cos();
        positions.push(DVec3::new(radius * cos, -half, radius * sin));
        positions.push(DVec3::new(radius * cos, half, radius * sin));
        let (low, high) = (2 + 2 * side, 3 + 2 * side);
        let next = (side + 1) % n;
        let (next_low, next_high) = (2 + 2 * next, 3 + 2 * next);
        triangles.extend([
            [0, low, next_low],
            [1, next_high, high],
            [low, high, next_high],
            [low, next_high, next_low],
        ]);
    }
    TriMesh {
        positions,
        triangles,
        ..TriMesh::default()
    }
}

/// Number of sides of a round hole.
const HOLE_SIDES: u32 = 96;

/// Box with these edge lengths (m) and a central round hole of this radius (m) along y, narrower than the
/// box. The hole is a prism with the volume of a cylinder.
pub fn cuboid_with_hole(size: DVec3, hole: f64) -> TriMesh {
    let corner = size.x.atan2(size.z);
    // Angles of the box's corners seen from the centre; they are added to those of the hole.
    let corners = [
        0.5 * PI - corner,
        0.5 * PI + corner,
        1.5 * PI - corner,
        1.5 * PI + corner,
    ];
    let sides = (0..HOLE_SIDES).map(|side| TAU * f64::from(side) / f64::from(HOLE_SIDES));
    let near = |a: f64| corners.iter().any(|c| (a - c).abs() < 1e-3);
    let mut angles: Vec<f64> = sides.filter(|a| !near(*a)).chain(corners).collect();
    angles.sort_by(f64::total_cmp);
    let n = angles.len();
    let doubled: f64 = (0..n)
        .map(|k| (angles[(k + 1) % n] - angles[k]).rem_euclid(TAU).sin())
        .sum();
    let radius = hole * (TAU / doubled).sqrt();
    let half = size / 2.0;
    let mut mesh = TriMesh::default();
    for angle in angles {
        let (sin, cos) = angle.sin_cos();
        let border = (half.x / cos.abs()).min(half.z / sin.abs());
        for reach in [border, radius] {
            for y in [-half.y, half.y] {
                mesh.positions.push(DVec3::new(reach * cos, y, reach * sin));
            }
        }
    }
    for k in 0..n as u32 {
        let next = (k + 1) % n as u32;
        // Bottom and top vertices at the border, then at the hole.
        let [a, b, c, d] = [0, 1, 2, 3].map(|m| 4 * k + m);
        let [na, nb, nc, nd] = [0, 1, 2, 3].map(|m| 4 * next + m);
        for [p, q, r, s] in [
            [a, b, nb, na],
            [d, c, nc, nd],
            [b, d, nd, nb],
            [c, a, na, nc],
        ] {
            mesh.triangles.extend([[p, q, r], [p, r, s]]);
        }
    }
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::check;

    #[test]
    fn skins_are_closed_outward_and_of_the_right_volume() {
        let cases = [
            (cuboid(DVec3::new(0.2, 3.0, 1.5)), 0.9, 1e-15),
            (sphere(0.7), 4.0 / 3.0 * PI * 0.343, 1e-13),
            (cylinder(0.4, 2.0), PI * 0.16 * 2.0, 1e-13),
            (
                cuboid_with_hole(DVec3::new(1.0, 0.2, 3.0), 0.4),
                0.2 * (3.0 - PI * 0.16),
                1e-13,
            ),
        ];
        for (mesh, volume, tolerance) in cases {
            let mut checked = mesh.clone();
            check::require_solid(&mut checked).unwrap();
            assert_eq!(checked, mesh, "already wound outward");
            let error = mesh.volume() / volume - 1.0;
            assert!(error.abs() < tolerance, "volume off by {error}");
        }
    }
}
