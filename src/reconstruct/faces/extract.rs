//! The surfaces of a body in one state of breakage: its skin, cut along the rims of cracks, and both faces of
//! every crack.
//!
//! Cracks are the dual of the loops that [`crate::reconstruct::cut::cells`] finds on the grid (Nielson 2004):
//! each loop of a cell becomes a vertex, and each side of every crossed grid edge becomes the polygon of the
//! loops around it. A crack has both its faces with coincident vertices; at its tip both faces share the same
//! vertices, so it opens up to its tip without a gap. Where it reaches the skin, triangles connect it to the
//! rim that [`crate::reconstruct::cut::cut_skin`] cuts there.
//!
//! The result is closed and edge-manifold by construction. An edge of a polygon passes through one face
//! between two cells. If two arcs on that face join the same two loops, two different edges would have the
//! same ends; then each gets its own vertex in the middle. Diagonals that two polygons across one grid edge
//! might share are replaced by a vertex in the middle of each polygon. Vertices around which the triangles
//! form several fans are split by [`super::fans`].

use crate::parallel::prelude::*;
use glam::DVec3;

use super::fans::split_fans;
use super::place::{loop_groups, vertex_position};
use super::rough::roughen;
use super::smooth::{CrackVertex, VertexLink, smooth};
use super::surface::BodySurface;
use crate::reconstruct::body::skin_grid::SkinGrid;
use crate::reconstruct::cracks::field::Cracks;
use crate::reconstruct::cracks::owners::NodeOwners;
use crate::reconstruct::cut::cells::CrackCells;
use crate::reconstruct::cut::clip::SkinPoint;
use crate::reconstruct::cut::cut_skin::{CutSkin, cut_along_rims};
use crate::reconstruct::cut::intersection::{
    SkinGridMismatch, SkinIntersection, cells_around_edge,
};
use crate::reconstruct::surface::binding::Binding;

/// The cut skin and the cracks between nodes of different `owners`. Owners are added where a crack continues
/// along the skin. `corners` are the skin's vertices.
pub fn extract_surface(
    skin_grid: &SkinGrid,
    cracks: &Cracks,
    owners: &mut NodeOwners,
    corners: &[SkinPoint],
) -> Result<BodySurface, SkinGridMismatch> {
    let intersection = SkinIntersection::new(skin_grid, cracks, owners, corners)?;
    let cells = CrackCells::new(skin_grid, &intersection);
    let cut_skin = cut_along_rims(skin_grid, cracks, &intersection, &cells, corners);
    let mesher = CrackMesher {
        skin_grid,
        cracks,
        intersection: &intersection,
        cells: &cells,
    };
    Ok(mesher.surface(cut_skin))
}

#[derive(Clone, Copy)]
struct CrackMesher<'a> {
    skin_grid: &'a SkinGrid,
    cracks: &'a Cracks<'a>,
    intersection: &'a SkinIntersection,
    cells: &'a CrackCells,
}

/// Vertices of a cell.
struct CellVertices {
    vertices: Vec<CrackVertex>,
    /// For each loop, its index in `vertices`: loops on different sides of a crack share one vertex, so that
    /// the faces coincide.
    of_loop: Vec<u32>,
    bindings: Vec<Binding>,
    /// Middle vertices on the lower faces.
    middles: Vec<(CrackVertex, Binding)>,
}

/// A polygon across one grid edge: at least four vertices, counter-clockwise seen from outside.
struct CrackPolygon {
    corners: Vec<u32>,
    /// Whether the corners were reversed because the polygon is on the side of the edge's upper end.
    turned: bool,
    /// Whether another polygon across the same grid edge also has both ends of a diagonal, as near a tip:
    /// both might use that diagonal.
    pinched: bool,
}

impl CrackMesher<'_> {
    fn surface(self, cut_skin: CutSkin) -> BodySurface {
        let count = self.cells.nodes.len();
        let placed: Vec<CellVertices> = (0..count)
            .into_par_iter()
            .with_min_len(64)
            .map(|number| self.cell_vertices(number))
            .collect();
        // Vertices shared by the sides, and for each vertex of the surface its index among them.
        let mut shared: Vec<CrackVertex> = Vec::new();
        let mut shared_of: Vec<u32> = Vec::with_capacity(self.cells.vertices as usize);
        let mut surface = BodySurface::default();
        for placed in &placed {
            let base = shared.len() as u32;
            shared_of.extend(placed.of_loop.iter().map(|vertex| base + vertex));
            shared.extend(&placed.vertices);
            surface.bindings.extend(&placed.bindings);
        }
        for (vertex, binding) in placed.iter().flat_map(|placed| &placed.middles) {
            shared_of.push(shared.len() as u32);
            shared.push(*vertex);
            surface.bindings.push(*binding);
        }
        drop(placed);
        // Crossings on the skin fix the border of the cracks.
        let stretch_count = self.intersection.edges.len();
        let border = shared.len() as u32;
        shared.extend(
            self.intersection.crossings[stretch_count..]
                .iter()
                .map(|crossing| CrackVertex {
                    position: crossing.point,
                    pinned: true,
                    elements: 0,
                }),
        );
        let links: Vec<VertexLink> = (0..count)
            .into_par_iter()
            .with_min_len(64)
            .flat_map_iter(|number| self.links(number, &shared_of, border))
            .collect();
        smooth(self.skin_grid, &mut shared, &links);
        roughen(
            &mut shared,
            self.skin_grid.roughness,
            self.cracks.body.radius,
        );
        let shared_of = shared_of.iter();
        surface.positions = shared_of.map(|&p| shared[p as usize].position).collect();
        surface.positions.extend(&cut_skin.positions);
        surface.bindings.extend(&cut_skin.bindings);
        surface.triangles.extend(&cut_skin.triangles);
        surface.inside.resize(surface.triangles.len(), 0);
        surface.sources.extend(&cut_skin.sources);
        let polygons: Vec<Vec<CrackPolygon>> = (0..stretch_count)
            .into_par_iter()
            .with_min_len(256)
            .map(|crossing| self.faces(crossing as u32))
            .collect();
        for polygon in polygons.iter().flatten() {
            polygon.triangulate(&mut surface);
        }
        let ties: Vec<[u32; 3]> = (0..count)
            .into_par_iter()
            .with_min_len(256)
            .flat_map_iter(|number| self.ties(number, &cut_skin.of_chain))
            .collect();
        // Where the skin passes through a cell, several fans may meet at the vertex of a loop; elsewhere a
        // loop is the border of one fan.
        let loops = self.cells.vertices as usize - self.cells.middles.len();
        let mut at_skin = vec![false; loops];
        for &vertex in [&ties, &cut_skin.rims].into_iter().flatten().flatten() {
            if let Some(at_skin) = at_skin.get_mut(vertex as usize) {
                *at_skin = true;
            }
        }
        surface.triangles.extend(ties);
        surface.triangles.extend(&cut_skin.rims);
        surface.inside.resize(surface.triangles.len(), 1);
        surface.sources.resize(surface.triangles.len(), u32::MAX);
        split_fans(&mut surface, &at_skin);
        surface.find_components();
        surface.drop_small_cracks(self.cracks.body.radius);
        surface
    }

    fn cell_vertices(self, number: usize) -> CellVertices {
        let node = self.cells.nodes[number] as usize;
        let halves = self.cells.halves(number);
        let loops = self.cells.loops(number);
        let crossing = |n: u32| &self.intersection.crossings[n as usize];
        let owner = |half: u32| crossing(half / 2).owners[half as usize % 2];
        let owners = halves.iter().map(|&(half, _)| owner(half));
        let elements = owners
            .map(|owner| self.cracks.fragment_size(owner))
            .min()
            .unwrap_or(0);
        let (of_loop, crossings) = loop_groups(halves, loops);
        let vertices = crossings
            .iter()
            .map(|own| CrackVertex {
                position: vertex_position(self.skin_grid, node, own.iter().map(|&n| crossing(n))),
                pinned: false,
                elements,
            })
            .collect();
        let side = |own: &mut dyn Iterator<Item = u32>| {
            let mut elements: Vec<u32> = own.map(owner).collect();
            elements.sort_unstable();
            elements.dedup();
            Binding::to(&elements)
        };
        let bindings = (0..loops)
            .map(|own| {
                side(
                    &mut halves
                        .iter()
                        .filter(|half| half.1 == own)
                        .map(|half| half.0),
                )
            })
            .collect();
        let middles = self.cells.middles_of(number).iter().map(|(middle, _)| {
            let points = middle.halves.map(|half| crossing(half / 2).point);
            let vertex = CrackVertex {
                position: (points[0] + points[1]) / 2.0,
                pinned: true,
                elements,
            };
            (vertex, side(&mut middle.halves.into_iter()))
        });
        CellVertices {
            vertices,
            of_loop: of_loop.into_iter().map(u32::from).collect(),
            bindings,
            middles: middles.collect(),
        }
    }

    /// Links between shared vertices through the lower faces of a cell, and to the crossings on the skin.
    fn links(self, number: usize, shared_of: &[u32], border: u32) -> Vec<VertexLink> {
        let mut links = Vec::new();
        let stretch_count = self.intersection.edges.len() as u32;
        let mut link = |a: u32, b: u32, line: bool| {
            links.push(VertexLink {
                ends: [a.min(b), a.max(b)],
                line,
            });
        };
        let node = self.cells.nodes[number] as usize;
        for axis in 0..3 {
            let Some(below) = self.cells.at(node - self.skin_grid.grid.strides()[axis]) else {
                continue;
            };
            for arc in self.cells.arcs_below(self.intersection, number, axis) {
                let ends = [number, below].map(|n| self.cells.vertex(n, arc.halves[0]));
                if let [Some(a), Some(b)] = ends {
                    link(shared_of[a as usize], shared_of[b as usize], arc.line);
                }
            }
        }
        for &(half, own) in self.cells.halves(number) {
            if half / 2 >= stretch_count {
                let vertex = shared_of[(self.cells.first[number] + u32::from(own)) as usize];
                link(vertex, border + half / 2 - stretch_count, false);
            }
        }
        links.sort_unstable();
        links.dedup();
        links
    }

    /// Corners of the polygons across the grid edge of a crossing, on its lower and upper side, both
    /// right-handed about the edge.
    fn rings(self, crossing: u32) -> [Vec<u32>; 2] {
        let edge = self.intersection.edges[crossing as usize];
        let axis = (edge % 3) as usize;
        let around = cells_around_edge(self.skin_grid, edge);
        // Cells in order around the edge, right-handed about it.
        let ring = [0, 1, 3, 2].map(|m| self.cells.at(around[m]));
        let mut rings: [Vec<u32>; 2] = Default::default();
        for end in 0..2 {
            let half = 2 * crossing + end;
            for m in 0..4 {
                let cells = [ring[m], ring[(m + 1) % 4]];
                let [Some(here), Some(next)] = cells else {
                    continue;
                };
                let vertices = [here, next].map(|n| self.cells.vertex(n, half));
                let [Some(from), Some(_)] = vertices else {
                    continue;
                };
                rings[end as usize].push(from);
                // The face between both cells is a lower face of the upper cell.
                let upper = ring[[0, 1, 3, 0][m]].unwrap_or(here);
                let across = (axis + 1 + m % 2) % 3;
                rings[end as usize].extend(self.cells.middle(upper, across, half));
            }
        }
        rings
    }

    /// Polygons across the grid edge of a crossing.
    fn faces(self, crossing: u32) -> Vec<CrackPolygon> {
        let rings = self.rings(crossing);
        let mut pinched = share_diagonal(&rings[0], &rings[1]);
        // Where the skin passes through the edge, cracks may cross several stretches of it.
        let edge = self.intersection.edges[crossing as usize];
        let first = self
            .intersection
            .edges
            .partition_point(|&other| other < edge);
        let on_edge = self.intersection.edges[first..].iter();
        let count = on_edge.take_while(|&&other| other == edge).count();
        for other in (first..first + count).filter(|&other| other != crossing as usize) {
            for ring in self.rings(other as u32) {
                pinched |= rings.iter().any(|own| share_diagonal(own, &ring));
            }
        }
        let polygons = rings.into_iter().enumerate().map(|(end, mut corners)| {
            if end == 1 {
                corners.reverse();
            }
            CrackPolygon {
                corners,
                turned: end == 1,
                pinched,
            }
        });
        polygons.collect()
    }

    /// Triangles on the lower faces of a cell that connect cracks to the skin.
    fn ties(self, number: usize, of_chain: &[[u32; 2]]) -> Vec<[u32; 3]> {
        let stretch_count = self.intersection.edges.len() as u32;
        let node = self.cells.nodes[number] as usize;
        let mut ties = Vec::new();
        for axis in 0..3 {
            let Some(below) = self.cells.at(node - self.skin_grid.grid.strides()[axis]) else {
                continue;
            };
            for arc in self.cells.arcs_below(self.intersection, number, axis) {
                if !arc.has_edge(stretch_count) {
                    continue;
                }
                let vertices = [below, number].map(|n| self.cells.vertex(n, arc.halves[0]));
                let [Some(below), Some(above)] = vertices else {
                    continue;
                };
                let middle = self.cells.middle(number, axis, arc.halves[0]);
                for (m, half) in arc.halves.into_iter().enumerate() {
                    if half / 2 < stretch_count {
                        continue;
                    }
                    let gate = of_chain[(half / 2 - stretch_count) as usize][half as usize % 2];
                    // At the end of an arc, the edge of a polygon runs from below to above.
                    let (from, to) = if m == 0 {
                        (above, below)
                    } else {
                        (below, above)
                    };
                    match middle {
                        Some(middle) => ties.extend([[from, middle, gate], [middle, to, gate]]),
                        None => ties.push([from, to, gate]),
                    }
                }
            }
        }
        ties
    }
}

/// Whether both ends of a diagonal of `quad` are also corners of `other`.
fn share_diagonal(quad: &[u32], other: &[u32]) -> bool {
    let shared = |m: usize| quad.get(m).is_some_and(|v| other.contains(v));
    (shared(0) && shared(2)) || (shared(1) && shared(3))
}

impl CrackPolygon {
    /// Splits the polygon into triangles: a quad along the diagonal that folds it less, a larger polygon as a
    /// fan around the mean of its corners.
    fn triangulate(&self, surface: &mut BodySurface) {
        let positions = &mut surface.positions;
        let corners = &self.corners;
        match corners[..] {
            [a, b, d, e] if !self.pinched => {
                let [pa, pb, pd, pe] = [a, b, d, e].map(|v| positions[v as usize]);
                // Cosine of the fold angle along a diagonal.
                let fold = |p: DVec3, q: DVec3, left: DVec3, right: DVec3| {
                    let n = (left - p).cross(q - p).normalize_or_zero();
                    let m = (q - p).cross(right - p).normalize_or_zero();
                    n.dot(m)
                };
                let (first, second) = (fold(pa, pd, pb, pe), fold(pb, pe, pd, pa));
                let flat = (first - second).abs() < 1e-3;
                let (first_length, second_length) = (pa.distance(pd), pb.distance(pe));
                // Both sides must choose the same diagonal: reversing a quad keeps diagonal a-d but changes
                // which one wins a tie.
                let along_first = if !flat {
                    first > second
                } else if (first_length - second_length).abs() > 1e-9 * first_length {
                    first_length < second_length
                } else {
                    !self.turned
                };
                surface.triangles.extend(if along_first {
                    [[a, b, d], [a, d, e]]
                } else {
                    [[a, b, e], [b, d, e]]
                });
            }
            _ => {
                let sum: DVec3 = corners.iter().map(|&v| positions[v as usize]).sum();
                let centre = positions.len() as u32;
                positions.push(sum / corners.len() as f64);
                let binding = surface.bindings[corners[0] as usize];
                surface.bindings.push(binding);
                let next = (0..corners.len())
                    .map(|m| [centre, corners[m], corners[(m + 1) % corners.len()]]);
                surface.triangles.extend(next);
            }
        }
    }
}
