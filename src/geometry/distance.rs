//! Signed distance of a mesh at the nodes of a grid.
//!
//! The distance is exact within a band about the surface and clamped beyond it. The sign comes from the winding number
//! counted along grid lines, so parts that overlap count once. It is counted along all three axes and the majority
//! holds: a closed mesh gives the same thrice, a small hole spoils one line of one axis.

use glam::{DVec2, DVec3};
use rayon::prelude::*;

use super::nearest::nearest_on_triangle;
use super::{NodeGrid, TriMesh};

/// Distance (m) to `mesh` at every node of `grid`, negative inside, clamped to ±`band`.
pub fn signed_distance(mesh: &TriMesh, grid: &NodeGrid, band: f64) -> Vec<f32> {
    let mut distance = unsigned_distance(mesh, grid, band);
    let mut votes = vec![0_u8; grid.len()];
    for axis in 0..3 {
        vote_along(mesh, grid, axis, &mut votes);
    }
    for (value, votes) in distance.iter_mut().zip(votes) {
        if votes >= 2 {
            *value = -*value;
        }
    }
    distance
}

fn unsigned_distance(mesh: &TriMesh, grid: &NodeGrid, band: f64) -> Vec<f32> {
    let layer_span = |t: usize| {
        let [a, b, c] = mesh.corners(t);
        let (lo, hi) = (a.min(b).min(c), a.max(b).max(c));
        grid.span(2, lo.z - band, hi.z + band)
    };
    let mut of_layer: Vec<Vec<u32>> = vec![Vec::new(); grid.nodes[2]];
    for t in 0..mesh.triangles.len() {
        for k in layer_span(t) {
            of_layer[k].push(t as u32);
        }
    }
    let mut distance = vec![0_f32; grid.len()];
    distance
        .par_chunks_mut(grid.nodes[0] * grid.nodes[1])
        .enumerate()
        .for_each(|(k, layer)| {
            let mut squared = vec![band * band; layer.len()];
            for &t in &of_layer[k] {
                let corners = mesh.corners(t as usize);
                let [a, b, c] = corners;
                let (lo, hi) = (a.min(b).min(c), a.max(b).max(c));
                let normal = (b - a).cross(c - a).normalize_or_zero();
                for j in grid.span(1, lo.y - band, hi.y + band) {
                    for i in grid.span(0, lo.x - band, hi.x + band) {
                        let p = grid.position([i, j, k]);
                        let best = &mut squared[j * grid.nodes[0] + i];
                        let height = normal.dot(p - a);
                        if height * height < *best {
                            *best = best.min(nearest_on_triangle(p, corners).distance_squared(p));
                        }
                    }
                }
            }
            for (value, squared) in layer.iter_mut().zip(squared) {
                *value = squared.sqrt() as f32;
            }
        });
    distance
}

/// Whether `p`, moved by (ε, ε²), lies left of the line from `a` to `b`; exact, and never undecided for distinct points.
fn left_of(a: DVec2, b: DVec2, p: DVec2) -> bool {
    let coord = |v: DVec2| robust::Coord { x: v.x, y: v.y };
    let area = robust::orient2d(coord(a), coord(b), coord(p));
    if area != 0.0 {
        area > 0.0
    } else if a.y != b.y {
        a.y > b.y
    } else {
        b.x > a.x
    }
}

/// Adds one vote to each node whose winding number, counted along `axis`, is positive.
fn vote_along(mesh: &TriMesh, grid: &NodeGrid, axis: usize, votes: &mut [u8]) {
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    let flat = |p: DVec3| DVec2::new(p[u], p[v]);
    let strides = grid.strides();
    // Change of the winding number on reaching a node. Wraps far beyond any mesh that means something.
    let mut change = vec![0_i8; grid.len()];
    for t in 0..mesh.triangles.len() {
        let ids = mesh.triangles[t];
        let corners = mesh.corners(t);
        let [a, b, c] = corners.map(flat);
        let (lo, hi) = (a.min(b).min(c), a.max(b).max(c));
        for jv in grid.span(v, lo.y, hi.y) {
            for iu in grid.span(u, lo.x, hi.x) {
                let p = DVec2::new(
                    grid.origin[u] + iu as f64 * grid.spacing,
                    grid.origin[v] + jv as f64 * grid.spacing,
                );
                // Both triangles of an edge ask with its ends in the same order, so exactly one of them gets the line.
                let side = |m: usize, n: usize, from: DVec2, to: DVec2| {
                    if ids[m] < ids[n] {
                        left_of(from, to, p)
                    } else {
                        !left_of(to, from, p)
                    }
                };
                let sides = [side(0, 1, a, b), side(1, 2, b, c), side(2, 0, c, a)];
                if sides[0] != sides[1] || sides[1] != sides[2] {
                    continue;
                }
                let areas = [
                    (b - p).perp_dot(c - p),
                    (c - p).perp_dot(a - p),
                    (a - p).perp_dot(b - p),
                ];
                let total: f64 = areas.iter().sum();
                let height = if total == 0.0 {
                    corners[0][axis]
                } else {
                    (areas[0] * corners[0][axis]
                        + areas[1] * corners[1][axis]
                        + areas[2] * corners[2][axis])
                        / total
                };
                let at = ((height - grid.origin[axis]) / grid.spacing)
                    .ceil()
                    .max(0.0) as usize;
                if at < grid.nodes[axis] {
                    let node = iu * strides[u] + jv * strides[v] + at * strides[axis];
                    // Seen along the axis a counter-clockwise triangle faces forward: the line leaves the body.
                    let step = if sides[0] { -1 } else { 1 };
                    change[node] = change[node].wrapping_add(step);
                }
            }
        }
    }
    for jv in 0..grid.nodes[v] {
        for iu in 0..grid.nodes[u] {
            let mut winding = 0_i8;
            for at in 0..grid.nodes[axis] {
                let node = iu * strides[u] + jv * strides[v] + at * strides[axis];
                winding = winding.wrapping_add(change[node]);
                votes[node] += u8::from(winding > 0);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn sphere_distance_is_exact_in_the_band_and_has_its_volume() {
        let mut mesh = crate::geometry::icosphere(4);
        for p in &mut mesh.positions {
            *p = *p * 0.5 + DVec3::new(3.0, -2.0, 1.0);
        }
        let (lo, hi) = mesh.bounds().unwrap();
        let grid = NodeGrid::around(lo, hi, 0.04, 3);
        let s = signed_distance(&mesh, &grid, 0.08);
        let mut inside = 0.0;
        for (node, &s) in s.iter().enumerate() {
            let exact = grid
                .position(grid.coords(node))
                .distance(DVec3::new(3.0, -2.0, 1.0))
                - 0.5;
            assert!((f64::from(s) - exact.clamp(-0.08, 0.08)).abs() < 2e-3);
            // Volume by the fraction of a node's cell below a plane at distance s.
            inside += (0.5 - f64::from(s) / 0.04).clamp(0.0, 1.0);
        }
        let volume = inside * 0.04_f64.powi(3);
        assert!((volume / mesh.volume() - 1.0).abs() < 0.01);
    }

    #[test]
    fn nodes_on_faces_edges_and_corners_leave_no_streaks() {
        // A box whose corners, edges and face diagonals pass through nodes of the grid.
        let corner = |c: usize| DVec3::new((c & 1) as f64, (c >> 1 & 1) as f64, (c >> 2) as f64);
        let mesh = TriMesh {
            positions: (0..8).map(|c| corner(c) * 4.0).collect(),
            triangles: [
                [0, 2, 1],
                [1, 2, 3],
                [4, 5, 6],
                [5, 7, 6],
                [0, 1, 4],
                [1, 5, 4],
                [2, 6, 3],
                [3, 6, 7],
                [0, 4, 2],
                [2, 4, 6],
                [1, 3, 5],
                [3, 7, 5],
            ]
            .to_vec(),
        };
        let grid = NodeGrid {
            origin: DVec3::splat(-2.0),
            spacing: 1.0,
            nodes: [9; 3],
        };
        let s = signed_distance(&mesh, &grid, 10.0);
        for (node, &s) in s.iter().enumerate() {
            let c = grid.coords(node);
            if c.iter().all(|i| (3..=5).contains(i)) {
                assert!(s < 0.0, "{c:?}");
            } else if c.iter().any(|i| !(2..=6).contains(i)) {
                assert!(s > 0.0, "{c:?}");
            }
        }
    }
}
