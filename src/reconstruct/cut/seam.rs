//! Where the skin meets the grid in the cells that cracks reach it in.
//!
//! On a face of the grid the skin leaves *chains* of segments. They run from *gate* to gate, the points where
//! the skin passes through grid edges; gates part an edge into stretches inside and outside. Stretches and
//! chains bound the rings of [`super::ring`], and a crack crosses them wherever the elements that own their
//! ends are parted. Cells join until every crossing lies between cells that are in.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::by_face::ByFace;
use super::chain::{Chain, Gate, Stretches, ends, gates_on, join, node_of, segments};
use super::clip::{Name, Pieces, Point, cuts};
use super::ring::Arc;
use super::trace::Walk;
use crate::math::hash::QuickMap;
use crate::reconstruct::body::solid::Solid;
use crate::reconstruct::cracks::crossing::{Crossing, crossing, on_chain};
use crate::reconstruct::cracks::field::Cracks;
use crate::reconstruct::cracks::owners::{Owners, owner_at};

/// The skin and the grid do not agree, by rounding or because the mesh is not closed.
#[derive(Debug)]
pub struct Disagreement;

/// Cells added around those that are known to be in.
const RINGS: usize = 1;

/// The skin in the cells that cracks reach it in, and all crossings of cracks.
#[derive(Debug, Default)]
pub struct Seam {
    /// Whether each cell is one of those, by node; empty if there is none.
    pub active: Vec<bool>,
    /// Those cells.
    pub cells: Vec<u32>,
    /// Triangles of the skin that reach into them, with their pieces.
    pub touched: Vec<(u32, Pieces)>,
    /// For each edge of the skin, its place in `cuts`, or `u32::MAX` if no triangle of it is touched.
    pub number: Vec<u32>,
    /// Cuts of edges.
    pub cuts: Vec<Vec<Point>>,
    /// Gates in order of their edges and along them.
    pub gates: Vec<Gate>,
    /// Chains on each face.
    pub chains: ByFace<Vec<Chain>>,
    /// Arcs on those faces.
    pub arcs: ByFace<Vec<Arc>>,
    /// All crossings: those of stretches of grid edges first, then those of chains.
    pub crossings: Vec<Crossing>,
    /// Grid edge of each crossing of a stretch, ascending.
    pub edges: Vec<u64>,
}

/// The skin's vertices as points.
pub fn corners(solid: &Solid) -> Vec<Point> {
    let positions = solid.skin.mesh.positions.par_iter().enumerate();
    positions
        .map(|(v, &x)| Point::vertex(v as u32, (x - solid.grid.origin) / solid.grid.spacing))
        .collect()
}

/// The cells around a grid edge.
pub fn ring_cells(solid: &Solid, edge: u64) -> [usize; 4] {
    let (node, axis) = ((edge / 3) as usize, (edge % 3) as usize);
    let strides = solid.grid.strides();
    let (u, v) = (strides[(axis + 1) % 3], strides[(axis + 2) % 3]);
    std::array::from_fn(|m| node - (m & 1) * u - (m >> 1) * v)
}

impl Seam {
    /// The seam of the cracks between `owners`, which grow where a crack goes on along the skin.
    pub fn new(
        solid: &Solid,
        cracks: &Cracks,
        owners: &mut Owners,
        corners: &[Point],
    ) -> Result<Self, Disagreement> {
        let mut seam = Seam::default();
        let mut active = vec![false; solid.grid.len()];
        let mut fresh = first_cells(solid, owners);
        loop {
            add(solid, &fresh, RINGS, &mut active, &mut seam.cells);
            if owners.extend(solid, cracks, &seam.cells) {
                add(
                    solid,
                    &first_cells(solid, owners),
                    0,
                    &mut active,
                    &mut seam.cells,
                );
                owners.extend(solid, cracks, &seam.cells);
            }
            seam.cut_skin(solid, corners, &active)?;
            seam.find_gates(solid, cracks)?;
            let (stretches, portions) = seam.find_crossings(solid, cracks, owners)?;
            fresh = seam.reached(solid, &active);
            if fresh.is_empty() {
                seam.place(solid, cracks, &portions);
                seam.find_arcs(solid, &stretches)?;
                seam.cells.par_sort_unstable();
                seam.active = active;
                return Ok(seam);
            }
        }
    }

    /// Cuts the triangles of the skin that reach into active cells, and gathers the segments on their faces
    /// into chains.
    fn cut_skin(
        &mut self,
        solid: &Solid,
        corners: &[Point],
        active: &[bool],
    ) -> Result<(), Disagreement> {
        let skin = &solid.skin;
        let of = |t: usize| skin.mesh.triangles[t].map(|v| &corners[v as usize]);
        let seen: Vec<bool> = {
            let mut seen = vec![false; skin.mesh.triangles.len()];
            for (t, _) in &self.touched {
                seen[*t as usize] = true;
            }
            seen
        };
        let touched: Vec<u32> = (0..skin.mesh.triangles.len())
            .into_par_iter()
            .with_min_len(512)
            .filter(|&t| !seen[t] && cells_of(solid, of(t)).any(|node| active[node]))
            .map(|t| t as u32)
            .collect();
        let mut edges = Vec::new();
        self.number.resize(skin.edges.len(), u32::MAX);
        for &t in &touched {
            for edge in skin.edges_of[t as usize] {
                if self.number[edge as usize] == u32::MAX {
                    self.number[edge as usize] = (self.cuts.len() + edges.len()) as u32;
                    edges.push(edge);
                }
            }
        }
        let cut = edges.par_iter().with_min_len(128).map(|&edge| {
            let [p, q] = skin.edges[edge as usize].map(|v| &corners[v as usize]);
            cuts(p, q, &[0, 1, 2], |n| Name::Edge(edge, n))
        });
        self.cuts.par_extend(cut);
        let this = &*self;
        let pieces: Option<Vec<_>> = touched
            .par_iter()
            .with_min_len(64)
            .map(|&t| {
                Some((
                    t,
                    Pieces::new(t, this.outline(solid, corners, t as usize, |_| true))?,
                ))
            })
            .collect();
        self.touched.extend(pieces.ok_or(Disagreement)?);
        self.touched.sort_unstable_by_key(|(t, _)| *t);
        let pieces = self.touched.par_iter().with_min_len(64);
        let segments: Vec<Vec<(u64, [Point; 2])>> = pieces
            .map(|(_, pieces)| segments(solid, pieces, active))
            .collect();
        let chains = ByFace::gather(segments.concat(), join);
        self.chains = chains.ok_or(Disagreement)?;
        Ok(())
    }

    /// The corners of a triangle with the cuts of its edges between them, of those edges that keep theirs.
    pub fn outline(
        &self,
        solid: &Solid,
        corners: &[Point],
        t: usize,
        keeps: impl Fn(u32) -> bool,
    ) -> Vec<Point> {
        let mut outline = Vec::new();
        for m in 0..3 {
            let edge = solid.skin.edges_of[t][m];
            let from = solid.skin.mesh.triangles[t][m];
            outline.push(corners[from as usize]);
            let number = self.number[edge as usize];
            if number == u32::MAX || !keeps(edge) {
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

    /// Numbers the gates, and finds their owners.
    fn find_gates(&mut self, solid: &Solid, cracks: &Cracks) -> Result<(), Disagreement> {
        let mut gates: Vec<Gate> = Vec::new();
        for chain in self.chains.iter().flat_map(|(_, chains)| chains) {
            for point in ends(&chain.points) {
                let edge = edge_of(solid, point).ok_or(Disagreement)?;
                gates.push(Gate {
                    edge,
                    point: *point,
                    owner: 0,
                });
            }
        }
        gates.par_sort_unstable_by(|a, b| {
            let axis = (a.edge % 3) as usize;
            let along = a.point.at[axis].total_cmp(&b.point.at[axis]);
            let by_edge = a.edge.cmp(&b.edge);
            by_edge.then(along).then(a.point.name.cmp(&b.point.name))
        });
        gates.dedup_by_key(|gate| gate.point.name);
        gates
            .par_iter_mut()
            .with_min_len(64)
            .for_each_init(Vec::new, |found, gate| {
                let x = solid.grid.origin + gate.point.at * solid.grid.spacing;
                gate.owner = owner_at(cracks, x, found);
            });
        let number: QuickMap<Name, u32> = (0..gates.len() as u32)
            .map(|n| (gates[n as usize].point.name, n))
            .collect();
        for chain in self.chains.values_mut().iter_mut().flatten() {
            chain.gates = match ends(&chain.points)[..] {
                [a, b] => Some([number[&a.name], number[&b.name]]),
                _ => None,
            };
        }
        self.gates = gates;
        Ok(())
    }

    /// Numbers all crossings; those of the stretches of each edge with gates.
    fn find_crossings(
        &mut self,
        solid: &Solid,
        cracks: &Cracks,
        owners: &Owners,
    ) -> Result<(Stretches, Vec<Portion>), Disagreement> {
        let grid = &solid.grid;
        let mut stretches = Stretches::default();
        // Edge, ends and owners of each crossing of a stretch.
        let mut crossed: Vec<(u64, [DVec3; 2], [u32; 2])> = Vec::new();
        let world = |point: &Point| grid.origin + point.at * grid.spacing;
        for on_edge in self.gates.chunk_by(|a, b| a.edge == b.edge) {
            let edge = on_edge[0].edge;
            let (node, axis) = ((edge / 3) as usize, (edge % 3) as usize);
            let nodes = [node, node + grid.strides()[axis]];
            let mut inside = solid.is_inside(nodes[0]);
            if (inside != solid.is_inside(nodes[1])) != (on_edge.len() % 2 == 1) {
                return Err(Disagreement);
            }
            let [low, high] = nodes.map(|n| (grid.position(grid.coords(n)), owners.owner[n]));
            let mut ends = vec![low];
            ends.extend(on_edge.iter().map(|gate| (world(&gate.point), gate.owner)));
            ends.push(high);
            let mut of_edge = Vec::with_capacity(ends.len() - 1);
            for pair in ends.windows(2) {
                let owners = [pair[0].1, pair[1].1];
                let cut = inside && cracks.parts(owners[0], owners[1]);
                of_edge.push(cut.then_some(crossed.len() as u32));
                if cut {
                    crossed.push((edge, [pair[0].0, pair[1].0], owners));
                }
                inside = !inside;
            }
            stretches.insert(edge, of_edge);
        }
        // Edges without gates come in between: number all in the order of the edges.
        let gated = crossed.len();
        for &edge in owners
            .cut
            .iter()
            .filter(|edge| !stretches.contains_key(edge))
        {
            let (node, axis) = ((edge / 3) as usize, (edge % 3) as usize);
            let nodes = [node, node + grid.strides()[axis]];
            let ends = nodes.map(|n| grid.position(grid.coords(n)));
            crossed.push((edge, ends, nodes.map(|n| owners.owner[n])));
        }
        let mut order: Vec<u32> = (0..crossed.len() as u32).collect();
        order.par_sort_by_key(|&n| (crossed[n as usize].0, n));
        let mut number = vec![0; gated];
        for (place, &n) in order.iter().enumerate() {
            if let Some(number) = number.get_mut(n as usize) {
                *number = place as u32;
            }
        }
        for crossing in stretches.values_mut().flatten().flatten() {
            *crossing = number[*crossing as usize];
        }
        self.edges = order.iter().map(|&n| crossed[n as usize].0).collect();
        let portions = order.iter().map(|&n| {
            let (_, ends, owners) = crossed[n as usize];
            (ends, owners)
        });
        let portions = portions.collect();
        let mut count = self.edges.len() as u32;
        for chain in self.chains.values_mut().iter_mut().flatten() {
            let owner = |gate: u32| self.gates[gate as usize].owner;
            if let Some([a, b]) = chain.gates.map(|gates| gates.map(owner))
                && cracks.parts(a, b)
            {
                chain.crossing = Some((count, 0));
                count += 1;
            }
        }
        Ok((stretches, portions))
    }

    /// Places all crossings: those of stretches between their ends, those of chains on one of their segments.
    fn place(&mut self, solid: &Solid, cracks: &Cracks, portions: &[Portion]) {
        self.crossings = portions
            .par_iter()
            .with_min_len(128)
            .map(|&(ends, owners)| crossing(cracks, ends, owners))
            .collect();
        let grid = &solid.grid;
        let gates = &self.gates;
        let chains = self
            .chains
            .values_mut()
            .par_iter_mut()
            .flat_map_iter(|chains| chains);
        let placed: Vec<Crossing> = chains
            .filter_map(|chain| {
                let (_, segment) = chain.crossing.as_mut()?;
                let owners = chain.gates?.map(|gate| gates[gate as usize].owner);
                let points = chain.points.iter();
                let points: Vec<DVec3> =
                    points.map(|p| grid.origin + p.at * grid.spacing).collect();
                let point;
                (*segment, point) = on_chain(cracks, &points, owners);
                let (plane, normal) = cracks.between(point, owners);
                Some(Crossing {
                    point,
                    plane,
                    normal,
                    owners,
                })
            })
            .collect();
        self.crossings.extend(placed);
    }

    /// Cells that are not active although a crossing lies on them and the skin near it.
    fn reached(&self, solid: &Solid, active: &[bool]) -> Vec<u32> {
        let strides = solid.grid.strides();
        let mut cells: Vec<usize> = Vec::new();
        for &edge in &self.edges {
            if !gates_on(&self.gates, edge).is_empty() {
                cells.extend(ring_cells(solid, edge));
            }
        }
        for (face, chains) in self.chains.iter() {
            if chains.iter().any(|chain| chain.crossing.is_some()) {
                let node = (face / 3) as usize;
                cells.extend([node, node - strides[(face % 3) as usize]]);
            }
        }
        cells.retain(|&cell| !active[cell]);
        cells.sort_unstable();
        cells.dedup();
        cells.into_iter().map(|cell| cell as u32).collect()
    }

    /// Walks round the rings of all faces of active cells that have gates.
    fn find_arcs(&mut self, solid: &Solid, stretches: &Stretches) -> Result<(), Disagreement> {
        let walk = Walk {
            solid,
            edges: &self.edges,
            gates: &self.gates,
            stretches,
        };
        let faces = self.chains.map(|face, chains| walk.arcs_of(face, chains));
        self.arcs = faces.ok_or(Disagreement)?;
        Ok(())
    }
}

/// Ends (m) of a stretch that is crossed, and their owners.
type Portion = ([DVec3; 2], [u32; 2]);

/// Cells about cut edges in which the skin is near: with a corner outside, or about an edge that the skin passes.
fn first_cells(solid: &Solid, owners: &Owners) -> Vec<u32> {
    let mut cells: Vec<u32> = owners
        .cut
        .par_iter()
        .with_min_len(256)
        .flat_map_iter(|&edge| {
            let (node, axis) = ((edge / 3) as usize, (edge % 3) as usize);
            let passed = !solid.occupancy.hits(node, axis).is_empty();
            let cells = ring_cells(solid, edge).into_iter().filter(move |&cell| {
                let corners = solid.corners(cell);
                passed || corners.iter().any(|&node| !solid.is_inside(node))
            });
            cells.map(|cell| cell as u32)
        })
        .collect();
    cells.par_sort_unstable();
    cells.dedup();
    cells
}

/// Adds the cells within `rings` of those given that are not there yet, but for those on the border of the grid.
fn add(solid: &Solid, fresh: &[u32], rings: usize, active: &mut [bool], cells: &mut Vec<u32>) {
    for &cell in fresh {
        let c = solid.grid.coords(cell as usize);
        let range = |axis: usize| {
            let last = solid.grid.nodes[axis] - 3;
            c[axis].saturating_sub(rings).max(1)..=(c[axis] + rings).min(last)
        };
        for k in range(2) {
            for j in range(1) {
                for i in range(0) {
                    let node = solid.grid.index([i, j, k]);
                    if !active[node] {
                        active[node] = true;
                        cells.push(node as u32);
                    }
                }
            }
        }
    }
}

/// The cells in the box about a triangle.
fn cells_of(solid: &Solid, corners: [&Point; 3]) -> impl Iterator<Item = usize> {
    let cells = corners.map(Point::cell);
    let low: [i32; 3] = std::array::from_fn(|a| cells[0][a].min(cells[1][a]).min(cells[2][a]));
    let high: [i32; 3] = std::array::from_fn(|a| cells[0][a].max(cells[1][a]).max(cells[2][a]));
    let strides = solid.grid.strides();
    (low[2]..=high[2]).flat_map(move |k| {
        (low[1]..=high[1]).flat_map(move |j| {
            (low[0]..=high[0])
                .map(move |i| i as usize + j as usize * strides[1] + k as usize * strides[2])
        })
    })
}

/// The grid edge that a point lies on.
pub fn edge_of(solid: &Solid, point: &Point) -> Option<u64> {
    let off: Vec<usize> = (0..3).filter(|&axis| !point.is_on(axis)).collect();
    let [axis] = off[..] else { return None };
    Some(3 * node_of(solid, point.cell()) as u64 + axis as u64)
}
