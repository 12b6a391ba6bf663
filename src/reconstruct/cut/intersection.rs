//! Intersects the skin with the grid in the cells that a crack crosses.
//!
//! On a face of the grid the skin leaves *chains* of segments. They run from *gate* to *gate*; a gate is a
//! point where the skin crosses a grid edge. Gates divide an edge into *stretches* inside and outside the
//! skin. Stretches and chains bound the rings of [`super::ring`], and a crack crosses them wherever the
//! owners of their ends are on different sides. Cells are added until every crossing lies between active
//! cells.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::chain::{
    SkinChain, SkinGate, StretchCrossings, chains_from, ends, gates_on, node_of, segments,
};
use super::clip::{PointName, SkinPoint, TrianglePieces, plane_cuts};
use super::face_map::FaceMap;
use super::ring::RingArc;
use super::trace::RingWalk;
use crate::math::hash::QuickMap;
use crate::reconstruct::body::skin_grid::SkinGrid;
use crate::reconstruct::cracks::crossing::{Crossing, crossing_on_stretch, locate_on_chain};
use crate::reconstruct::cracks::field::Cracks;
use crate::reconstruct::cracks::owners::{NodeOwners, owner_at};

/// The skin and the grid are inconsistent, because of rounding or because the mesh is not closed.
#[derive(Debug)]
pub struct SkinGridMismatch;

/// Number of layers of cells that are added around active cells.
const MARGIN_LAYERS: usize = 1;

/// The skin in the cells that a crack crosses, and all crossings of cracks.
#[derive(Debug, Default)]
pub struct SkinIntersection {
    /// For each node, whether its cell is active: a crack crosses the skin in it or near it; empty if there
    /// is none.
    pub active: Vec<bool>,
    /// The active cells.
    pub cells: Vec<u32>,
    /// Triangles of the skin that reach into active cells, with their pieces.
    pub touched: Vec<(u32, TrianglePieces)>,
    /// For each edge of the skin, its index in `cuts`, or `u32::MAX` if none of its triangles is touched.
    pub number: Vec<u32>,
    /// Cuts of each such edge by planes of the grid.
    pub cuts: Vec<Vec<SkinPoint>>,
    /// Gates, sorted by edge and then along the edge.
    pub gates: Vec<SkinGate>,
    /// Chains on each face.
    pub chains: FaceMap<Vec<SkinChain>>,
    /// Arcs on those faces.
    pub arcs: FaceMap<Vec<RingArc>>,
    /// All crossings: first those on stretches of grid edges, then those on chains.
    pub crossings: Vec<Crossing>,
    /// Grid edge of each crossing on a stretch, ascending.
    pub edges: Vec<u64>,
}

/// Vertices of the skin as points.
pub fn corners(skin_grid: &SkinGrid) -> Vec<SkinPoint> {
    let positions = skin_grid.skin.mesh.positions.par_iter().enumerate();
    positions
        .map(|(v, &x)| {
            SkinPoint::vertex(
                v as u32,
                (x - skin_grid.grid.origin) / skin_grid.grid.spacing,
            )
        })
        .collect()
}

/// The four cells around a grid edge.
pub fn cells_around_edge(skin_grid: &SkinGrid, edge: u64) -> [usize; 4] {
    let (node, axis) = ((edge / 3) as usize, (edge % 3) as usize);
    let strides = skin_grid.grid.strides();
    let (u, v) = (strides[(axis + 1) % 3], strides[(axis + 2) % 3]);
    std::array::from_fn(|m| node - (m & 1) * u - (m >> 1) * v)
}

impl SkinIntersection {
    /// Intersects the skin with the cells at the cracks between nodes of different `owners`. Owners are added
    /// where a crack continues along the skin.
    pub fn new(
        skin_grid: &SkinGrid,
        cracks: &Cracks,
        owners: &mut NodeOwners,
        corners: &[SkinPoint],
    ) -> Result<Self, SkinGridMismatch> {
        let mut intersection = SkinIntersection::default();
        let mut active = vec![false; skin_grid.grid.len()];
        let mut fresh = cells_at_skin(skin_grid, owners);
        loop {
            activate(
                skin_grid,
                &fresh,
                MARGIN_LAYERS,
                &mut active,
                &mut intersection.cells,
            );
            if owners.extend(skin_grid, cracks, &intersection.cells) {
                activate(
                    skin_grid,
                    &cells_at_skin(skin_grid, owners),
                    0,
                    &mut active,
                    &mut intersection.cells,
                );
                owners.extend(skin_grid, cracks, &intersection.cells);
            }
            intersection.cut_skin(skin_grid, corners, &active)?;
            intersection.find_gates(skin_grid, cracks)?;
            let (stretches, crossed_stretches) =
                intersection.find_crossings(skin_grid, cracks, owners)?;
            fresh = intersection.missing_cells(skin_grid, &active);
            if fresh.is_empty() {
                intersection.locate_crossings(skin_grid, cracks, &crossed_stretches);
                intersection.find_arcs(skin_grid, &stretches)?;
                intersection.cells.par_sort_unstable();
                intersection.active = active;
                return Ok(intersection);
            }
        }
    }

    /// Cuts the triangles of the skin that reach into active cells, and joins the segments on the faces of
    /// these cells to chains.
    fn cut_skin(
        &mut self,
        skin_grid: &SkinGrid,
        corners: &[SkinPoint],
        active: &[bool],
    ) -> Result<(), SkinGridMismatch> {
        let skin = &skin_grid.skin;
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
            .filter(|&t| !seen[t] && cells_in_box(skin_grid, of(t)).any(|node| active[node]))
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
            plane_cuts(p, q, &[0, 1, 2], |n| PointName::Edge(edge, n))
        });
        self.cuts.par_extend(cut);
        let this = &*self;
        let pieces: Option<Vec<_>> = touched
            .par_iter()
            .with_min_len(64)
            .map(|&t| {
                Some((
                    t,
                    TrianglePieces::new(t, this.outline(skin_grid, corners, t as usize, |_| true))?,
                ))
            })
            .collect();
        self.touched.extend(pieces.ok_or(SkinGridMismatch)?);
        self.touched.sort_unstable_by_key(|(t, _)| *t);
        let pieces = self.touched.par_iter().with_min_len(64);
        let segments: Vec<Vec<(u64, [SkinPoint; 2])>> = pieces
            .map(|(_, pieces)| segments(skin_grid, pieces, active))
            .collect();
        let chains = FaceMap::gather(segments.concat(), chains_from);
        self.chains = chains.ok_or(SkinGridMismatch)?;
        Ok(())
    }

    /// Corners of a triangle, with the cuts of its edges between them for those edges for which `keeps` is
    /// true.
    pub fn outline(
        &self,
        skin_grid: &SkinGrid,
        corners: &[SkinPoint],
        t: usize,
        keeps: impl Fn(u32) -> bool,
    ) -> Vec<SkinPoint> {
        let mut outline = Vec::new();
        for m in 0..3 {
            let edge = skin_grid.skin.edges_of[t][m];
            let from = skin_grid.skin.mesh.triangles[t][m];
            outline.push(corners[from as usize]);
            let number = self.number[edge as usize];
            if number == u32::MAX || !keeps(edge) {
                continue;
            }
            let cuts = &self.cuts[number as usize];
            if skin_grid.skin.edges[edge as usize][0] == from {
                outline.extend(cuts);
            } else {
                outline.extend(cuts.iter().rev());
            }
        }
        outline
    }

    /// Numbers the gates, and finds their owners.
    fn find_gates(
        &mut self,
        skin_grid: &SkinGrid,
        cracks: &Cracks,
    ) -> Result<(), SkinGridMismatch> {
        let mut gates: Vec<SkinGate> = Vec::new();
        for chain in self.chains.iter().flat_map(|(_, chains)| chains) {
            for point in ends(&chain.points) {
                let edge = edge_of(skin_grid, point).ok_or(SkinGridMismatch)?;
                gates.push(SkinGate {
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
                let x = skin_grid.grid.origin + gate.point.at * skin_grid.grid.spacing;
                gate.owner = owner_at(cracks, x, found);
            });
        let number: QuickMap<PointName, u32> = (0..gates.len() as u32)
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

    /// Numbers all crossings. Returns the crossings on the stretches of each edge with gates, and the ends of
    /// all crossed stretches.
    fn find_crossings(
        &mut self,
        skin_grid: &SkinGrid,
        cracks: &Cracks,
        owners: &NodeOwners,
    ) -> Result<(StretchCrossings, Vec<CrossedStretch>), SkinGridMismatch> {
        let grid = &skin_grid.grid;
        let mut stretches = StretchCrossings::default();
        // Edge, ends and owners of each crossing on a stretch.
        let mut crossed: Vec<(u64, [DVec3; 2], [u32; 2])> = Vec::new();
        let world = |point: &SkinPoint| grid.origin + point.at * grid.spacing;
        for on_edge in self.gates.chunk_by(|a, b| a.edge == b.edge) {
            let edge = on_edge[0].edge;
            let (node, axis) = ((edge / 3) as usize, (edge % 3) as usize);
            let nodes = [node, node + grid.strides()[axis]];
            let mut inside = skin_grid.is_inside(nodes[0]);
            if (inside != skin_grid.is_inside(nodes[1])) != (on_edge.len() % 2 == 1) {
                return Err(SkinGridMismatch);
            }
            let [low, high] = nodes.map(|n| (grid.position(grid.coords(n)), owners.owner[n]));
            let mut ends = vec![low];
            ends.extend(on_edge.iter().map(|gate| (world(&gate.point), gate.owner)));
            ends.push(high);
            let mut of_edge = Vec::with_capacity(ends.len() - 1);
            for pair in ends.windows(2) {
                let owners = [pair[0].1, pair[1].1];
                let cut = inside && cracks.separates(owners[0], owners[1]);
                of_edge.push(cut.then_some(crossed.len() as u32));
                if cut {
                    crossed.push((edge, [pair[0].0, pair[1].0], owners));
                }
                inside = !inside;
            }
            stretches.insert(edge, of_edge);
        }
        // Edges without gates are interleaved: all crossings are numbered in the order of the edges.
        let gated = crossed.len();
        for &edge in owners
            .cut_edges
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
        let crossed_stretches = order.iter().map(|&n| {
            let (_, ends, owners) = crossed[n as usize];
            (ends, owners)
        });
        let crossed_stretches = crossed_stretches.collect();
        let mut count = self.edges.len() as u32;
        for chain in self.chains.values_mut().iter_mut().flatten() {
            let owner = |gate: u32| self.gates[gate as usize].owner;
            if let Some([a, b]) = chain.gates.map(|gates| gates.map(owner))
                && cracks.separates(a, b)
            {
                chain.crossing = Some((count, 0));
                count += 1;
            }
        }
        Ok((stretches, crossed_stretches))
    }

    /// Finds the positions of all crossings: on stretches between their ends, on chains within one of their
    /// segments.
    fn locate_crossings(
        &mut self,
        skin_grid: &SkinGrid,
        cracks: &Cracks,
        crossed_stretches: &[CrossedStretch],
    ) {
        self.crossings = crossed_stretches
            .par_iter()
            .with_min_len(128)
            .map(|&(ends, owners)| crossing_on_stretch(cracks, ends, owners))
            .collect();
        let grid = &skin_grid.grid;
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
                (*segment, point) = locate_on_chain(cracks, &points, owners);
                let (plane, normal) = cracks.nearest_on_sheet(point, owners);
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

    /// Cells that are not active yet, although a crossing lies on them and the skin is near it.
    fn missing_cells(&self, skin_grid: &SkinGrid, active: &[bool]) -> Vec<u32> {
        let strides = skin_grid.grid.strides();
        let mut cells: Vec<usize> = Vec::new();
        for &edge in &self.edges {
            if !gates_on(&self.gates, edge).is_empty() {
                cells.extend(cells_around_edge(skin_grid, edge));
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

    /// Finds the arcs on the rings of all faces with chains.
    fn find_arcs(
        &mut self,
        skin_grid: &SkinGrid,
        stretches: &StretchCrossings,
    ) -> Result<(), SkinGridMismatch> {
        let walk = RingWalk {
            skin_grid,
            edges: &self.edges,
            gates: &self.gates,
            stretches,
        };
        let faces = self.chains.map(|face, chains| walk.arcs_of(face, chains));
        self.arcs = faces.ok_or(SkinGridMismatch)?;
        Ok(())
    }
}

/// Ends (m) of a crossed stretch, and their owners.
type CrossedStretch = ([DVec3; 2], [u32; 2]);

/// Cells around cut edges that may contain skin: with a corner outside, or around an edge that the skin
/// crosses.
fn cells_at_skin(skin_grid: &SkinGrid, owners: &NodeOwners) -> Vec<u32> {
    let mut cells: Vec<u32> = owners
        .cut_edges
        .par_iter()
        .with_min_len(256)
        .flat_map_iter(|&edge| {
            let (node, axis) = ((edge / 3) as usize, (edge % 3) as usize);
            let passed = !skin_grid.occupancy.hits(node, axis).is_empty();
            let cells = cells_around_edge(skin_grid, edge)
                .into_iter()
                .filter(move |&cell| {
                    let corners = skin_grid.corner_nodes(cell);
                    passed || corners.iter().any(|&node| !skin_grid.is_inside(node))
                });
            cells.map(|cell| cell as u32)
        })
        .collect();
    cells.par_sort_unstable();
    cells.dedup();
    cells
}

/// Activates the cells within `layers` layers of the cells `fresh`, except those on the border of the grid.
fn activate(
    skin_grid: &SkinGrid,
    fresh: &[u32],
    layers: usize,
    active: &mut [bool],
    cells: &mut Vec<u32>,
) {
    for &cell in fresh {
        let c = skin_grid.grid.coords(cell as usize);
        let range = |axis: usize| {
            let last = skin_grid.grid.nodes[axis] - 3;
            c[axis].saturating_sub(layers).max(1)..=(c[axis] + layers).min(last)
        };
        for k in range(2) {
            for j in range(1) {
                for i in range(0) {
                    let node = skin_grid.grid.index([i, j, k]);
                    if !active[node] {
                        active[node] = true;
                        cells.push(node as u32);
                    }
                }
            }
        }
    }
}

/// Cells in the bounding box of a triangle.
fn cells_in_box(skin_grid: &SkinGrid, corners: [&SkinPoint; 3]) -> impl Iterator<Item = usize> {
    let cells = corners.map(SkinPoint::cell);
    let low: [i32; 3] = std::array::from_fn(|a| cells[0][a].min(cells[1][a]).min(cells[2][a]));
    let high: [i32; 3] = std::array::from_fn(|a| cells[0][a].max(cells[1][a]).max(cells[2][a]));
    let strides = skin_grid.grid.strides();
    (low[2]..=high[2]).flat_map(move |k| {
        (low[1]..=high[1]).flat_map(move |j| {
            (low[0]..=high[0])
                .map(move |i| i as usize + j as usize * strides[1] + k as usize * strides[2])
        })
    })
}

/// Grid edge that a point lies on, if any.
pub fn edge_of(skin_grid: &SkinGrid, point: &SkinPoint) -> Option<u64> {
    let off: Vec<usize> = (0..3).filter(|&axis| !point.is_on(axis)).collect();
    let [axis] = off[..] else { return None };
    Some(3 * node_of(skin_grid, point.cell()) as u64 + axis as u64)
}
