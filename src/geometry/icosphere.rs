//! Sphere of triangles from a subdivided icosahedron.

use std::collections::BTreeMap;

use glam::DVec3;

use super::mesh::TriMesh;

/// Unit sphere about the origin: an icosahedron, each triangle split in four `subdivisions` times. Vertices
/// lie on the sphere, so its volume is below 4π/3.
pub fn icosphere(subdivisions: u32) -> TriMesh {
    let g = (1.0 + 5.0_f64.sqrt()) / 2.0;
    let corners = [
        [-1.0, g, 0.0],
        [1.0, g, 0.0],
        [-1.0, -g, 0.0],
        [1.0, -g, 0.0],
        [0.0, -1.0, g],
        [0.0, 1.0, g],
        [0.0, -1.0, -g],
        [0.0, 1.0, -g],
        [g, 0.0, -1.0],
        [g, 0.0, 1.0],
        [-g, 0.0, -1.0],
        [-g, 0.0, 1.0],
    ];
    let mut mesh = TriMesh {
        positions: corners.map(|p| DVec3::from(p).normalize()).to_vec(),
        triangles: vec![
            [0, 11, 5],
            [0, 5, 1],
            [0, 1, 7],
            [0, 7, 10],
            [0, 10, 11],
            [1, 5, 9],
            [5, 11, 4],
            [11, 10, 2],
            [10, 7, 6],
            [7, 1, 8],
            [3, 9, 4],
            [3, 4, 2],
            [3, 2, 6],
            [3, 6, 8],
            [3, 8, 9],
            [4, 9, 5],
            [2, 4, 11],
            [6, 2, 10],
            [8, 6, 7],
            [9, 8, 1],
        ],
        ..TriMesh::default()
    };
    for _ in 0..subdivisions {
        let mut middles = BTreeMap::new();
        let mut triangles = Vec::with_capacity(4 * mesh.triangles.len());
        for [a, b, c] in std::mem::take(&mut mesh.triangles) {
            let mut middle = |m: u32, n: u32| {
                *middles.entry((m.min(n), m.max(n))).or_insert_with(|| {
                    let sum = mesh.positions[m as usize] + mesh.positions[n as usize];
                    mesh.positions.push(sum.normalize());
                    mesh.positions.len() as u32 - 1
                })
            };
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            triangles.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
        }
        mesh.triangles = triangles;
    }
    mesh
}
