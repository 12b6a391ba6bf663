//! The dual surface: a vertex for each sheet in a cell, four of them around each crossed edge of the grid.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::cells::{Place, SurfaceCells, corner, is_on_border};
use super::crossings::Crossing;
use crate::geometry::check::{same_edge, sorted_edges};
use crate::geometry::marching_cases::{EDGES, POLYGONS};
use crate::geometry::mesh::TriMesh;
use crate::geometry::winding::Winding;
use crate::math::eigen;
use crate::math::hash::QuickMap;

/// Eigenvalues of the sum of n nᵀ below this fraction of the largest count as 0: along such directions a vertex stays
/// at the mean of its crossings.
const MIN_EIGENVALUE: f64 = 0.03;
/// Distance beyond the faces of its cell at which a vertex may lie, cells: an edge of the surface may leave a cell
/// between the crossings of its edges.
const REACH: f64 = 0.4;
/// Distance within which a vertex is moved onto the mesh, cells.
const SNAP: f64 = 0.4;

/// The dual surface before its crossings are removed.
pub struct DualSurface {
    /// Its triangles.
    pub mesh: TriMesh,
    /// For each vertex, a point at the mean of the crossings of its sheet: there the surface hardly crosses itself.
    pub safe: Vec<DVec3>,
    /// Cell of each vertex.
    cells: Vec<Place>,
}

/// Vertices of a cell.
struct CellVertices {
    /// Position and safe position of the vertex of each sheet.
    sheets: Vec<(DVec3, DVec3)>,
    /// Sheet of each of the 12 edges.
    sheet_of: [u8; 12],
}

impl DualSurface {
    /// Places the vertices and joins them.
    pub fn new(mesh: &TriMesh, winding: &Winding, grid: &SurfaceCells) -> Self {
        let crossed = grid.crossed();
        let vertices: Vec<CellVertices> = crossed
            .par_iter()
            .with_min_len(16)
            .map(|cell| CellVertices::new(mesh, winding, grid, *cell))
            .collect();
        let (mut first, mut positions, mut safe, mut cells) =
            (QuickMap::default(), Vec::new(), Vec::new(), Vec::new());
        for (number, (cell, own)) in crossed.iter().zip(&vertices).enumerate() {
            first.insert(*cell, (number, positions.len() as u32));
            for &(position, mean) in &own.sheets {
                positions.push(position);
                safe.push(mean);
                cells.push(*cell);
            }
        }
        let vertex = |cell: Place, edge: usize| {
            let (number, base) = first[&cell];
            base + u32::from(vertices[number].sheet_of[edge])
        };
        let mut triangles = Vec::new();
        for &cell in &crossed {
            for axis in 0..3 {
                triangles.extend(around_edge(grid, cell, axis, &vertex, &positions));
            }
        }
        DualSurface {
            mesh: TriMesh {
                positions,
                triangles: triangles.concat(),
                ..TriMesh::default()
            },
            safe,
            cells,
        }
    }

    /// Nodes outside that must be moved inside so that no edge has more than two triangles. Two vertices are joined
    /// twice where both of their cells connect the two sheets through a face with inside corners across a diagonal.
    pub fn pinched_nodes(&self, grid: &SurfaceCells) -> Vec<Place> {
        let edges = sorted_edges(&self.mesh);
        let pinched = edges.chunk_by(same_edge).filter(|edge| edge.len() > 2);
        let mut nodes: Vec<Place> = pinched
            .filter_map(|edge| {
                let [a, b] = [edge[0].0, edge[0].1].map(|v| self.cells[v as usize]);
                let common = (0..8).map(|c| corner(a, c)).filter(|node| {
                    (0..3).all(|axis| node[axis] == b[axis] || node[axis] == b[axis] + 1)
                });
                let may_fill = |node: &Place| !grid.is_inside(*node) && !is_on_border(*node);
                common.filter(may_fill).min()
            })
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }
}

impl CellVertices {
    fn new(mesh: &TriMesh, winding: &Winding, grid: &SurfaceCells, cell: Place) -> Self {
        let mut sheet_of = [0; 12];
        let mut sheets = Vec::new();
        for (sheet, polygon) in POLYGONS[grid.case(cell)].iter().enumerate() {
            let crossings: Vec<Crossing> = polygon
                .iter()
                .map(|&edge| {
                    sheet_of[edge as usize] = sheet as u8;
                    let (from, axis) = EDGES[edge as usize];
                    let ends = [from, from | 1 << axis].map(|c| corner(cell, c));
                    let [p, q] = ends.map(|node| grid.position(node));
                    match grid.is_inside(ends[0]) {
                        true => Crossing::between(mesh, winding, p, q),
                        false => Crossing::between(mesh, winding, q, p),
                    }
                })
                .collect();
            let low = grid.position(cell) - REACH * grid.edge;
            let high = low + (1.0 + 2.0 * REACH) * grid.edge;
            let mean = crossings.iter().map(|c| c.position).sum::<DVec3>() / crossings.len() as f64;
            let mut vertex = best_point(&crossings, mean, [low, high]);
            let mut safe = mean;
            if crossings.iter().all(|c| c.is_on_mesh) {
                for place in [&mut vertex, &mut safe] {
                    let nearest = winding.bvh().nearest_within(mesh, *place, SNAP * grid.edge);
                    *place = nearest.map_or(*place, |(on_mesh, _)| on_mesh);
                }
            }
            sheets.push((vertex, safe));
        }
        CellVertices { sheets, sheet_of }
    }
}

/// The point of a box nearest to the planes at the crossings, in the least-squares sense, and of several the one
/// nearest to their mean (Ju et al. 2002).
///
/// A corner or an edge of the surface beyond the box does not count: the vertex then stays on the edge or face that
/// is in the box.
fn best_point(crossings: &[Crossing], mean: DVec3, [low, high]: [DVec3; 2]) -> DVec3 {
    let mut matrix = [[0.0; 3]; 3];
    let mut sum = DVec3::ZERO;
    for crossing in crossings {
        let n = crossing.normal.to_array();
        for (row, a) in matrix.iter_mut().zip(n) {
            for (entry, b) in row.iter_mut().zip(n) {
                *entry += a * b;
            }
        }
        sum += crossing.normal * crossing.normal.dot(crossing.position - mean);
    }
    let (values, vectors) = eigen(matrix);
    let mut order = [0, 1, 2];
    order.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
    let largest = values[order[0]];
    let is_clear = |k: &&usize| values[**k] > MIN_EIGENVALUE * largest;
    let clear = order.iter().filter(is_clear).count();
    for rank in (1..=clear).rev() {
        let mut point = mean;
        for k in &order[..rank] {
            let vector = DVec3::from_array(vectors[*k]);
            point += vector * (vector.dot(sum) / values[*k]);
        }
        if (point.cmpge(low) & point.cmple(high)).all() {
            return point;
        }
    }
    mean
}

/// The two triangles around the edge of the grid that starts at the lowest corner of a cell; none if the surface does
/// not cross it.
fn around_edge(
    grid: &SurfaceCells,
    cell: Place,
    axis: usize,
    vertex: &impl Fn(Place, usize) -> u32,
    positions: &[DVec3],
) -> Option<Vec<[u32; 3]>> {
    let mut end = cell;
    end[axis] += 1;
    let is_inside = grid.is_inside(cell);
    if is_inside == grid.is_inside(end) {
        return None;
    }
    // The four cells at the edge, counter-clockwise seen from its end.
    let [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
    let mut quad = [[0, 0], [1, 0], [1, 1], [0, 1]].map(|[du, dv]| {
        let mut at = cell;
        (at[u], at[v]) = (cell[u] - du, cell[v] - dv);
        let from = du << u | dv << v;
        let edge = EDGES
            .iter()
            .position(|e| *e == (from as u8, axis as u8))
            .expect("every cell has this edge");
        vertex(at, edge)
    });
    // The surface faces the end that is outside.
    if !is_inside {
        quad.reverse();
    }
    let [a, b, c, d] = quad;
    let place = |v: u32| positions[v as usize];
    let normal = |[a, b, c]: [u32; 3]| {
        let [a, b, c] = [a, b, c].map(place);
        (b - a).cross(c - a).normalize_or_zero()
    };
    // The flatter diagonal follows sharp edges.
    let halves = [[[a, b, c], [a, c, d]], [[b, c, d], [b, d, a]]];
    let flatness = halves.map(|[s, t]| normal(s).dot(normal(t)));
    let chosen = usize::from(flatness[1] > flatness[0] + 1e-9);
    Some(halves[chosen].to_vec())
}
