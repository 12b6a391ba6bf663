//! The surfaces of a body in one state, as the dual of marching cubes on cut edges.
//!
//! In every cell that a crack or the zone's skin passes through, [`super::cell`] finds loops, one a side of the surface there. What is
//! drawn is their dual (Nielson 2004): one vertex for each loop, and for each side of every crossed grid edge the polygon of the loops
//! around it. A crack has both its faces, vertex on vertex, and where it ends both have the same vertices, so it opens up to its tip
//! without a gap; the loops of the skin close the surface with the part of the skin that [`super::zone`] keeps.
//!
//! Closed and edge-manifold by construction. An edge of a polygon passes through one face between two cells. If two arcs on that face join
//! the same two loops, two different edges would have the same ends; there each gets a vertex of its own in the middle.

use glam::DVec3;
use rayon::prelude::*;

use super::cell::{Half, NONE, Passing};
use super::cells::{Cells, CrackCells};
use super::cracks::Cracks;
use super::fair::{Link, Vertex, fair};
use super::owners::{FAR, Owners};
use super::place::{Cell, Crossing};
use super::solid::Solid;
use super::zone::Zone;
use crate::math::union_find::UnionFind;

/// What a vertex moves with.
#[derive(Clone, Copy, Debug)]
pub enum Hold {
    /// Elements of one side, ascending, filled up with the last.
    Side([u32; 8]),
    /// A vertex of the body's skin.
    Skin(u32),
    /// Whatever is near.
    Near,
}

/// Closed surfaces of all fragments of a body at rest.
#[derive(Debug, Default)]
pub struct Surface {
    /// Vertices, m.
    pub positions: Vec<DVec3>,
    /// What each vertex moves with.
    pub holds: Vec<Hold>,
    /// Triangles, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// For each triangle: 1 on a crack face, 0 on the skin.
    pub inside: Vec<u8>,
    /// For each vertex, the smallest one of its connected surface.
    pub part: Vec<u32>,
}

/// Draws all surfaces of a body; without owners, those of a body without a crack. Nodes on the border of the grid must lie outside.
pub fn extract(solid: &Solid, owners: Option<&Owners>, cracks: &Cracks) -> Surface {
    let Some(owners) = owners else {
        let mesh = &solid.skin.mesh;
        let mut parts = UnionFind::new(mesh.positions.len());
        join(&mut parts, &mesh.triangles);
        return Surface {
            positions: mesh.positions.clone(),
            holds: (0..mesh.positions.len() as u32).map(Hold::Skin).collect(),
            triangles: mesh.triangles.clone(),
            inside: vec![0; mesh.triangles.len()],
            part: parts.roots(),
        };
    };
    let crack_cells = CrackCells::new(solid, owners);
    let rims: Vec<u32> = crack_cells
        .nodes
        .iter()
        .copied()
        .filter(|&node| crack_cells.crossed(solid, node as usize).outside != 0)
        .collect();
    let zone = Zone::new(solid, &rims, |node| crack_cells.crossed(solid, node));
    draw(solid, owners, cracks, &crack_cells, &zone)
}

/// Draws the cracks, the skin within `zone` and what the zone keeps.
pub fn draw(
    solid: &Solid,
    owners: &Owners,
    cracks: &Cracks,
    crack_cells: &CrackCells,
    zone: &Zone,
) -> Surface {
    let draw = Draw {
        solid,
        owners,
        cracks,
        crack_cells,
        zone,
        cells: &Cells::new(solid, crack_cells, &zone.cells),
    };
    draw.surface()
}

fn join(parts: &mut UnionFind, triangles: &[[u32; 3]]) {
    for [a, b, c] in triangles {
        parts.join(*a, *b);
        parts.join(*b, *c);
    }
}

#[derive(Clone, Copy)]
struct Draw<'a> {
    solid: &'a Solid,
    owners: &'a Owners,
    cracks: &'a Cracks<'a>,
    crack_cells: &'a CrackCells,
    zone: &'a Zone,
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

/// A face across one grid edge: three vertices or more, counter-clockwise from outside.
struct Polygon {
    corners: Vec<u32>,
    inside: u8,
    /// Whether the corners were turned round, its owner's node being the upper one.
    turned: bool,
    /// Whether the other side has both ends of a diagonal too: near a tip both sides would draw it.
    pinched: bool,
}

impl Draw<'_> {
    fn surface(self) -> Surface {
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
        let links: Vec<Link> = (0..count)
            .into_par_iter()
            .with_min_len(64)
            .flat_map_iter(|number| self.links(number, &place_of))
            .collect();
        fair(self.solid, &mut places, &links);
        let place_of = place_of.iter();
        surface.positions = place_of.map(|&p| places[p as usize].position).collect();
        let polygons: Vec<Vec<Polygon>> = (0..count)
            .into_par_iter()
            .with_min_len(64)
            .map(|number| self.polygons(number))
            .collect();
        let kept = surface.positions.len() as u32;
        surface.positions.extend(&self.zone.positions);
        let source = self.zone.source.iter();
        surface
            .holds
            .extend(source.map(|source| source.map_or(Hold::Near, Hold::Skin)));
        let whole = self.zone.triangles.iter();
        surface
            .triangles
            .extend(whole.map(|t| t.map(|v| v + kept)));
        surface.inside.resize(surface.triangles.len(), 0);
        self.fans(kept, &mut surface);
        for polygon in polygons.iter().flatten() {
            let gate = |v: u32| if v >= GATE { v - GATE + kept } else { v };
            polygon.triangulate(gate, &mut surface);
        }
        let mut parts = UnionFind::new(surface.positions.len());
        join(&mut parts, &surface.triangles);
        surface.part = parts.roots();
        surface
    }

    fn cell(&self, number: usize) -> Cell<'_> {
        Cell {
            solid: self.solid,
            owners: self.owners,
            node: self.cells.nodes[number] as usize,
            crossed: self.cells.crossed[number],
        }
    }

    fn place(self, number: usize) -> Placed {
        let cell = self.cell(number);
        let loops = &self.cells.loops[number];
        let crossings = cell.crossings(self.crack_cells);
        let rim = cell.rim(self.cracks);
        let is_crack = cell.crossed.cut != 0 || rim.is_some();
        let groups = cell.crossed.groups();
        let mut of_group = [0_u8; 8];
        let mut placed = Placed {
            vertices: Vec::new(),
            of_loop: Vec::with_capacity(loops.count as usize),
            holds: Vec::with_capacity(loops.count as usize),
            middles: Vec::new(),
        };
        let owners: [u32; 8] = std::array::from_fn(|corner| cell.owner(corner));
        let least = owners
            .iter()
            .filter(|&&owner| owner < FAR)
            .map(|&owner| self.cracks.elements_with(owner))
            .min();
        let vertex = |(position, sharp): (DVec3, bool), skin: bool| Vertex {
            position,
            skin,
            crack: is_crack,
            pinned: sharp,
            elements: least.unwrap_or(u32::MAX),
        };
        for number in 0..loops.count {
            let first = loops.halves(number).next();
            let group = first.map_or(0, |half| groups[half.corner()]);
            of_group[group as usize] += 1;
        }
        let alone = of_group.iter().all(|&count| count <= 1);
        for number in 0..loops.count {
            let halves: Vec<Half> = loops.halves(number).collect();
            placed.holds.push(side(&owners, &halves));
            let own = |edge: usize| halves.iter().any(|half| half.edge as usize == edge);
            let edges = (0..12).filter(|&edge| alone || own(edge));
            let corners: Vec<&Crossing> = edges.filter_map(|e| crossings[e].as_ref()).collect();
            if !alone || number == 0 {
                let place = cell.vertex(corners.iter().copied(), rim.as_ref());
                let skin = corners.iter().any(|c| c.skin);
                placed.vertices.push(vertex(place, skin));
            }
            placed.of_loop.push(placed.vertices.len() as u32 - 1);
        }
        let start = self
            .cells
            .middles
            .partition_point(|(middle, _)| (middle.cell as usize) < number);
        let own = self.cells.middles[start..].iter();
        for (middle, _) in own.take_while(|(middle, _)| middle.cell as usize == number) {
            let mut arcs = cell.crossed.arcs(middle.axis as usize, 0);
            let arc = arcs.find(|arc| arc.corners == middle.corners);
            let ends = arc.map_or_else(Vec::new, |arc| arc.ends.to_vec());
            let crossed: Vec<&Crossing> = ends
                .iter()
                .filter_map(|half| crossings[half.edge as usize].as_ref())
                .collect();
            let sum: DVec3 = crossed.iter().map(|crossing| crossing.point).sum();
            let skin = crossed.iter().any(|crossing| crossing.skin);
            let place = vertex((sum / crossed.len() as f64, true), skin);
            placed.middles.push((place, side(&owners, &ends)));
        }
        placed
    }

    /// Which places the lower faces of a cell join.
    fn links(self, number: usize, place_of: &[u32]) -> Vec<Link> {
        let mut links = Vec::new();
        for axis in 0..3 {
            let node = self.cells.nodes[number] as usize;
            let Some(below) = self.cells.at(node - self.solid.grid.strides()[axis]) else {
                continue;
            };
            let crossed = self.cells.crossed[number];
            let line = crossed.passing(axis, 0) == Passing::Line;
            for arc in crossed.arcs(axis, 0) {
                let [here, there] = self.cells.joined(number, below, axis, &arc);
                let vertices = [
                    self.cells.first[number] + u32::from(here),
                    self.cells.first[below] + u32::from(there),
                ];
                let mut ends = vertices.map(|v| place_of[v as usize]);
                ends.sort_unstable();
                links.push(Link { ends, line });
            }
        }
        links.sort_unstable();
        links.dedup();
        links
    }

    /// The faces across the grid edges of a cell that no cell before it has drawn.
    fn polygons(self, number: usize) -> Vec<Polygon> {
        let strides = self.solid.grid.strides();
        let crossed = self.cells.crossed[number];
        let mut found = Vec::new();
        for edge in (0..12).filter(|&edge| crossed.is_crossed(edge)) {
            let axis = edge / 4;
            let offsets = [edge & 1, edge >> 1 & 1];
            let (u, v) = (strides[(axis + 1) % 3], strides[(axis + 2) % 3]);
            let node = self.cells.nodes[number] as usize + offsets[0] * u + offsets[1] * v;
            let ring = RING.map(|[du, dv]| self.cells.at(node - du * u - dv * v));
            if ring.iter().flatten().min() != Some(&number) {
                continue;
            }
            let cut = crossed.cut >> edge & 1 == 1;
            let loops = self.cells.loops[number].of[edge];
            let sides = [0, 1].map(|end| match loops[end] {
                NONE => Vec::new(),
                _ => self.rings(&ring, node, axis, end),
            });
            let pinched = match [&sides[0][..], &sides[1][..]] {
                [[a], [b]] => {
                    let shared = |m: usize| a.get(m).is_some_and(|v| b.contains(v));
                    (shared(0) && shared(2)) || (shared(1) && shared(3))
                }
                _ => false,
            };
            for (end, rings) in sides.into_iter().enumerate() {
                for mut corners in rings {
                    if end == 1 {
                        corners.reverse();
                    }
                    found.push(Polygon {
                        inside: u8::from(cut),
                        corners,
                        turned: end == 1,
                        pinched,
                    });
                }
            }
        }
        found
    }

    /// Vertices around the grid edge that leaves `node` along `axis`, right-handed about it, on the side of its lower or upper `end`: one
    /// ring, or where some of the cells around it are not drawn, each stretch of the others with the gate in which the skin goes on.
    fn rings(
        self,
        ring: &[Option<usize>; 4],
        node: usize,
        axis: usize,
        end: usize,
    ) -> Vec<Vec<u32>> {
        let across = [(axis + 1) % 3, (axis + 2) % 3];
        let vertex = |m: usize, number: usize| {
            let [du, dv] = RING[m];
            let half = Half {
                edge: (4 * axis + du + 2 * dv) as u8,
                end: end as u8,
            };
            self.cells.vertex(number, half)
        };
        // The middle between cell m of the ring and the next: the upper of both, and the edge's corner in it.
        let middle = |m: usize| {
            if self.cells.middles.is_empty() {
                return None;
            }
            let upper = [0, 1, 3, 0][m];
            let [du, dv] = RING[upper];
            let corner = du << across[0] | dv << across[1] | end << axis;
            self.cells.middle(ring[upper]?, across[m % 2], corner)
        };
        let whole = ring.iter().all(Option::is_some);
        let start = if whole {
            0
        } else {
            // Behind a gap.
            (0..4)
                .find(|&m| ring[m].is_none())
                .map_or(0, |m| m + 1)
        };
        let gate = (!whole).then(|| self.zone.gate(node, axis)).flatten();
        let mut rings: Vec<Vec<u32>> = Vec::new();
        let mut current = Vec::new();
        for m in (start..start + 4).map(|m| m % 4) {
            match ring[m] {
                Some(number) => {
                    current.push(vertex(m, number));
                    if ring[(m + 1) % 4].is_some() {
                        current.extend(middle(m));
                    }
                }
                None => rings.push(std::mem::take(&mut current)),
            }
        }
        rings.push(current);
        if let Some(gate) = gate {
            rings.iter_mut().for_each(|ring| ring.push(GATE + gate));
        }
        rings.retain(|ring| ring.len() >= 3);
        rings
    }

    /// The triangles between the loops of the zone's outermost cells and the kept skin.
    fn fans(self, kept: u32, surface: &mut Surface) {
        for chain in &self.zone.chains {
            let Some(number) = self.cells.at(chain.cell as usize) else {
                continue;
            };
            let edge = chain.edges[0] as usize;
            let loops = self.cells.loops[number].of[edge];
            let own = if loops[0] == NONE { loops[1] } else { loops[0] };
            let apex = self.cells.first[number] + u32::from(own);
            for pair in chain.vertices.windows(2) {
                let triangle = [pair[1] + kept, pair[0] + kept, apex];
                surface.triangles.push(triangle);
                surface.inside.push(0);
            }
        }
    }
}

/// Offsets of the four cells around a grid edge, subtracted along both axes across it.
const RING: [[usize; 2]; 4] = [[0, 0], [1, 0], [1, 1], [0, 1]];

/// Added to the number of a vertex of the kept skin, as long as those of the cells are not all counted.
const GATE: u32 = 1 << 31;

/// What the loop or arc with these halves moves with.
fn side(owners: &[u32; 8], halves: &[Half]) -> Hold {
    let mut own: Vec<u32> = halves
        .iter()
        .map(|half| owners[half.corner()])
        .filter(|&owner| owner < FAR)
        .collect();
    own.sort_unstable();
    own.dedup();
    match own.last() {
        Some(&last) => Hold::Side(std::array::from_fn(|m| own.get(m).copied().unwrap_or(last))),
        None => Hold::Near,
    }
}

impl Polygon {
    /// Cuts the polygon into triangles: a quad along the diagonal that folds it less, more corners about their mean.
    fn triangulate(&self, number: impl Fn(u32) -> u32, surface: &mut Surface) {
        let positions = &mut surface.positions;
        let corners: Vec<u32> = self.corners.iter().map(|&v| number(v)).collect();
        match corners[..] {
            [a, b, c] => surface.triangles.push([a, b, c]),
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
        surface.inside.resize(surface.triangles.len(), self.inside);
    }
}
