//! Meshes of bodies with known solutions.

use std::collections::BTreeMap;
use std::f64::consts::{PI, TAU};

use cullet::geometry::{TriMesh, check, icosphere};
use glam::{DVec3, dvec3};

/// Ball with the volume of one of radius 1: each side of an icosahedron's triangles is divided into `parts`,
/// 20 `parts`² triangles.
pub fn ball(parts: u32) -> TriMesh {
    let icosahedron = icosphere(0);
    let mut mesh = TriMesh::default();
    for t in 0..icosahedron.triangles.len() {
        let [a, b, c] = icosahedron.corners(t);
        let base = mesh.positions.len() as u32;
        let rows = 0..=parts;
        for i in rows {
            for j in 0..=parts - i {
                let [x, y] = [i, j].map(|k| f64::from(k) / f64::from(parts));
                let flat = a * (1.0 - x - y) + b * x + c * y;
                mesh.positions.push(flat.normalize());
            }
        }
        // Row i begins after rows of parts + 1, parts, …
        let at = |i: u32, j: u32| base + i * (parts + 1) - i * i.saturating_sub(1) / 2 + j;
        for i in 0..parts {
            for j in 0..parts - i {
                mesh.triangles.push([at(i, j), at(i + 1, j), at(i, j + 1)]);
                if i + j + 1 < parts {
                    mesh.triangles
                        .push([at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]);
                }
            }
        }
    }
    let mesh = weld(mesh);
    let radius = (4.0 / 3.0 * PI / mesh.volume()).cbrt();
    scaled(mesh, radius)
}

/// Ball of radius `outer` with a concentric cavity of radius `inner`.
pub fn hollow_ball((outer, coarse): (f64, u32), (inner, fine): (f64, u32)) -> TriMesh {
    let mut mesh = scaled(ball(coarse), outer);
    let mut cavity = scaled(ball(fine), inner);
    check::flip(&mut cavity);
    mesh.append(cavity);
    mesh
}

/// Box about the origin, each edge divided into these numbers of parts.
pub fn grid_box(size: DVec3, parts: [u32; 3]) -> TriMesh {
    let mut mesh = TriMesh::default();
    for axis in 0..3 {
        let (a, b) = ((axis + 1) % 3, (axis + 2) % 3);
        for side in [-0.5, 0.5] {
            let base = mesh.positions.len() as u32;
            for i in 0..=parts[a] {
                for j in 0..=parts[b] {
                    let mut p = DVec3::splat(side);
                    p[a] = f64::from(i) / f64::from(parts[a]) - 0.5;
                    p[b] = f64::from(j) / f64::from(parts[b]) - 0.5;
                    mesh.positions.push(p * size);
                }
            }
            let at = |i: u32, j: u32| base + i * (parts[b] + 1) + j;
            for i in 0..parts[a] {
                for j in 0..parts[b] {
                    let quad = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                    let cut = if (i + j) % 2 == 0 {
                        [[0, 1, 2], [0, 2, 3]]
                    } else {
                        [[0, 1, 3], [1, 2, 3]]
                    };
                    for mut triangle in cut.map(|t| t.map(|k: usize| quad[k])) {
                        if side < 0.0 {
                            triangle.swap(1, 2);
                        }
                        mesh.triangles.push(triangle);
                    }
                }
            }
        }
    }
    weld(mesh)
}

/// Torus about z of radii 1 and `tube`, with 2 `around` × `across` quadrangles.
pub fn torus(tube: f64, around: u32, across: u32) -> TriMesh {
    let mut mesh = TriMesh::default();
    for i in 0..around {
        let (sin, cos) = (TAU * f64::from(i) / f64::from(around)).sin_cos();
        for j in 0..across {
            let (up, out) = (TAU * f64::from(j) / f64::from(across)).sin_cos();
            let radius = 1.0 + tube * out;
            mesh.positions
                .push(dvec3(radius * cos, radius * sin, tube * up));
        }
    }
    let at = |i: u32, j: u32| (i % around) * across + j % across;
    for i in 0..around {
        for j in 0..across {
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            mesh.triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    mesh
}

pub fn scaled(mut mesh: TriMesh, factor: f64) -> TriMesh {
    mesh.positions.iter_mut().for_each(|p| *p *= factor);
    mesh
}

/// Merges vertices at the same position.
fn weld(mesh: TriMesh) -> TriMesh {
    let mut joined = TriMesh::default();
    let mut numbers = BTreeMap::new();
    let new: Vec<u32> = mesh
        .positions
        .iter()
        .map(|p| {
            let key = (*p * 1e7).round().as_i64vec3().to_array();
            *numbers.entry(key).or_insert_with(|| {
                joined.positions.push(*p);
                joined.positions.len() as u32 - 1
            })
        })
        .collect();
    let triangles = mesh.triangles.iter();
    joined.triangles = triangles.map(|t| t.map(|v| new[v as usize])).collect();
    joined
}
