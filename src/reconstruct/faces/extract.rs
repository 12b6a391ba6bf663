//! The surfaces of a body in one state: its skin, cut along the rims of cracks, and both faces of every crack.
//!
//! Cracks are drawn as the dual of what [`crate::reconstruct::cut::cells`] finds on the grid (Nielson 2004):
//! a vertex for each loop of a cell, and for each side of every crossed grid edge the polygon of the loops
//! around it. A crack has both its faces, vertex on vertex, and where it ends both have the same vertices, so
//! it opens up to its tip without a gap; where it reaches the skin, triangles tie it to the rim that
//! [`crate::reconstruct::cut::weave`] cuts there.
//!
//! Closed and edge-manifold by construction. An edge of a polygon passes through one face between two cells.
//! If two arcs on that face join the same two loops, two different edges would have the same ends; there each
//! gets a vertex of its own in the middle. Diagonals that two faces across one grid edge might share are
//! replaced by a vertex in the middle of each face. Vertices about which triangles form several fans are
//! parted by [`super::fans`].

use crate::parallel::prelude::*;
use glam::DVec3;

use super::fair::{Link, Vertex, fair};
use super::fans::part_fans;
use super::place::{groups, place};
use super::rough::roughen;
use super::surface::Surface;
use crate::reconstruct::body::solid::Solid;
use crate::reconstruct::cracks::field::Cracks;
use crate::reconstruct::cracks::owners::Owners;
use crate::reconstruct::cut::cells::Cells;
use crate::reconstruct::cut::clip::Point;
use crate::reconstruct::cut::seam::{Disagreement, Seam, ring_cells};
use crate::reconstruct::cut::weave::{Woven, weave};
use crate::reconstruct::surface::hold::Hold;

/// The skin and the cracks between `owners`, which grow where a crack goes on along the skin. `corners` are
/// the skin's vertices.
pub fn extract(
    solid: &Solid,
    cracks: &Cracks,
    owners: &mut Owners,
    corners: &[Point],
) -> Result<Surface, Disagreement> {
    let seam = Seam::new(solid, cracks, owners, corners)?;
    let cells = Cells::new(solid, &seam);
    let woven = weave(solid, cracks, &seam, &cells, corners);
    let draw = Draw {
        solid,
        cracks,
        seam: &seam,
        cells: &cells,
    };
    Ok(draw.surface(woven))
}

#[derive(Clone, Copy)]
struct Draw<'a> {
    solid: &'a Solid,
    cracks: &'a Cracks<'a>,
    seam: &'a Seam,
    cells: &'a Cells,
}

/// The vertices that a cell brings.
struct Placed {
    vertices: Vec<Vertex>,
    /// For each loop, its vertex above: sides share one, so that their faces coincide.
    of_loop: Vec<u32>,
    holds: Vec<Hold>,
    /// Middles on the lower faces.
    middles: Vec<(Vertex, Hold)>,
}

/// A face across one grid edge: four vertices or more, counter-clockwise from outside.
struct Polygon {
    corners: Vec<u32>,
    /// Whether the corners were turned round, its side being that of the upper end.
    turned: bool,
    /// Whether another face across the same grid edge has both ends of a diagonal too, as near a tip: both
    /// might draw it.
    pinched: bool,
}

impl Draw<'_> {
    fn surface(self, woven: Woven) -> Surface {
        let count = self.cells.nodes.len();
        let placed: Vec<Placed> = (0..count)
            .into_par_iter()
            .with_min_len(64)
            .map(|number| self.place(number))
            .collect();
        // Places, shared by the sides, and for each vertex its place.
        let mut places: Vec<Vertex> = Vec::new();
        let mut place_of: Vec<u32> = Vec::with_capacity(self.cells.vertices as usize);
        let mut surface = Surface::default();
        for placed in &placed {
            let base = places.len() as u32;
            place_of.extend(placed.of_loop.iter().map(|vertex| base + vertex));
            places.extend(&placed.vertices);
            surface.holds.extend(&placed.holds);
        }
        for (vertex, hold) in placed.iter().flat_map(|placed| &placed.middles) {
            place_of.push(places.len() as u32);
            places.push(*vertex);
            surface.holds.push(*hold);
        }
        drop(placed);
        // Crossings on the skin hold the border of the cracks.
        let portions = self.seam.edges.len();
        let border = places.len() as u32;
        places.extend(
            self.seam.crossings[portions..]
                .iter()
                .map(|crossing| Vertex {
                    position: crossing.point,
                    pinned: true,
                    elements: 0,
                }),
        );
        let links: Vec<Link> = (0..count)
            .into_par_iter()
            .with_min_len(64)
            .flat_map_iter(|number| self.links(number, &place_of, border))
            .collect();
        fair(self.solid, &mut places, &links);
        roughen(&mut places, self.solid.grain, self.cracks.body.radius);
        let place_of = place_of.iter();
        surface.positions = place_of.map(|&p| places[p as usize].position).collect();
        surface.positions.extend(&woven.positions);
        surface.holds.extend(&woven.holds);
        surface.triangles.extend(&woven.triangles);
        surface.inside.resize(surface.triangles.len(), 0);
        surface.sources.extend(&woven.sources);
        let polygons: Vec<Vec<Polygon>> = (0..portions)
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
            .flat_map_iter(|number| self.ties(number, &woven.of_chain))
            .collect();
        // Where the skin passes through a cell, the vertex of a loop may join several fans; elsewhere a loop
        // is the border of one.
        let loops = self.cells.vertices as usize - self.cells.middles.len();
        let mut at_skin = vec![false; loops];
        for &vertex in [&ties, &woven.rims].into_iter().flatten().flatten() {
            if let Some(at_skin) = at_skin.get_mut(vertex as usize) {
                *at_skin = true;
            }
        }
        surface.triangles.extend(ties);
        surface.triangles.extend(&woven.rims);
        surface.inside.resize(surface.triangles.len(), 1);
        surface.sources.resize(surface.triangles.len(), u32::MAX);
        part_fans(&mut surface, &at_skin);
        surface.find_parts();
        surface.drop_specks(self.cracks.body.radius);
        surface
    }

    fn place(self, number: usize) -> Placed {
        let node = self.cells.nodes[number] as usize;
        let halves = self.cells.halves(number);
        let loops = self.cells.loops(number);
        let crossing = |n: u32| &self.seam.crossings[n as usize];
        let owner = |half: u32| crossing(half / 2).owners[half as usize % 2];
        let owners = halves.iter().map(|&(half, _)| owner(half));
        let elements = owners
            .map(|owner| self.cracks.elements_with(owner))
            .min()
            .unwrap_or(0);
        let (of_loop, crossings) = groups(halves, loops);
        let vertices = crossings
            .iter()
            .map(|own| Vertex {
                position: place(self.solid, node, own.iter().map(|&n| crossing(n))),
                pinned: false,
                elements,
            })
            .collect();
        let side = |own: &mut dyn Iterator<Item = u32>| {
            let mut elements: Vec<u32> = own.map(owner).collect();
            elements.sort_unstable();
            elements.dedup();
            Hold::of(&elements)
        };
        let holds = (0..loops)
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
            let vertex = Vertex {
                position: (points[0] + points[1]) / 2.0,
                pinned: true,
                elements,
            };
            (vertex, side(&mut middle.halves.into_iter()))
        });
        Placed {
            vertices,
            of_loop: of_loop.into_iter().map(u32::from).collect(),
            holds,
            middles: middles.collect(),
        }
    }

    /// Which places the lower faces of a cell join, and the crossings on its skin's border.
    fn links(self, number: usize, place_of: &[u32], border: u32) -> Vec<Link> {
        let mut links = Vec::new();
        let portions = self.seam.edges.len() as u32;
        let mut link = |a: u32, b: u32, line: bool| {
            links.push(Link {
                ends: [a.min(b), a.max(b)],
                line,
            });
        };
        let node = self.cells.nodes[number] as usize;
        for axis in 0..3 {
            let Some(below) = self.cells.at(node - self.solid.grid.strides()[axis]) else {
                continue;
            };
            for arc in self.cells.arcs_below(self.seam, number, axis) {
                let ends = [number, below].map(|n| self.cells.vertex(n, arc.halves[0]));
                if let [Some(a), Some(b)] = ends {
                    link(place_of[a as usize], place_of[b as usize], arc.line);
                }
            }
        }
        for &(half, own) in self.cells.halves(number) {
            if half / 2 >= portions {
                let place = place_of[(self.cells.first[number] + u32::from(own)) as usize];
                link(place, border + half / 2 - portions, false);
            }
        }
        links.sort_unstable();
        links.dedup();
        links
    }

    /// The corners of the faces across the grid edge of a crossing, on its lower and upper side, each
    /// right-handed about the edge.
    fn rings(self, crossing: u32) -> [Vec<u32>; 2] {
        let edge = self.seam.edges[crossing as usize];
        let axis = (edge % 3) as usize;
        let around = ring_cells(self.solid, edge);
        // In order round the edge, right-handed about it.
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
                // The face between both lies below the upper one.
                let upper = ring[[0, 1, 3, 0][m]].unwrap_or(here);
                let across = (axis + 1 + m % 2) % 3;
                rings[end as usize].extend(self.cells.middle(upper, across, half));
            }
        }
        rings
    }

    /// The faces across the grid edge of a crossing.
    fn faces(self, crossing: u32) -> Vec<Polygon> {
        let rings = self.rings(crossing);
        let mut pinched = share_diagonal(&rings[0], &rings[1]);
        // Where the skin passes through the edge, cracks may cross more than one stretch of it.
        let edge = self.seam.edges[crossing as usize];
        let first = self.seam.edges.partition_point(|&other| other < edge);
        let on_edge = self.seam.edges[first..].iter();
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
            Polygon {
                corners,
                turned: end == 1,
                pinched,
            }
        });
        polygons.collect()
    }

    /// The triangles on the lower faces of a cell that tie cracks to the skin.
    fn ties(self, number: usize, of_chain: &[[u32; 2]]) -> Vec<[u32; 3]> {
        let portions = self.seam.edges.len() as u32;
        let node = self.cells.nodes[number] as usize;
        let mut ties = Vec::new();
        for axis in 0..3 {
            let Some(below) = self.cells.at(node - self.solid.grid.strides()[axis]) else {
                continue;
            };
            for arc in self.cells.arcs_below(self.seam, number, axis) {
                if !arc.has_edge(portions) {
                    continue;
                }
                let vertices = [below, number].map(|n| self.cells.vertex(n, arc.halves[0]));
                let [Some(below), Some(above)] = vertices else {
                    continue;
                };
                let middle = self.cells.middle(number, axis, arc.halves[0]);
                for (m, half) in arc.halves.into_iter().enumerate() {
                    if half / 2 < portions {
                        continue;
                    }
                    let gate = of_chain[(half / 2 - portions) as usize][half as usize % 2];
                    // A polygon's edge at the end of an arc runs from below to above.
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

/// Whether both ends of a diagonal of `quad` are corners of `other` too.
fn share_diagonal(quad: &[u32], other: &[u32]) -> bool {
    let shared = |m: usize| quad.get(m).is_some_and(|v| other.contains(v));
    (shared(0) && shared(2)) || (shared(1) && shared(3))
}

impl Polygon {
    /// Cuts the polygon into triangles: a quad along the diagonal that folds it less, more corners about their mean.
    fn triangulate(&self, surface: &mut Surface) {
        let positions = &mut surface.positions;
        let corners = &self.corners;
        match corners[..] {
            [a, b, d, e] if !self.pinched => {
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
                let hold = surface.holds[corners[0] as usize];
                surface.holds.push(hold);
                let next = (0..corners.len())
                    .map(|m| [centre, corners[m], corners[(m + 1) % corners.len()]]);
                surface.triangles.extend(next);
            }
        }
    }
}
