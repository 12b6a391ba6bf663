//! Where the skin is drawn anew, and what is kept of it elsewhere.
//!
//! The skin is known exactly and stays as it is, but for a zone of cells about the rims of cracks, in which it is drawn on the grid with
//! them. On a face between a cell of the zone and another, the skin leaves a chain of segments from one grid edge to another; the
//! triangles inside the zone end on that very chain. Where the chains are not those that the grid sees on the face (the skin passes an
//! edge twice, or pokes through a face), the cell beyond joins the zone, until all are.

use std::collections::HashMap;

use glam::DVec3;
use rayon::prelude::*;

use super::cell::{Crossed, edge_corners};
use super::clip::{Name, Pieces, Point, cuts, triangulate};
use super::solid::Solid;

/// Cells about the rim's own that belong to the zone: rims slide along the skin while they are faired.
const RINGS: i32 = 2;

/// The zone and the kept part of the skin.
#[derive(Debug, Default)]
pub struct Zone {
    /// Cells of the zone, by their lower corner's node.
    pub inside: Vec<bool>,
    /// The same, ascending.
    pub cells: Vec<u32>,
    /// Vertices of the kept skin: positions, m.
    pub positions: Vec<DVec3>,
    /// For each vertex, the skin's vertex that it is, if it is one.
    pub source: Vec<Option<u32>>,
    /// Triangles of the kept skin.
    pub triangles: Vec<[u32; 3]>,
    /// Where the kept skin ends on faces of the zone.
    pub chains: Vec<Chain>,
    /// The kept skin's vertex on a grid edge of the zone's border, ascending by edge (three times its lower node, plus its axis).
    pub gates: Vec<(u64, u32)>,
}

/// The kept skin's border on one face of the zone.
#[derive(Clone, Debug)]
pub struct Chain {
    /// Cell of the zone, by node.
    pub cell: u32,
    /// Edges of that cell in which it starts and ends.
    pub edges: [u8; 2],
    /// Vertices from gate to gate, as the kept skin runs along them.
    pub vertices: Vec<u32>,
}

/// A segment of the kept skin's border: the kept cell, the axis and the side of the zone's cell, and both ends.
#[derive(Clone, Copy, Debug)]
struct Segment {
    zone_cell: u32,
    kept_cell: u32,
    ends: [Point; 2],
}

impl Zone {
    /// The zone about the cells `rims`, ascending. `crossed` tells how surfaces pass through the cell at a node.
    pub fn new(solid: &Solid, rims: &[u32], crossed: impl Fn(usize) -> Crossed + Sync) -> Self {
        let mut zone = Zone::default();
        if rims.is_empty() {
            let mesh = &solid.skin.mesh;
            zone.positions.clone_from(&mesh.positions);
            zone.source = (0..mesh.positions.len() as u32).map(Some).collect();
            zone.triangles.clone_from(&mesh.triangles);
            return zone;
        }
        let mut inside = vec![false; solid.grid.len()];
        let mut cells = Vec::new();
        for &rim in rims {
            add(solid, &mut inside, &mut cells, rim as usize, RINGS);
        }
        let corners = corners(solid);
        loop {
            let cut = Cut::new(solid, &corners, &inside);
            let wanted = cut.wanted(solid, &inside, &cells, &crossed);
            let before = cells.len();
            for &cell in &wanted {
                add(solid, &mut inside, &mut cells, cell as usize, 0);
            }
            if cells.len() == before {
                cut.assemble(solid, &corners, &mut zone);
                break;
            }
        }
        cells.par_sort_unstable();
        (zone.inside, zone.cells) = (inside, cells);
        zone
    }

    /// The kept skin's vertex on the edge that leaves `node` along `axis`.
    pub fn gate(&self, node: usize, axis: usize) -> Option<u32> {
        let edge = 3 * node as u64 + axis as u64;
        let at = self.gates.binary_search_by_key(&edge, |gate| gate.0).ok()?;
        Some(self.gates[at].1)
    }
}

/// Adds the cells within `rings` of `cell` that are not there yet, but for those on the border of the grid.
fn add(solid: &Solid, inside: &mut [bool], cells: &mut Vec<u32>, cell: usize, rings: i32) {
    let c = solid.grid.coords(cell);
    let range = |axis: usize| {
        let last = solid.grid.nodes[axis] - 3;
        c[axis].saturating_sub(rings as usize).max(1)..=(c[axis] + rings as usize).min(last)
    };
    for k in range(2) {
        for j in range(1) {
            for i in range(0) {
                let node = solid.grid.index([i, j, k]);
                if !inside[node] {
                    inside[node] = true;
                    cells.push(node as u32);
                }
            }
        }
    }
}

/// The skin's vertices as points.
fn corners(solid: &Solid) -> Vec<Point> {
    let positions = solid.skin.mesh.positions.par_iter().enumerate();
    positions
        .map(|(v, &x)| {
            Point::vertex(v as u32, (x - solid.grid.origin) / solid.grid.spacing)
        })
        .collect()
}

/// Node of a cell.
fn node_of(solid: &Solid, cell: [i32; 3]) -> usize {
    solid.grid.index(cell.map(|c| c as usize))
}

/// The cells in the box about a triangle.
fn cells_of(solid: &Solid, corners: [&Point; 3]) -> impl Iterator<Item = usize> {
    let cells = corners.map(Point::cell);
    let low: [i32; 3] = std::array::from_fn(|a| cells[0][a].min(cells[1][a]).min(cells[2][a]));
    let high: [i32; 3] = std::array::from_fn(|a| cells[0][a].max(cells[1][a]).max(cells[2][a]));
    let strides = solid.grid.strides();
    (low[2]..=high[2]).flat_map(move |k| {
        (low[1]..=high[1]).flat_map(move |j| {
            (low[0]..=high[0]).map(move |i| {
                i as usize + j as usize * strides[1] + k as usize * strides[2]
            })
        })
    })
}

/// The skin cut along the zone's cells.
struct Cut {
    /// Triangles that reach into the zone, with their pieces; nothing if rounding has bent one.
    touched: Vec<(u32, Option<Pieces>)>,
    /// For each edge, its place in `cuts`, or `u32::MAX` if no triangle of it is touched.
    number: Vec<u32>,
    cuts: Vec<Vec<Point>>,
    segments: Vec<Segment>,
    /// Whether each piece is kept, in order.
    kept: Vec<Vec<bool>>,
}

impl Cut {
    fn new(solid: &Solid, corners: &[Point], inside: &[bool]) -> Self {
        let skin = &solid.skin;
        let of = |t: usize| skin.mesh.triangles[t].map(|v| &corners[v as usize]);
        let touched: Vec<u32> = (0..skin.mesh.triangles.len())
            .into_par_iter()
            .with_min_len(512)
            .filter(|&t| cells_of(solid, of(t)).any(|node| inside[node]))
            .map(|t| t as u32)
            .collect();
        let mut number = vec![u32::MAX; skin.edges.len()];
        let mut edges = Vec::new();
        for &t in &touched {
            for edge in skin.edges_of[t as usize] {
                if number[edge as usize] == u32::MAX {
                    number[edge as usize] = edges.len() as u32;
                    edges.push(edge);
                }
            }
        }
        let cut = edges.par_iter().with_min_len(128).map(|&edge| {
            let [p, q] = skin.edges[edge as usize].map(|v| &corners[v as usize]);
            cuts(p, q, &[0, 1, 2], |n| Name::Edge(edge, n))
        });
        let mut this = Cut {
            cuts: cut.collect(),
            touched: Vec::new(),
            number,
            segments: Vec::new(),
            kept: Vec::new(),
        };
        let pieces = touched.par_iter().with_min_len(64).map(|&t| {
            let pieces = Pieces::new(t, this.outline(solid, corners, t as usize));
            let (kept, segments) = pieces.as_ref().map_or_else(Default::default, |pieces| {
                border(solid, pieces, inside)
            });
            ((t, pieces), kept, segments)
        });
        for (pieces, kept, segments) in pieces.collect::<Vec<_>>() {
            this.touched.push(pieces);
            this.kept.push(kept);
            this.segments.extend(segments);
        }
        this
    }

    /// The corners of a triangle with the cuts of its edges between them.
    fn outline(&self, solid: &Solid, corners: &[Point], t: usize) -> Vec<Point> {
        let mut outline = Vec::new();
        for m in 0..3 {
            let edge = solid.skin.edges_of[t][m];
            let from = solid.skin.mesh.triangles[t][m];
            outline.push(corners[from as usize]);
            let number = self.number[edge as usize];
            if number == u32::MAX {
                continue;
            }
            let cuts = &self.cuts[number as usize];
            if solid.skin.edges[edge as usize][0] == from {
                outline.extend(cuts);
            } else {
                outline.extend(cuts.iter().rev());
            }
        }
        outline
    }

    /// Cells that have to join the zone.
    fn wanted(
        &self,
        solid: &Solid,
        inside: &[bool],
        cells: &[u32],
        crossed: &(impl Fn(usize) -> Crossed + Sync),
    ) -> Vec<u32> {
        let mut wanted = Vec::new();
        for (t, pieces) in &self.touched {
            if pieces.is_none() {
                let corners = corners_of(solid, *t as usize);
                wanted.extend(cells_of(solid, corners.each_ref()).map(|node| node as u32));
            }
        }
        let chains = self.chains(solid);
        let strides = solid.grid.strides();
        let of_faces = cells.par_iter().with_min_len(256).flat_map_iter(|&cell| {
            let here = crossed(cell as usize);
            let chains = &chains;
            (0..6).filter_map(move |face| {
                let (axis, side) = (face / 2, face % 2);
                let beyond = if side == 0 {
                    cell as usize - strides[axis]
                } else {
                    cell as usize + strides[axis]
                };
                if inside[beyond] {
                    return None;
                }
                let found = chains.get(&(cell, beyond as u32));
                let found = found.map_or(&[][..], Vec::as_slice);
                let mut arcs = 0;
                let all = here.arcs(axis, side).all(|arc| {
                    arcs += 1;
                    let pair = arc.ends.map(|half| half.edge);
                    let joined = |chain: &Option<Found>| {
                        chain.as_ref().is_some_and(|c| {
                            c.edges == pair || c.edges == [pair[1], pair[0]]
                        })
                    };
                    found.iter().filter(|chain| joined(chain)).count() == 1
                });
                (!all || arcs != found.len()).then_some(beyond as u32)
            })
        });
        wanted.extend(of_faces.collect::<Vec<_>>());
        wanted.sort_unstable();
        wanted.dedup();
        wanted
    }

    /// The chains on the faces between a cell of the zone and a kept one; nothing for one that does not run from gate to gate.
    fn chains(&self, solid: &Solid) -> HashMap<(u32, u32), Vec<Option<Found>>> {
        let mut of_face: HashMap<(u32, u32), Vec<[Point; 2]>> = HashMap::new();
        for segment in &self.segments {
            let face = (segment.zone_cell, segment.kept_cell);
            of_face.entry(face).or_default().push(segment.ends);
        }
        let chains = of_face.into_par_iter().map(|(face, segments)| {
            (face, join(solid, face.0 as usize, segments))
        });
        chains.collect()
    }

    /// Fills in the kept skin.
    fn assemble(self, solid: &Solid, corners: &[Point], zone: &mut Zone) {
        let skin = &solid.skin;
        let mut weave = Weave {
            solid,
            of_vertex: vec![u32::MAX; skin.mesh.positions.len()],
            of_name: HashMap::new(),
            zone,
        };
        let mut touched = self.touched.iter().zip(&self.kept).peekable();
        for (t, &triangle) in skin.mesh.triangles.iter().enumerate() {
            if let Some(((_, pieces), kept)) = touched.next_if(|((number, _), _)| *number == t as u32)
            {
                let pieces = pieces.as_ref().expect("a bent triangle lies in the zone");
                for ((_, polygon), _) in pieces.polygons.iter().zip(kept).filter(|(_, kept)| **kept) {
                    let points: Vec<Point> =
                        polygon.iter().map(|&p| pieces.points[p as usize]).collect();
                    weave.polygon(&points);
                }
            } else if skin.edges_of[t].iter().all(|&edge| self.number[edge as usize] == u32::MAX) {
                let triangle = triangle.map(|v| weave.vertex(&corners[v as usize]));
                weave.zone.triangles.push(triangle);
            } else {
                weave.polygon(&self.outline(solid, corners, t));
            }
        }
        let mut chains: Vec<_> = self.chains(solid).into_iter().collect();
        chains.sort_unstable_by_key(|(face, _)| *face);
        let mut gates = Vec::new();
        for ((cell, _), found) in chains {
            for chain in found.into_iter().flatten() {
                let vertices: Vec<u32> = chain.points.iter().map(|p| weave.vertex(p)).collect();
                for (point, &vertex) in [&chain.points[0], &chain.points[chain.points.len() - 1]]
                    .into_iter()
                    .zip([&vertices[0], &vertices[vertices.len() - 1]])
                {
                    if let Some(edge) = edge_of(solid, point) {
                        gates.push((edge, vertex));
                    }
                }
                weave.zone.chains.push(Chain {
                    cell,
                    edges: chain.edges,
                    vertices,
                });
            }
        }
        gates.sort_unstable();
        gates.dedup();
        zone.gates = gates;
    }
}

/// Gives points their vertices.
struct Weave<'a> {
    solid: &'a Solid,
    of_vertex: Vec<u32>,
    of_name: HashMap<Name, u32>,
    zone: &'a mut Zone,
}

impl Weave<'_> {
    fn vertex(&mut self, point: &Point) -> u32 {
        let next = self.zone.positions.len() as u32;
        let (number, source) = match point.name {
            Name::Vertex(v) => {
                let number = &mut self.of_vertex[v as usize];
                if *number == u32::MAX {
                    *number = next;
                }
                (*number, Some(v))
            }
            name => (*self.of_name.entry(name).or_insert(next), None),
        };
        if number == next {
            let grid = &self.solid.grid;
            self.zone.positions.push(match source {
                Some(v) => self.solid.skin.mesh.positions[v as usize],
                None => grid.origin + point.at * grid.spacing,
            });
            self.zone.source.push(source);
        }
        number
    }

    fn polygon(&mut self, points: &[Point]) {
        let corners: Vec<u32> = points.iter().map(|p| self.vertex(p)).collect();
        let at: Vec<DVec3> = points.iter().map(|p| p.at).collect();
        if let Some(triangles) = triangulate(&at) {
            let triangles = triangles.into_iter().map(|t| t.map(|m| corners[m]));
            self.zone.triangles.extend(triangles);
            return;
        }
        let centre = self.zone.positions.len() as u32;
        let mean = corners.iter().map(|&v| self.zone.positions[v as usize]).sum::<DVec3>();
        self.zone.positions.push(mean / corners.len() as f64);
        self.zone.source.push(None);
        for m in 0..corners.len() {
            let next = corners[(m + 1) % corners.len()];
            self.zone.triangles.push([centre, corners[m], next]);
        }
    }
}

fn corners_of(solid: &Solid, t: usize) -> [Point; 3] {
    solid.skin.mesh.triangles[t].map(|v| {
        let x = solid.skin.mesh.positions[v as usize];
        Point::vertex(v, (x - solid.grid.origin) / solid.grid.spacing)
    })
}

/// Which pieces are kept, and where those end on the zone.
fn border(solid: &Solid, pieces: &Pieces, inside: &[bool]) -> (Vec<bool>, Vec<Segment>) {
    let mut segments = Vec::new();
    let kept = pieces.polygons.iter().map(|(cell, polygon)| {
        let node = node_of(solid, *cell);
        if inside[node] {
            return false;
        }
        for m in 0..polygon.len() {
            let ends = [polygon[m], polygon[(m + 1) % polygon.len()]]
                .map(|p| pieces.points[p as usize]);
            for axis in 0..3 {
                let [p, q] = ends.map(|end| end.place[axis]);
                if p != q || p & 1 == 0 {
                    continue;
                }
                let mut beyond = *cell;
                beyond[axis] += if p < 2 * cell[axis] { -1 } else { 1 };
                let beyond = node_of(solid, beyond);
                if inside[beyond] {
                    segments.push(Segment {
                        zone_cell: beyond as u32,
                        kept_cell: node as u32,
                        ends,
                    });
                }
            }
        }
        true
    });
    let kept = kept.collect();
    (kept, segments)
}

/// The grid edge that a point lies on.
fn edge_of(solid: &Solid, point: &Point) -> Option<u64> {
    let off: Vec<usize> = (0..3).filter(|&axis| !point.is_on(axis)).collect();
    let [axis] = off[..] else { return None };
    Some(3 * node_of(solid, point.cell()) as u64 + axis as u64)
}

/// A chain on a face.
struct Found {
    edges: [u8; 2],
    points: Vec<Point>,
}

/// Joins segments to chains; nothing for each that is not a path between two edges of the cell.
fn join(solid: &Solid, cell: usize, segments: Vec<[Point; 2]>) -> Vec<Option<Found>> {
    let mut after: HashMap<Name, usize> = HashMap::new();
    let mut doubled = false;
    for (n, [from, _]) in segments.iter().enumerate() {
        doubled |= after.insert(from.name, n).is_some();
    }
    let targets: Vec<Name> = segments.iter().map(|[_, to]| to.name).collect();
    let mut starts: Vec<usize> = (0..segments.len())
        .filter(|&n| !targets.contains(&segments[n][0].name))
        .collect();
    starts.sort_unstable_by_key(|&n| segments[n][0].name);
    let mut used = 0;
    let mut chains: Vec<Option<Found>> = Vec::new();
    for start in starts {
        let mut points = vec![segments[start][0]];
        let mut at = Some(start);
        while let Some(n) = at.filter(|_| points.len() <= segments.len()) {
            points.push(segments[n][1]);
            used += 1;
            at = after.get(&segments[n][1].name).copied();
        }
        let ends = [points[0], points[points.len() - 1]].map(|p| local_edge(solid, cell, &p));
        chains.push(match ends {
            [Some(a), Some(b)] if a != b => Some(Found {
                edges: [a, b],
                points,
            }),
            _ => None,
        });
    }
    if doubled || used != segments.len() {
        chains.push(None); // a ring on the face
    }
    chains
}

/// The edge of the cell at a node that a point lies on.
fn local_edge(solid: &Solid, cell: usize, point: &Point) -> Option<u8> {
    let edge = edge_of(solid, point)?;
    let (node, axis) = ((edge / 3) as usize, (edge % 3) as usize);
    let strides = solid.grid.strides();
    (4 * axis..4 * axis + 4)
        .find(|&local| {
            let corner = edge_corners(local)[0];
            let offset: usize = (0..3).map(|a| (corner >> a & 1) * strides[a]).sum();
            cell + offset == node
        })
        .map(|local| local as u8)
}
