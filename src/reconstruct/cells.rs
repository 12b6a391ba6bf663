//! The cells that surfaces are drawn in, and the numbers of the vertices that they bring.

use rayon::prelude::*;

use super::cell::{Arc, Crossed, Half, Loops};
use super::owners::Owners;
use super::solid::Solid;

/// Cells that cracks pass through.
#[derive(Debug, Default)]
pub struct CrackCells {
    /// Their lower corners, ascending.
    pub nodes: Vec<u32>,
    /// Range of each in `edges`.
    first: Vec<u32>,
    /// Edges of the cell that are cut, ascending, with their places among the owners' cut edges.
    edges: Vec<(u8, u32)>,
}

impl CrackCells {
    /// The cells around all cut edges.
    pub fn new(solid: &Solid, owners: &Owners) -> Self {
        let strides = solid.grid.strides();
        let numbered = owners.cut.par_iter().enumerate();
        let mut pairs: Vec<(u32, u8, u32)> = numbered
            .flat_map_iter(|(number, cut)| {
                let (node, axis) = ((cut.edge / 3) as usize, (cut.edge % 3) as usize);
                let (u, v) = (strides[(axis + 1) % 3], strides[(axis + 2) % 3]);
                (0..4).map(move |m| {
                    let cell = node - (m & 1) * u - (m >> 1) * v;
                    (cell as u32, (4 * axis + m) as u8, number as u32)
                })
            })
            .collect();
        pairs.par_sort_unstable();
        let mut cells = CrackCells::default();
        for (cell, edge, number) in pairs {
            if cells.nodes.last() != Some(&cell) {
                cells.nodes.push(cell);
                cells.first.push(cells.edges.len() as u32);
            }
            cells.edges.push((edge, number));
        }
        cells.first.push(cells.edges.len() as u32);
        cells
    }

    /// The cut edges of the cell at `node`, with their places among all.
    pub fn edges(&self, node: usize) -> &[(u8, u32)] {
        match self.nodes.binary_search(&(node as u32)) {
            Ok(at) => &self.edges[self.first[at] as usize..self.first[at + 1] as usize],
            Err(_) => &[],
        }
    }

    /// How surfaces pass through the cell at `node`.
    pub fn crossed(&self, solid: &Solid, node: usize) -> Crossed {
        let [sx, sy, sz] = solid.grid.strides();
        let outside = (0..8).fold(0, |set, corner| {
            let at = node + sx * (corner & 1) + sy * (corner >> 1 & 1) + sz * (corner >> 2);
            set | u8::from(!solid.is_inside(at)) << corner
        });
        let edges = self.edges(node).iter();
        Crossed {
            outside,
            cut: edges.fold(0, |set, &(edge, _)| set | 1 << edge),
        }
    }
}

/// Vertex in the middle of a face between two cells, where two arcs would otherwise join the same vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Middle {
    /// Number of the cell whose lower face along `axis` it lies on.
    pub cell: u32,
    /// That axis.
    pub axis: u8,
    /// The arc's corners.
    pub corners: u8,
}

/// The cells that surfaces are drawn in.
#[derive(Debug)]
pub struct Cells {
    /// Their lower corners, ascending.
    pub nodes: Vec<u32>,
    /// What passes through each.
    pub crossed: Vec<Crossed>,
    /// The loops in each.
    pub loops: Vec<Loops>,
    /// Vertex of the first loop of each; one a loop.
    pub first: Vec<u32>,
    /// Middles, ascending, with their vertices.
    pub middles: Vec<(Middle, u32)>,
    /// Vertices of loops and middles together.
    pub vertices: u32,
    /// Number of the cell at a node, or `u32::MAX`.
    number: Vec<u32>,
}

impl Cells {
    /// The cells of the cracks and those of the zone that the skin passes through.
    pub fn new(solid: &Solid, cracks: &CrackCells, zone: &[u32]) -> Self {
        let mut nodes = [&cracks.nodes, zone].concat();
        nodes.par_sort_unstable();
        nodes.dedup();
        let seen: Vec<(u32, Crossed)> = nodes
            .par_iter()
            .with_min_len(256)
            .map(|&node| (node, cracks.crossed(solid, node as usize)))
            .filter(|(_, crossed)| !crossed.is_empty())
            .collect();
        let loops: Vec<Loops> = seen
            .par_iter()
            .with_min_len(256)
            .map(|(_, crossed)| crossed.loops())
            .collect();
        let mut cells = Cells {
            nodes: seen.iter().map(|(node, _)| *node).collect(),
            crossed: seen.into_iter().map(|(_, crossed)| crossed).collect(),
            first: Vec::with_capacity(loops.len()),
            loops,
            middles: Vec::new(),
            vertices: 0,
            number: vec![u32::MAX; solid.grid.len()],
        };
        for (number, &node) in cells.nodes.iter().enumerate() {
            cells.number[node as usize] = number as u32;
            cells.first.push(cells.vertices);
            cells.vertices += u32::from(cells.loops[number].count);
        }
        cells.find_middles(solid);
        cells
    }

    fn find_middles(&mut self, solid: &Solid) {
        let strides = solid.grid.strides();
        let this = &*self;
        let mut middles: Vec<Middle> = (0..self.nodes.len())
            .into_par_iter()
            .with_min_len(256)
            .flat_map_iter(|number| {
                (0..3).flat_map(move |axis| {
                    let below = this.at(this.nodes[number] as usize - strides[axis]);
                    let joined: Vec<(u8, [u8; 2])> = below.map_or_else(Vec::new, |below| {
                        let arcs = this.crossed[number].arcs(axis, 0);
                        arcs.map(|arc| (arc.corners, this.joined(number, below, axis, &arc)))
                            .collect()
                    });
                    let doubled: Vec<u8> = joined
                        .iter()
                        .filter(|(corners, pair)| {
                            joined.iter().any(|(c, p)| c != corners && p == pair)
                        })
                        .map(|&(corners, _)| corners)
                        .collect();
                    doubled.into_iter().map(move |corners| Middle {
                        cell: number as u32,
                        axis: axis as u8,
                        corners,
                    })
                })
            })
            .collect();
        middles.sort_unstable();
        let first = self.vertices;
        self.vertices += middles.len() as u32;
        self.middles = middles.into_iter().zip(first..).collect();
    }

    /// The loops that an arc on the lower face along `axis` joins: in cell `number` and in the one `below`.
    pub fn joined(&self, number: usize, below: usize, axis: usize, arc: &Arc) -> [u8; 2] {
        let half = arc.ends[0];
        [
            self.loops[number].get(half),
            self.loops[below].get(half.from_below(axis)),
        ]
    }

    /// Number of the cell at `node`, if surfaces are drawn in it.
    pub fn at(&self, node: usize) -> Option<usize> {
        let number = self.number[node];
        (number != u32::MAX).then_some(number as usize)
    }

    /// Vertex of the loop that a half of a cell belongs to.
    pub fn vertex(&self, number: usize, half: Half) -> u32 {
        self.first[number] + u32::from(self.loops[number].get(half))
    }

    /// Vertices of loops of a cell.
    pub fn vertices_of(&self, number: usize) -> std::ops::Range<u32> {
        let first = self.first[number];
        first..first + u32::from(self.loops[number].count)
    }

    /// The middle on the lower face along `axis` of cell `number` in the arc that `corner` belongs to, if there is one.
    pub fn middle(&self, number: usize, axis: usize, corner: usize) -> Option<u32> {
        let start = self.middles.partition_point(|(middle, _)| {
            (middle.cell, middle.axis) < (number as u32, axis as u8)
        });
        let own = self.middles[start..].iter().take_while(|(middle, _)| {
            (middle.cell, middle.axis) == (number as u32, axis as u8)
        });
        own.filter(|(middle, _)| middle.corners >> corner & 1 == 1)
            .map(|(_, vertex)| *vertex)
            .next()
    }
}
