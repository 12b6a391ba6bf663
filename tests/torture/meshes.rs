//! Random closed meshes with holes, cavities, thin walls and sharp edges, of size about 1.

use std::f64::consts::TAU;

use cullet::geometry::{TriMesh, check, icosphere, shapes};
use glam::DVec3;

use super::draw::RandomStream;

/// Maps every vertex by `place`.
fn moved(mut mesh: TriMesh, place: impl Fn(DVec3) -> DVec3) -> TriMesh {
    mesh.positions.iter_mut().for_each(|p| *p = place(*p));
    mesh
}

/// The outer surface, with the inner one as a cavity.
fn hollow(mut outer: TriMesh, mut inner: TriMesh) -> TriMesh {
    check::flip(&mut inner);
    outer.append(inner);
    outer
}

/// A box or a ball inside a box of this size, with a gap to its sides.
fn solid_within(draw: &mut RandomStream, size: DVec3) -> TriMesh {
    if draw.chance(0.5) {
        let turn = draw.turn(0.2);
        return moved(shapes::cuboid(DVec3::splat(0.7)), |p| (turn * p) * size);
    }
    let halvings = 1 + draw.below(3) as u32;
    moved(icosphere(halvings), |p| p * 0.48 * size)
}

/// A box with one to eight cavities, boxes and balls, each in its own part of the box.
pub fn cavities(draw: &mut RandomStream) -> TriMesh {
    let size = DVec3::ONE + 0.4 * draw.in_cube();
    let mut mesh = shapes::cuboid(size);
    let parts = [0, 1, 2].map(|_| 1 + draw.below(2));
    let part = size / DVec3::from(parts.map(|n| n as f64));
    for n in 0..parts.iter().product() {
        if n > 0 && draw.chance(0.3) {
            continue;
        }
        let at = [
            n % parts[0],
            n / parts[0] % parts[1],
            n / parts[0] / parts[1],
        ];
        let centre = (DVec3::from(at.map(|n| n as f64)) + 0.5) * part - size / 2.0;
        let room = part * draw.between(0.3, 0.85);
        let inner = solid_within(draw, room);
        mesh = hollow(mesh, moved(inner, |p| p + centre));
    }
    mesh
}

/// A box or a ball with thin walls; sometimes with another solid inside that touches nothing.
pub fn thin_walls(draw: &mut RandomStream) -> TriMesh {
    let size = DVec3::ONE + 0.3 * draw.in_cube();
    let left = draw.between(0.75, 0.92);
    let mut mesh = if draw.chance(0.5) {
        hollow(shapes::cuboid(size), shapes::cuboid(left * size))
    } else {
        let ball = moved(icosphere(3), |p| p * size / 2.0);
        hollow(ball.clone(), moved(ball, |p| p * left))
    };
    if draw.chance(0.3) {
        mesh.append(solid_within(draw, 0.5 * size));
    }
    mesh
}

/// Cells of a block with some removed, so that holes, cavities, walls and bars are left. No two cells meet
/// only in an edge or a corner.
pub fn cells(draw: &mut RandomStream) -> TriMesh {
    const N: usize = 6;
    let wide = [0, 1, 2].map(|_| 2 + draw.below(3));
    let flat = |at: [usize; 3]| (at[2] * N + at[1]) * N + at[0];
    let mut full = [false; N * N * N];
    let within = |n: usize| [n % wide[0], n / wide[0] % wide[1], n / wide[0] / wide[1]];
    let count = wide.iter().product();
    for n in 0..count {
        full[flat(within(n).map(|c| c + 1))] = true;
    }
    for _ in 0..draw.below(count) {
        let at = within(draw.below(count)).map(|c| c + 1);
        full[flat(at)] = false;
        let corners = (0..8).map(|c| [0, 1, 2].map(|axis| at[axis] - (c >> axis & 1)));
        let empty = full.iter().all(|full| !full);
        if empty
            || !corners
                .into_iter()
                .all(|low| meet_well(low, |at| full[flat(at)]))
        {
            full[flat(at)] = true;
        }
    }
    // Unevenly spaced planes between the cells.
    let planes = [0, 1, 2].map(|_| {
        let mut at = 0.0;
        [(); N + 1].map(|()| {
            at += draw.between(0.15, 0.4);
            at
        })
    });
    let mut mesh = TriMesh::default();
    let mut number = [u32::MAX; 512];
    let mut vertex = |mesh: &mut TriMesh, at: [usize; 3]| {
        let number = &mut number[(at[2] * 8 + at[1]) * 8 + at[0]];
        if *number == u32::MAX {
            *number = mesh.positions.len() as u32;
            let place = [0, 1, 2].map(|axis| planes[axis][at[axis]]);
            mesh.positions.push(DVec3::from(place));
        }
        *number
    };
    for n in 0..count {
        let at = within(n).map(|c| c + 1);
        if !full[flat(at)] {
            continue;
        }
        for (axis, upper) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)] {
            let mut neighbour = at;
            neighbour[axis] = at[axis] + 2 * upper - 1;
            if full[flat(neighbour)] {
                continue;
            }
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            let mut quad = [(0, 0), (1, 0), (1, 1), (0, 1)].map(|(du, dv)| {
                let mut corner = at;
                corner[axis] += upper;
                corner[u] += du;
                corner[v] += dv;
                vertex(&mut mesh, corner)
            });
            if upper == 0 {
                quad.reverse();
            }
            let [a, b, c, d] = quad;
            mesh.triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    mesh
}

/// Whether, of the eight cells about a corner, the full ones are connected by faces, and so are the empty
/// ones.
fn meet_well(low: [usize; 3], full: impl Fn([usize; 3]) -> bool) -> bool {
    let is_full: [bool; 8] =
        std::array::from_fn(|c| full([0, 1, 2].map(|axis| low[axis] + (c >> axis & 1))));
    [true, false].into_iter().all(|kind| {
        let Some(first) = (0..8).find(|&c| is_full[c] == kind) else {
            return true;
        };
        let mut reached = 1_u8 << first;
        for _ in 0..8 {
            for (c, full) in is_full.iter().enumerate() {
                let is_neighbour = (0..3).any(|axis| reached >> (c ^ 1 << axis) & 1 == 1);
                if *full == kind && is_neighbour {
                    reached |= 1 << c;
                }
            }
        }
        (0..8).all(|c| is_full[c] != kind || reached >> c & 1 == 1)
    })
}

/// A prism over a polygon about the origin, whose corners have these radii.
fn prism(radii: &[f64], height: f64) -> TriMesh {
    let n = radii.len() as u32;
    let mut mesh = TriMesh::default();
    for y in [-height / 2.0, height / 2.0] {
        mesh.positions.push(DVec3::new(0.0, y, 0.0));
    }
    for (k, radius) in radii.iter().enumerate() {
        let (sin, cos) = (TAU * k as f64 / f64::from(n)).sin_cos();
        for y in [-height / 2.0, height / 2.0] {
            mesh.positions
                .push(DVec3::new(radius * cos, y, radius * sin));
        }
    }
    for k in 0..n {
        let (low, next) = (2 + 2 * k, 2 + 2 * ((k + 1) % n));
        mesh.triangles.extend([
            [0, low, next],
            [1, next + 1, low + 1],
            [low, low + 1, next],
            [next, low + 1, next + 1],
        ]);
    }
    mesh
}

/// A prism over a star.
pub fn star(draw: &mut RandomStream) -> TriMesh {
    let points = 3 + draw.below(6);
    let inner = draw.between(0.2, 0.6);
    let radii: Vec<f64> = (0..2 * points)
        .map(|k| if k % 2 == 0 { 0.6 } else { inner })
        .collect();
    prism(&radii, draw.between(0.15, 0.8))
}

/// A prism over a thin triangle.
pub fn wedge(draw: &mut RandomStream) -> TriMesh {
    let thin = draw.between(0.15, 0.5);
    let mesh = prism(&[0.7; 3], draw.between(0.3, 1.0));
    moved(mesh, |p| p * DVec3::new(1.0, 1.0, thin))
}

/// A tetrahedron, or two with a common base.
pub fn tetrahedron(draw: &mut RandomStream) -> TriMesh {
    let corners = (0..3).map(|k| {
        let (sin, cos) = (TAU * f64::from(k) / 3.0 + draw.between(-0.5, 0.5)).sin_cos();
        DVec3::new(0.7 * cos, 0.0, 0.7 * sin)
    });
    let mut positions: Vec<DVec3> = corners.collect();
    positions.push(DVec3::new(0.0, draw.between(0.4, 1.2), 0.0) + 0.3 * draw.in_cube());
    let mut triangles = vec![[0, 3, 1], [1, 3, 2], [2, 3, 0]];
    if draw.chance(0.5) {
        positions.push(DVec3::new(0.0, -draw.between(0.4, 1.2), 0.0));
        triangles.extend([[1, 4, 0], [2, 4, 1], [0, 4, 2]]);
    } else {
        triangles.push([0, 1, 2]);
    }
    TriMesh {
        positions,
        triangles,
        ..TriMesh::default()
    }
}

/// A torus with few or many sides.
pub fn ring(draw: &mut RandomStream) -> TriMesh {
    let (around, across) = (5 + draw.below(30) as u32, 3 + draw.below(10) as u32);
    let thick = draw.between(0.08, 0.25);
    let mut mesh = TriMesh::default();
    for i in 0..around {
        let (sin, cos) = (TAU * f64::from(i) / f64::from(around)).sin_cos();
        for j in 0..across {
            let (up, out) = (TAU * f64::from(j) / f64::from(across)).sin_cos();
            let r = 0.5 + thick * out;
            mesh.positions
                .push(DVec3::new(r * cos, r * sin, thick * up));
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

/// A ball with spikes and dents.
pub fn spikes(draw: &mut RandomStream) -> TriMesh {
    let halvings = 1 + draw.below(2) as u32;
    let mut mesh = icosphere(halvings);
    let depth = draw.between(0.2, 0.6);
    for p in &mut mesh.positions {
        *p *= 0.6 * (1.0 - depth * draw.unit());
    }
    mesh
}
