//! Determines which nodes of a grid lie inside a mesh, and where grid lines cross its surface.
//!
//! The winding number is counted along grid lines, so overlapping parts count once. It is counted along all
//! three axes and the majority decides: for a closed mesh all three agree, and a small hole spoils only
//! single lines of one axis.

use crate::parallel::prelude::*;
use glam::{DVec2, DVec3};

use super::mesh::TriMesh;
use super::node_grid::NodeGrid;

/// A mesh sampled on the nodes of a grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Occupancy {
    /// Whether each node lies inside.
    pub inside: Vec<bool>,
    /// Crossings of grid lines with the surface, ordered by edge and coordinate.
    hits: Vec<LineHit>,
}

/// Point where a grid line crosses the surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineHit {
    /// The grid edge that it lies on: three times the index of the edge's lower node plus the axis.
    pub edge: u64,
    /// Coordinate along the axis, m.
    pub height: f64,
    /// Triangle of the mesh.
    pub triangle: u32,
}

impl Occupancy {
    /// Samples `mesh` on `grid`, whose border it must not reach.
    pub fn new(mesh: &TriMesh, grid: &NodeGrid) -> Self {
        let axes: Vec<AxisOccupancy> = (0..3_usize)
            .into_par_iter()
            .map(|axis| occupancy_along(mesh, grid, axis))
            .collect();
        let votes = |node: usize| axes.iter().filter(|line| line.inside[node]).count();
        let inside = (0..grid.len()).into_par_iter().map(|node| votes(node) >= 2);
        let inside = inside.collect();
        let mut hits: Vec<LineHit> = axes.into_iter().flat_map(|line| line.hits).collect();
        hits.par_sort_unstable_by(|a, b| {
            let by_height = a.height.total_cmp(&b.height);
            let by_edge = a.edge.cmp(&b.edge);
            by_edge.then(by_height).then(a.triangle.cmp(&b.triangle))
        });
        Occupancy { inside, hits }
    }

    /// The crossings on the edge that starts at `node` along `axis`, in order.
    pub fn hits(&self, node: usize, axis: usize) -> &[LineHit] {
        let edge = 3 * node as u64 + axis as u64;
        let start = self.hits.partition_point(|hit| hit.edge < edge);
        let count = self.hits[start..].partition_point(|hit| hit.edge == edge);
        &self.hits[start..start + count]
    }
}

/// Result for the grid lines along one axis.
struct AxisOccupancy {
    inside: Vec<bool>,
    hits: Vec<LineHit>,
}

/// Whether `p`, moved by (ε, ε²) with ε → 0, lies left of the line from `a` to `b`; exact, and never
/// undecided for distinct points.
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

fn occupancy_along(mesh: &TriMesh, grid: &NodeGrid, axis: usize) -> AxisOccupancy {
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    let flat = |p: DVec3| DVec2::new(p[u], p[v]);
    let strides = grid.strides();
    // Change of the winding number at each node along the line. It overflows only for meaningless meshes.
    let mut change = vec![0_i8; grid.len()];
    let mut hits = Vec::new();
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
                // Both triangles of an edge test its ends in the same order, so exactly one of them gets the
                // line.
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
                    // A triangle that is counter-clockwise in this projection faces forward: the line leaves
                    // the body.
                    let step = if sides[0] { -1 } else { 1 };
                    change[node] = change[node].wrapping_add(step);
                    if at > 0 {
                        hits.push(LineHit {
                            edge: 3 * (node - strides[axis]) as u64 + axis as u64,
                            height,
                            triangle: t as u32,
                        });
                    }
                }
            }
        }
    }
    let mut inside = vec![false; grid.len()];
    for jv in 0..grid.nodes[v] {
        for iu in 0..grid.nodes[u] {
            let mut winding = 0_i8;
            for at in 0..grid.nodes[axis] {
                let node = iu * strides[u] + jv * strides[v] + at * strides[axis];
                winding = winding.wrapping_add(change[node]);
                inside[node] = winding > 0;
            }
        }
    }
    AxisOccupancy { inside, hits }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_sphere_has_its_volume_and_is_hit_on_its_surface() {
        let centre = DVec3::new(3.0, -2.0, 1.0);
        let mut mesh = crate::geometry::icosphere(4);
        for p in &mut mesh.positions {
            *p = *p * 0.5 + centre;
        }
        let (lo, hi) = mesh.bounds().unwrap();
        let grid = NodeGrid::around(lo, hi, 0.04, 3);
        let seen = Occupancy::new(&mesh, &grid);
        let mut count = 0;
        for (node, &inside) in seen.inside.iter().enumerate() {
            let p = grid.position(grid.coords(node));
            let off = p.distance(centre) - 0.5;
            assert!(inside == (off < 0.0) || off.abs() < 2e-3);
            count += usize::from(inside);
            for axis in 0..3 {
                let along = grid.strides()[axis];
                let hits = seen.hits(node, axis);
                let parted = seen
                    .inside
                    .get(node + along)
                    .is_some_and(|&up| up != inside);
                assert_eq!(hits.len() % 2 == 1, parted);
                for hit in hits {
                    let mut x = p;
                    x[axis] = hit.height;
                    assert!((x.distance(centre) - 0.5).abs() < 2e-3);
                }
            }
        }
        let volume = count as f64 * 0.04_f64.powi(3);
        assert!((volume / mesh.volume() - 1.0).abs() < 0.02);
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
            ..TriMesh::default()
        };
        let grid = NodeGrid {
            origin: DVec3::splat(-2.0),
            spacing: 1.0,
            nodes: [9; 3],
        };
        let seen = Occupancy::new(&mesh, &grid);
        for (node, &inside) in seen.inside.iter().enumerate() {
            let c = grid.coords(node);
            if c.iter().all(|i| (3..=5).contains(i)) {
                assert!(inside, "{c:?}");
            } else if c.iter().any(|i| !(2..=6).contains(i)) {
                assert!(!inside, "{c:?}");
            }
        }
    }
}
