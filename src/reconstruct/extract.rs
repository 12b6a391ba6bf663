//! The surfaces of all fragments of a body, as the dual of marching cubes.
//!
//! Marching cubes over several owners at once: in every cell each owner has the polygons of its own case of
//! [`super::table`]. What is drawn is the dual of those polygons (Nielson 2004): one vertex for each polygon, and for
//! every crossed grid edge the quad of the four polygons around it. Compared with the polygons themselves the quads
//! are of even size, and since a vertex may lie anywhere in its cell, a crack meets the skin in a sharp rim and both
//! sides of a crack are the same quads, turned round: fragments add up to the body.
//!
//! Closed and edge-manifold by construction. A quad edge crosses one cell face. If the corners of that face alternate
//! and one polygon on each side draws both segments on it, two different quad edges would have the same ends; there
//! each gets a vertex of its own in the middle.

use glam::DVec3;
use rayon::prelude::*;

use super::body::Solid;
use super::fair::{Vertex, fair};
use super::field::{Field, OUTSIDE};
use super::place::Cell;
use super::table::{CASES, NOT_CROSSED, doubled_face, edge_corners};
use crate::geometry::TriMesh;

/// Closed surface of one fragment at rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shell {
    /// Vertices and triangles.
    pub mesh: TriMesh,
    /// For each triangle: 1 on a crack face, 0 on the skin.
    pub inside: Vec<u8>,
}

/// What one owner has in one cell.
#[derive(Clone, Copy, Debug)]
struct Slot {
    piece: u32,
    /// Set of corners that it owns.
    inside: u8,
    /// Number of its first vertex within the piece; one a polygon.
    first: u32,
}

/// Vertex in the middle of a quad edge that would otherwise coincide with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Middle {
    /// Corner 0 of the cell whose lower face along `axis` it lies on.
    cell: u32,
    axis: u8,
    /// The inside node that the face's segment cuts off.
    node: u32,
    piece: u32,
}

/// All cells with more than one owner.
struct Cells {
    nodes: Vec<u32>,
    /// Range of each cell in `slots`.
    first: Vec<u32>,
    slots: Vec<Slot>,
    /// Number of the cell with corner 0 at a node, or `u32::MAX`.
    number: Vec<u32>,
}

impl Cells {
    fn find(solid: &Solid, field: &Field) -> Self {
        let [nx, ny, nz] = solid.grid.nodes;
        let layers: Vec<(Vec<u32>, Vec<u32>, Vec<Slot>)> = (0..nz - 1)
            .into_par_iter()
            .map(|k| {
                let (mut nodes, mut counts, mut slots) = (Vec::new(), Vec::new(), Vec::new());
                for j in 0..ny - 1 {
                    for i in 0..nx - 1 {
                        let node = solid.grid.index([i, j, k]);
                        let cell = Cell::at(solid, field, node);
                        if cell.owners.iter().all(|&owner| owner == cell.owners[0]) {
                            continue;
                        }
                        let before = slots.len();
                        for (corner, &piece) in cell.owners.iter().enumerate() {
                            if piece != OUTSIDE && !cell.owners[..corner].contains(&piece) {
                                slots.push(Slot {
                                    piece,
                                    inside: cell.inside(piece),
                                    first: 0,
                                });
                            }
                        }
                        nodes.push(node as u32);
                        counts.push((slots.len() - before) as u32);
                    }
                }
                (nodes, counts, slots)
            })
            .collect();
        let mut cells = Cells {
            nodes: Vec::new(),
            first: vec![0],
            slots: Vec::new(),
            number: vec![u32::MAX; field.owner.len()],
        };
        let mut end = 0;
        for (nodes, counts, slots) in layers {
            for (node, count) in nodes.into_iter().zip(counts) {
                cells.number[node as usize] = cells.nodes.len() as u32;
                cells.nodes.push(node);
                end += count;
                cells.first.push(end);
            }
            cells.slots.extend(slots);
        }
        cells
    }

    fn range(&self, number: usize) -> std::ops::Range<usize> {
        self.first[number] as usize..self.first[number + 1] as usize
    }

    /// What `piece` has in the cell with corner 0 at `node`.
    fn slot(&self, node: usize, piece: u32) -> Option<&Slot> {
        let number = self.number[node];
        if number == u32::MAX {
            return None;
        }
        self.slots[self.range(number as usize)]
            .iter()
            .find(|slot| slot.piece == piece)
    }
}

/// Surfaces of the fragments, of which piece `k` has `elements[k]` elements; one that owns no node has an empty shell.
///
/// Nodes on the border of the grid must lie outside.
pub fn extract(solid: &Solid, field: &Field, elements: &[u32]) -> Vec<Shell> {
    let mut cells = Cells::find(solid, field);
    let middles = number_vertices(solid, &mut cells, elements.len());

    // Vertices come in the order of the numbering, so that pushing them puts each at its number.
    let placed: Vec<Placed> = (0..cells.nodes.len())
        .into_par_iter()
        .with_min_len(64)
        .map(|number| place(solid, field, &cells, number, &middles))
        .collect();
    let mut vertices: Vec<Vertex> = Vec::new();
    let mut vertex_of: Vec<Vec<u32>> = vec![Vec::new(); elements.len()];
    for placed in &placed {
        let base = vertices.len() as u32;
        for &(piece, vertex) in &placed.polygons {
            vertex_of[piece as usize].push(base + vertex);
        }
        vertices.extend(&placed.vertices);
    }
    for (piece, vertex) in placed.iter().flat_map(|placed| &placed.middles) {
        vertex_of[*piece as usize].push(vertices.len() as u32);
        vertices.push(*vertex);
    }
    drop(placed);

    let polygons: Vec<Vec<Polygon>> = (0..cells.nodes.len())
        .into_par_iter()
        .with_min_len(64)
        .map(|number| polygons(solid, field, &cells, number, &middles))
        .collect();
    if elements.len() > 1 {
        let mut edges = Vec::new();
        for polygon in polygons.iter().flatten() {
            let vertex = |m: usize| {
                let corner = polygon.corners[m % polygon.corners.len()];
                vertex_of[polygon.piece as usize][corner as usize]
            };
            edges.extend((0..polygon.corners.len()).map(|m| [vertex(m), vertex(m + 1)]));
        }
        fair(solid, &mut vertices, &edges, elements);
    }

    let mut shells = vec![Shell::default(); elements.len()];
    for (shell, vertex_of) in shells.iter_mut().zip(vertex_of) {
        let positions = vertex_of.into_iter().map(|v| vertices[v as usize].position);
        shell.mesh.positions = positions.collect();
    }
    for polygon in polygons.into_iter().flatten() {
        polygon.triangulate(&mut shells[polygon.piece as usize]);
    }
    shells
}

/// Numbers the vertices of every piece: those of the polygons in the order of the cells, then the middles, which are
/// returned in order with their numbers.
fn number_vertices(solid: &Solid, cells: &mut Cells, pieces: usize) -> Vec<(Middle, u32)> {
    let mut counts = vec![0_u32; pieces];
    for slot in &mut cells.slots {
        slot.first = counts[slot.piece as usize];
        counts[slot.piece as usize] += u32::from(CASES[slot.inside as usize].loops);
    }
    let strides = solid.grid.strides();
    let mut middles: Vec<Middle> = Vec::new();
    for (number, &cell) in cells.nodes.iter().enumerate() {
        for (axis, stride) in strides.into_iter().enumerate() {
            for slot in &cells.slots[cells.range(number)] {
                let below = (cell as usize).checked_sub(stride);
                let doubled = doubled_face(slot.inside, axis, 0).is_some()
                    && below
                        .and_then(|below| cells.slot(below, slot.piece))
                        .is_some_and(|below| doubled_face(below.inside, axis, 1).is_some());
                if !doubled {
                    continue;
                }
                let corners = (0..8).filter(|corner| corner >> axis & 1 == 0);
                for corner in corners.filter(|corner| slot.inside >> corner & 1 == 1) {
                    let node = cell
                        + (0..3)
                            .map(|a| (corner >> a & 1) * strides[a] as u32)
                            .sum::<u32>();
                    middles.push(Middle {
                        cell,
                        axis: axis as u8,
                        node,
                        piece: slot.piece,
                    });
                }
            }
        }
    }
    middles.sort_unstable();
    middles
        .into_iter()
        .map(|middle| {
            let count = &mut counts[middle.piece as usize];
            *count += 1;
            (middle, *count - 1)
        })
        .collect()
}

/// The vertices that a cell brings.
struct Placed {
    vertices: Vec<Vertex>,
    /// For each polygon of each piece, its piece and its vertex above.
    polygons: Vec<(u32, u32)>,
    /// Middles on the lower faces, with their piece.
    middles: Vec<(u32, Vertex)>,
}

fn place(
    solid: &Solid,
    field: &Field,
    cells: &Cells,
    number: usize,
    middles: &[(Middle, u32)],
) -> Placed {
    let node = cells.nodes[number];
    let cell = Cell::at(solid, field, node as usize);
    let crossings = cell.crossings();
    let rim = cell.rim();
    let slots = &cells.slots[cells.range(number)];
    let mut vertices = Vec::new();
    let mut polygons = Vec::with_capacity(slots.len());
    // One polygon each: all owners share one vertex, so that their faces coincide.
    let mut shared = None;
    for slot in slots {
        let case = &CASES[slot.inside as usize];
        for polygon in 0..case.loops {
            if case.loops == 1 {
                let vertex = *shared.get_or_insert_with(|| {
                    let (x, sharp) = cell.vertex(crossings.iter().flatten(), rim.as_ref());
                    vertices.push(Vertex::new(x, cell.owners.into_iter(), sharp));
                    vertices.len() as u32 - 1
                });
                polygons.push((slot.piece, vertex));
                continue;
            }
            let edges = (0..12).filter(|&edge| case.loop_of_edge[edge] == polygon);
            let corners = edges.clone().filter_map(|edge| crossings[edge].as_ref());
            let (x, sharp) = cell.vertex(corners, rim.as_ref());
            let owners = edges.flat_map(|edge| edge_corners(edge).map(|c| cell.owners[c]));
            polygons.push((slot.piece, vertices.len() as u32));
            vertices.push(Vertex::new(x, owners, sharp));
        }
    }
    let start = middles.partition_point(|(middle, _)| middle.cell < node);
    let own = middles[start..]
        .iter()
        .take_while(|(middle, _)| middle.cell == node);
    let middles = own
        .map(|(middle, _)| {
            let strides = solid.grid.strides();
            let offset = (middle.node - node) as usize;
            let corner = (0..8)
                .find(|c| (0..3).map(|a| (c >> a & 1) * strides[a]).sum::<usize>() == offset)
                .expect("the node is a corner of the cell");
            // The segment runs between the two face edges that leave the corner.
            let ends = (0..12).filter(|&edge| {
                edge / 4 != middle.axis as usize
                    && edge_corners(edge).contains(&corner)
                    && edge_corners(edge)[0] >> middle.axis & 1 == 0
            });
            let points: Vec<DVec3> = ends
                .filter_map(|edge| crossings[edge].map(|crossing| crossing.point))
                .collect();
            let count = points.len() as f64;
            let mean = points.into_iter().sum::<DVec3>() / count;
            let owners = cell.owners.into_iter();
            (middle.piece, Vertex::new(mean, owners, true))
        })
        .collect();
    Placed {
        vertices,
        polygons,
        middles,
    }
}

/// A face of a piece across one grid edge: three to eight vertices, counter-clockwise from outside.
struct Polygon {
    piece: u32,
    inside: u8,
    corners: Vec<u32>,
    /// Whether the owner's node is the upper one, so that the corners were turned round.
    turned: bool,
}

/// The faces across the three grid edges that leave a cell's corner 0.
fn polygons(
    solid: &Solid,
    field: &Field,
    cells: &Cells,
    number: usize,
    middles: &[(Middle, u32)],
) -> Vec<Polygon> {
    let node = cells.nodes[number] as usize;
    let strides = solid.grid.strides();
    let mut found = Vec::new();
    for axis in 0..3 {
        let ends = [node, node + strides[axis]];
        let owners = ends.map(|end| field.owner[end]);
        if owners[0] == owners[1] {
            continue;
        }
        for side in 0..2 {
            if owners[side] == OUTSIDE {
                continue;
            }
            let mut corners = ring(
                cells,
                middles,
                strides,
                node,
                axis,
                owners[side],
                ends[side],
            );
            if side == 1 {
                corners.reverse();
            }
            found.push(Polygon {
                piece: owners[side],
                inside: u8::from(owners[1 - side] != OUTSIDE),
                corners,
                turned: side == 1,
            });
        }
    }
    found
}

/// Vertices of `piece` around the grid edge that leaves `node` along `axis`, right-handed about it.
/// `own` is the end of the edge that the piece owns.
fn ring(
    cells: &Cells,
    middles: &[(Middle, u32)],
    strides: [usize; 3],
    node: usize,
    axis: usize,
    piece: u32,
    own: usize,
) -> Vec<u32> {
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    // Offsets of the four cells, and for the face to the next one: the cell above it and its axis.
    const CELLS: [[usize; 2]; 4] = [[0, 0], [1, 0], [1, 1], [0, 1]];
    let cell_at = |[du, dv]: [usize; 2]| node - du * strides[u] - dv * strides[v];
    let face_above = [[0, 0], [1, 0], [0, 1], [0, 0]];
    let mut corners = Vec::with_capacity(4);
    for (m, offsets) in CELLS.into_iter().enumerate() {
        let slot = cells
            .slot(cell_at(offsets), piece)
            .expect("the owner of a crossed edge has a polygon in each cell around it");
        let edge = 4 * axis + offsets[0] + 2 * offsets[1];
        let polygon = CASES[slot.inside as usize].loop_of_edge[edge];
        debug_assert_ne!(polygon, NOT_CROSSED);
        corners.push(slot.first + u32::from(polygon));
        if middles.is_empty() {
            continue;
        }
        let key = Middle {
            cell: cell_at(face_above[m]) as u32,
            axis: if m % 2 == 0 { u } else { v } as u8,
            node: own as u32,
            piece,
        };
        if let Ok(at) = middles.binary_search_by_key(&key, |(middle, _)| *middle) {
            corners.push(middles[at].1);
        }
    }
    corners
}

impl Polygon {
    /// Cuts the polygon into triangles: a quad along the diagonal that folds it less, more corners about their mean.
    fn triangulate(&self, shell: &mut Shell) {
        let positions = &mut shell.mesh.positions;
        let c = &self.corners;
        if let [a, b, d, e] = c[..] {
            let [pa, pb, pd, pe] = [a, b, d, e].map(|v| positions[v as usize]);
            // Cosine of the fold along each diagonal.
            let fold = |p: DVec3, q: DVec3, left: DVec3, right: DVec3| {
                let n = (left - p).cross(q - p).normalize_or_zero();
                let m = (q - p).cross(right - p).normalize_or_zero();
                n.dot(m)
            };
            let (first, second) = (fold(pa, pd, pb, pe), fold(pb, pe, pd, pa));
            let flat = (first - second).abs() < 1e-3;
            let (first_length, second_length) = (pa.distance(pd), pb.distance(pe));
            // The same diagonal from both sides: turning a quad round keeps a..d but swaps the roles of ties.
            let along_first = if !flat {
                first > second
            } else if (first_length - second_length).abs() > 1e-9 * first_length {
                first_length < second_length
            } else {
                !self.turned
            };
            shell.mesh.triangles.extend(if along_first {
                [[a, b, d], [a, d, e]]
            } else {
                [[a, b, e], [b, d, e]]
            });
        } else {
            let sum: DVec3 = c.iter().map(|&v| positions[v as usize]).sum();
            let centre = positions.len() as u32;
            positions.push(sum / c.len() as f64);
            let next = (0..c.len()).map(|m| [centre, c[m], c[(m + 1) % c.len()]]);
            shell.mesh.triangles.extend(next);
        }
        shell.inside.resize(shell.mesh.triangles.len(), self.inside);
    }
}
