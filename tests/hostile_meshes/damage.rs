//! Bodies, and the defects that meshes in files have.

use std::path::Path;
use std::sync::LazyLock;

use cullet::geometry::remesh::{Quality, SHARP_ANGLE, remesh};
use cullet::geometry::{TriMesh, check, icosphere, read, shapes};
use glam::{DVec3, dvec3};

use crate::bem::bodies;

/// A box, each edge divided in two.
pub fn cuboid() -> TriMesh {
    bodies::grid_box(dvec3(1.0, 1.5, 0.7), [2, 2, 2])
}

pub fn sphere() -> TriMesh {
    icosphere(2)
}

pub fn torus() -> TriMesh {
    bodies::torus(0.4, 16, 8)
}

/// The bunny with a few hundred triangles.
pub fn bunny() -> TriMesh {
    static BUNNY: LazyLock<TriMesh> = LazyLock::new(|| {
        let fine = read::read(Path::new("pipelines/meshes/bunny.obj")).unwrap();
        let edge = 3.5 * Quality::of(&fine).edge;
        remesh(&fine, edge, SHARP_ANGLE).unwrap()
    });
    BUNNY.clone()
}

/// A unit cube whose opposite faces have the same diagonals, so that copies fit together.
pub fn cell(at: DVec3) -> TriMesh {
    let corner = |k: u32| DVec3::new((k & 1).into(), (k >> 1 & 1).into(), (k >> 2 & 1).into());
    let mut triangles = Vec::new();
    for axis in 0..3 {
        let (u, v) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3));
        for base in [0, 1 << axis] {
            let quad = [base, base + u, base + u + v, base + v];
            let pair = [[0, 1, 2], [0, 2, 3]].map(|t| t.map(|k: usize| quad[k]));
            triangles.extend(pair.map(|[a, b, c]| if base == 0 { [a, c, b] } else { [a, b, c] }));
        }
    }
    TriMesh {
        positions: (0..8).map(|k| corner(k) + at).collect(),
        triangles,
        ..TriMesh::default()
    }
}

/// Unit cubes with these low corners, including the walls between them.
pub fn cells<const N: usize>(at: [[i32; 3]; N]) -> TriMesh {
    merged(at.map(|low| cell(DVec3::from(low.map(f64::from)))))
}

/// All meshes in one.
pub fn merged<const N: usize>(meshes: [TriMesh; N]) -> TriMesh {
    let mut all = TriMesh::default();
    meshes.into_iter().for_each(|mesh| all.append(mesh));
    all
}

pub fn moved(mut mesh: TriMesh, place: impl Fn(DVec3) -> DVec3) -> TriMesh {
    mesh.positions.iter_mut().for_each(|p| *p = place(*p));
    mesh
}

pub fn shifted(mesh: TriMesh, shift: DVec3) -> TriMesh {
    moved(mesh, |p| p + shift)
}

pub fn scaled(mesh: TriMesh, factor: f64) -> TriMesh {
    moved(mesh, |p| p * factor)
}

pub fn inward(mut mesh: TriMesh) -> TriMesh {
    check::flip(&mut mesh);
    mesh
}

/// Every third triangle with reversed winding.
pub fn mixed(mut mesh: TriMesh) -> TriMesh {
    for t in (0..mesh.triangles.len()).step_by(3) {
        mesh.flip(t);
    }
    mesh
}

/// Every triangle with its own vertices, displaced by up to `noise`.
pub fn soup(mesh: TriMesh, noise: f64) -> TriMesh {
    let corners = (0..mesh.triangles.len()).flat_map(|t| mesh.corners(t));
    let off = |k: usize| {
        let k = k as f64;
        dvec3((k * 1.7).sin(), (k * 2.3).sin(), (k * 3.1).sin()) * noise
    };
    TriMesh {
        positions: corners.enumerate().map(|(k, p)| p + off(k)).collect(),
        triangles: (0..mesh.triangles.len() as u32)
            .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
            .collect(),
        ..TriMesh::default()
    }
}

/// Without the triangles selected by `gone`.
pub fn without(mut mesh: TriMesh, gone: impl Fn(usize) -> bool) -> TriMesh {
    let mut t = 0;
    mesh.triangles.retain(|_| {
        t += 1;
        !gone(t - 1)
    });
    mesh
}

/// Every fifth triangle twice, the copies alternately with the same and with reversed winding.
pub fn doubled(mut mesh: TriMesh) -> TriMesh {
    for t in (0..mesh.triangles.len()).step_by(5) {
        let [a, b, c] = mesh.triangles[t];
        let double = if t % 2 == 0 { [b, c, a] } else { [c, b, a] };
        mesh.triangles.push(double);
    }
    mesh
}

/// With unused vertices, one of them NaN.
pub fn with_unused(mut mesh: TriMesh) -> TriMesh {
    mesh.positions.insert(0, DVec3::splat(50.0));
    mesh.positions.push(DVec3::NAN);
    let triangles = mesh.triangles.iter_mut();
    triangles.for_each(|t| *t = t.map(|v| v + 1));
    mesh
}

/// With triangles that have only one or two distinct vertices.
pub fn with_degenerate(mut mesh: TriMesh) -> TriMesh {
    mesh.triangles.insert(0, [3, 3, 1]);
    mesh.triangles.push([2, 2, 2]);
    mesh
}

/// Splits `count` triangles, spread over the mesh, at a point of their first edge; the neighbour gets the
/// vertex only if `join`.
pub fn with_split_edges(mut mesh: TriMesh, count: usize, part: f64, join: bool) -> TriMesh {
    let all = mesh.triangles.len();
    // At most one triangle of a pair, so that no edge is cut twice.
    let mut busy = vec![false; mesh.positions.len()];
    for t in (0..all).step_by((all / count).max(1)) {
        let [a, b, c] = mesh.triangles[t];
        let neighbour = mesh
            .triangles
            .iter()
            .position(|other| (0..3).any(|k| (other[k], other[(k + 1) % 3]) == (b, a)));
        if [a, b, c].iter().any(|v| busy[*v as usize]) {
            continue;
        }
        [a, b, c].iter().for_each(|v| busy[*v as usize] = true);
        let [p, q, _] = mesh.corners(t);
        let new = mesh.positions.len() as u32;
        mesh.positions.push(p + (q - p) * part);
        busy.push(true);
        mesh.triangles[t] = [a, new, c];
        mesh.triangles.push([new, b, c]);
        let Some(neighbour) = neighbour.filter(|_| join) else {
            continue;
        };
        let [d] = [0, 1, 2]
            .map(|k| mesh.triangles[neighbour][k])
            .into_iter()
            .filter(|v| *v != a && *v != b)
            .collect::<Vec<_>>()[..]
        else {
            panic!("the neighbour has one vertex that is not on the edge");
        };
        mesh.triangles[neighbour] = [new, a, d];
        mesh.triangles.push([b, new, d]);
    }
    mesh
}

/// Inserts a vertex into `count` triangles, spread over the mesh, at a height over their first edge that is a
/// fraction `part` of the triangle's height.
pub fn with_needles(mut mesh: TriMesh, count: usize, part: f64) -> TriMesh {
    let all = mesh.triangles.len();
    for t in (0..all).step_by(all / count) {
        let [a, b, c] = mesh.triangles[t];
        let [p, q, r] = mesh.corners(t);
        let new = mesh.positions.len() as u32;
        mesh.positions
            .push((p * 0.6 + q * 0.4) * (1.0 - part) + r * part);
        mesh.triangles[t] = [a, b, new];
        mesh.triangles.extend([[b, c, new], [c, a, new]]);
    }
    mesh
}

/// With a sheet of two triangles attached to an edge, outside the body.
pub fn with_fin(mut mesh: TriMesh) -> TriMesh {
    let [a, b, _] = mesh.triangles[0];
    let new = mesh.positions.len() as u32;
    for v in [a, b] {
        let place = mesh.positions[v as usize] * 1.5;
        mesh.positions.push(place);
    }
    mesh.triangles.extend([[a, b, new], [b, new + 1, new]]);
    mesh
}

/// A torus whose tube is joined with its ends reversed.
pub fn one_sided() -> TriMesh {
    let (around, across) = (12, 6);
    let mut mesh = bodies::torus(0.3, around, across);
    let last = (around - 1) * across;
    let at = |v: u32| if v < across { (across - v) % across } else { v };
    for triangle in &mut mesh.triangles {
        if triangle.iter().any(|v| *v >= last) && triangle.iter().any(|v| *v < across) {
            *triangle = triangle.map(at);
        }
    }
    mesh
}

/// A plate with two triangles per face.
pub fn plate(thickness: f64) -> TriMesh {
    shapes::cuboid(dvec3(1.0, 1.0, thickness))
}
