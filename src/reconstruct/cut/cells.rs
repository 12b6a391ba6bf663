//! The cells that cracks pass through, and the loops in each.
//!
//! In a cell, the arcs of its six faces and of the skin within it join halves of crossings to loops: each
//! loop is one side of a crack there, and brings one vertex. At a tip both sides are one loop.

use crate::parallel::prelude::*;

use super::chain::Chain;
use super::ring::{Arc, Step, arcs, face_edges};
use super::seam::{Seam, ring_cells};
use crate::math::hash::QuickMap;
use crate::math::union_find::UnionFind;
use crate::reconstruct::body::solid::Solid;

/// Class of the skin's border in a cell: what lies between one crossing and the next.
#[derive(Clone, Debug, Default)]
pub struct SkinArcs {
    /// For each chain of the cell, the classes at its start and end.
    pub of_chain: Vec<[u8; 2]>,
    /// For each class, the halves at its ends.
    pub halves: Vec<Vec<u32>>,
    /// For each class, the owners of its gates.
    pub owners: Vec<Vec<u32>>,
}

/// The chains on the six faces of a cell.
pub fn chains_of<'a>(solid: &Solid, seam: &'a Seam, node: usize) -> Vec<&'a Chain> {
    let strides = solid.grid.strides();
    let faces = (0..6).map(|face| {
        let above = node + (face % 2) * strides[face / 2];
        3 * above as u64 + (face / 2) as u64
    });
    faces
        .filter_map(|face| seam.chains.get(face))
        .flatten()
        .collect()
}

impl SkinArcs {
    /// The classes in a cell with these chains.
    pub fn new(seam: &Seam, chains: &[&Chain]) -> Self {
        let mut classes = UnionFind::new(2 * chains.len());
        let mut at_gate: QuickMap<u32, u32> = QuickMap::default();
        for (chain, n) in chains.iter().zip(0_u32..) {
            if chain.crossing.is_none() {
                classes.join(2 * n, 2 * n + 1);
            }
            for (gate, end) in chain.gates.into_iter().flatten().zip(2 * n..) {
                if let Some(other) = at_gate.insert(gate, end) {
                    classes.join(other, end);
                }
            }
        }
        let mut arcs = SkinArcs::default();
        let mut number: QuickMap<u32, u8> = QuickMap::default();
        for (chain, n) in chains.iter().zip(0_u32..) {
            let of = [0, 1].map(|end| {
                let root = classes.root(2 * n + end);
                *number.entry(root).or_insert_with(|| {
                    arcs.halves.push(Vec::new());
                    arcs.owners.push(Vec::new());
                    arcs.halves.len() as u8 - 1
                })
            });
            for end in 0..2 {
                if let Some((crossing, _)) = chain.crossing {
                    arcs.halves[of[end] as usize].push(2 * crossing + end as u32);
                }
                if let Some(gates) = chain.gates {
                    let owner = seam.gates[gates[end] as usize].owner;
                    let owners = &mut arcs.owners[of[end] as usize];
                    if !owners.contains(&owner) {
                        owners.push(owner);
                    }
                }
            }
            arcs.of_chain.push(of);
        }
        arcs
    }
}

/// Vertex in the middle of a face between two cells, where two arcs would otherwise join the same vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Middle {
    /// Number of the cell whose lower face along `axis` it lies on.
    pub cell: u32,
    /// That axis.
    pub axis: u8,
    /// The arc's halves.
    pub halves: [u32; 2],
}

/// The cells that cracks pass through.
#[derive(Debug)]
pub struct Cells {
    /// Their lower corners, ascending.
    pub nodes: Vec<u32>,
    /// Vertex of the first loop of each; one a loop.
    pub first: Vec<u32>,
    /// Range of each in `halves`.
    range: Vec<u32>,
    /// Halves in each cell, ascending, with their loops.
    halves: Vec<(u32, u8)>,
    /// Middles, ascending, with their vertices.
    pub middles: Vec<(Middle, u32)>,
    /// Vertices of loops and middles together.
    pub vertices: u32,
    /// Number of the cell at a node, or `u32::MAX`.
    number: Vec<u32>,
    strides: [usize; 3],
}

/// A cell's node, its halves with their loops, and how many loops there are.
type CellLoops = (u32, Vec<(u32, u8)>, u8);

/// Grid edges of a cell that cracks cross, with the crossings, ascending.
type Crossed = [(u8, u32)];

impl Cells {
    /// The cells of all crossings.
    pub fn new(solid: &Solid, seam: &Seam) -> Self {
        let numbered = seam.edges.par_iter().enumerate();
        let mut crossed: Vec<(u32, u8, u32)> = numbered
            .flat_map_iter(|(number, &edge)| {
                let axis = (edge % 3) as u8;
                let cells = ring_cells(solid, edge).into_iter().zip(0_u8..);
                cells.map(move |(cell, m)| (cell as u32, 4 * axis + m, number as u32))
            })
            .collect();
        crossed.par_sort_unstable();
        let mut nodes: Vec<u32> = crossed.iter().map(|&(cell, _, _)| cell).collect();
        nodes.extend(&seam.cells);
        nodes.par_sort_unstable();
        nodes.dedup();
        let loops: Vec<CellLoops> = nodes
            .par_iter()
            .with_min_len(256)
            .filter_map(|&node| {
                let start = crossed.partition_point(|entry| entry.0 < node);
                let own = crossed[start..].iter().take_while(|entry| entry.0 == node);
                let own: Vec<(u8, u32)> = own.map(|&(_, edge, number)| (edge, number)).collect();
                let (halves, count) = loops(solid, seam, node as usize, &own);
                (count > 0).then_some((node, halves, count))
            })
            .collect();
        let mut cells = Cells {
            nodes: loops.iter().map(|cell| cell.0).collect(),
            first: Vec::with_capacity(loops.len()),
            range: vec![0],
            halves: Vec::new(),
            middles: Vec::new(),
            vertices: 0,
            number: vec![u32::MAX; solid.grid.len()],
            strides: solid.grid.strides(),
        };
        for (number, (node, halves, count)) in loops.into_iter().enumerate() {
            cells.number[node as usize] = number as u32;
            cells.first.push(cells.vertices);
            cells.vertices += u32::from(count);
            cells.halves.extend(halves);
            cells.range.push(cells.halves.len() as u32);
        }
        cells.find_middles(solid, seam);
        cells
    }

    /// Number of the cell at `node`, if a crack passes through it.
    pub fn at(&self, node: usize) -> Option<usize> {
        let number = self.number[node];
        (number != u32::MAX).then_some(number as usize)
    }

    /// Halves in a cell, ascending, with their loops.
    pub fn halves(&self, number: usize) -> &[(u32, u8)] {
        &self.halves[self.range[number] as usize..self.range[number + 1] as usize]
    }

    /// Number of loops in a cell.
    pub fn loops(&self, number: usize) -> u8 {
        self.halves(number)
            .iter()
            .map(|half| half.1 + 1)
            .max()
            .unwrap_or(0)
    }

    /// Loop of a half in a cell.
    pub fn loop_of(&self, number: usize, half: u32) -> Option<u8> {
        let halves = self.halves(number);
        let at = halves.binary_search_by_key(&half, |entry| entry.0).ok()?;
        Some(halves[at].1)
    }

    /// Vertex of the loop of a half in a cell.
    pub fn vertex(&self, number: usize, half: u32) -> Option<u32> {
        let own = self.loop_of(number, half)?;
        Some(self.first[number] + u32::from(own))
    }

    /// Arcs on the lower face along `axis` of a cell.
    pub fn arcs_below(&self, seam: &Seam, number: usize, axis: usize) -> Vec<Arc> {
        let node = self.nodes[number] as usize;
        let face = 3 * node as u64 + axis as u64;
        if let Some(arcs) = seam.arcs.get(face) {
            return arcs.clone();
        }
        let own: Vec<(u8, u32)> = self.crossed(seam, number).collect();
        plain_arcs(&own, axis, 0)
    }

    /// Grid edges of a cell that are crossed, with the crossings, in the order of the crossings.
    pub fn crossed<'a>(
        &'a self,
        seam: &'a Seam,
        number: usize,
    ) -> impl Iterator<Item = (u8, u32)> + 'a {
        let node = self.nodes[number] as u64;
        let own = self.halves(number).iter().map(|half| half.0 / 2);
        let mut last = u32::MAX;
        own.filter(move |&crossing| std::mem::replace(&mut last, crossing) != crossing)
            .filter_map(move |crossing| {
                let edge = *seam.edges.get(crossing as usize)?;
                let (axis, offset) = ((edge % 3) as usize, edge / 3 - node);
                Some((local_edge(self.strides, axis, offset), crossing))
            })
    }

    fn find_middles(&mut self, solid: &Solid, seam: &Seam) {
        let strides = solid.grid.strides();
        let this = &*self;
        let portions = seam.edges.len() as u32;
        let mut middles: Vec<Middle> = (0..self.nodes.len())
            .into_par_iter()
            .with_min_len(256)
            .flat_map_iter(|number| {
                let mut found = Vec::new();
                for (axis, stride) in strides.into_iter().enumerate() {
                    let Some(below) = this.at(this.nodes[number] as usize - stride) else {
                        continue;
                    };
                    let mut arcs = this.arcs_below(seam, number, axis);
                    arcs.retain(|arc| arc.has_edge(portions));
                    if arcs.len() < 2 {
                        continue;
                    }
                    let joined =
                        |arc: &Arc| [number, below].map(|n| this.loop_of(n, arc.halves[0]));
                    for (m, arc) in arcs.iter().enumerate() {
                        let pair = joined(arc);
                        let mut others = arcs.iter().enumerate();
                        if others.any(|(n, other)| n != m && joined(other) == pair) {
                            found.push(Middle {
                                cell: number as u32,
                                axis: axis as u8,
                                halves: arc.halves,
                            });
                        }
                    }
                }
                found
            })
            .collect();
        middles.sort_unstable();
        let first = self.vertices;
        self.vertices += middles.len() as u32;
        self.middles = middles.into_iter().zip(first..).collect();
    }

    /// The middles on the lower faces of a cell, with their vertices.
    pub fn middles_of(&self, number: usize) -> &[(Middle, u32)] {
        let start = self
            .middles
            .partition_point(|(middle, _)| (middle.cell as usize) < number);
        let count =
            self.middles[start..].partition_point(|(middle, _)| middle.cell as usize == number);
        &self.middles[start..start + count]
    }

    /// The middle on the lower face along `axis` of a cell in the arc that `half` belongs to, if there is one.
    pub fn middle(&self, number: usize, axis: usize, half: u32) -> Option<u32> {
        let own = self.middles_of(number).iter();
        own.filter(|(middle, _)| middle.axis as usize == axis && middle.halves.contains(&half))
            .map(|(_, vertex)| *vertex)
            .next()
    }
}

/// The edge along `axis` of a cell whose lower node lies `offset` nodes after the cell's.
fn local_edge(strides: [usize; 3], axis: usize, offset: u64) -> u8 {
    let (u, v) = (
        strides[(axis + 1) % 3] as u64,
        strides[(axis + 2) % 3] as u64,
    );
    let at = [0, u, v, u + v].iter().position(|&o| o == offset);
    (4 * axis + at.unwrap_or(0)) as u8
}

/// Arcs of a face that the skin does not pass.
fn plain_arcs(crossed: &Crossed, axis: usize, side: usize) -> Vec<Arc> {
    let mut steps: Vec<Step> = Vec::with_capacity(4);
    for (m, edge) in face_edges(axis, side).into_iter().enumerate() {
        if let Some(&(_, c)) = crossed.iter().find(|entry| entry.0 as usize == edge) {
            // The last two edges are passed from their upper end.
            steps.push(if m < 2 {
                [2 * c, 2 * c + 1]
            } else {
                [2 * c + 1, 2 * c]
            });
        }
    }
    arcs(&steps).collect()
}

/// Halves of a cell, ascending, with their loops, and how many loops there are.
fn loops(solid: &Solid, seam: &Seam, node: usize, crossed: &Crossed) -> (Vec<(u32, u8)>, u8) {
    let strides = solid.grid.strides();
    let mut pairs: Vec<[u32; 2]> = Vec::new();
    let active = seam.active.get(node).copied().unwrap_or(false);
    for face in 0..6 {
        let (axis, side) = (face / 2, face % 2);
        let above = 3 * (node + side * strides[axis]) as u64 + axis as u64;
        match seam.arcs.get(above).filter(|_| active) {
            Some(arcs) => pairs.extend(arcs.iter().map(|arc| arc.halves)),
            None => pairs.extend(plain_arcs(crossed, axis, side).iter().map(|arc| arc.halves)),
        }
    }
    if active {
        let chains = chains_of(solid, seam, node);
        for halves in SkinArcs::new(seam, &chains).halves {
            pairs.extend(halves.windows(2).map(|pair| [pair[0], pair[1]]));
        }
    }
    let mut halves: Vec<u32> = pairs.as_flattened().to_vec();
    halves.sort_unstable();
    halves.dedup();
    let place = |half: u32| halves.partition_point(|&h| h < half) as u32;
    let mut joined = UnionFind::new(halves.len());
    for [a, b] in pairs {
        joined.join(place(a), place(b));
    }
    let mut count = 0;
    let mut numbers = vec![0_u8; halves.len()];
    for at in 0..halves.len() {
        let first = joined.root(at as u32) as usize;
        numbers[at] = if first == at {
            count += 1;
            count - 1
        } else {
            numbers[first]
        };
    }
    (halves.into_iter().zip(numbers).collect(), count)
}
