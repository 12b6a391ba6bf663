//! Marching cubes over the blocks of a fragment: one vertex for each grid edge that the surface crosses.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::blocks::Blocks;
use super::cases::{CASES, EDGES};
use super::field::{self, Ball, EDGE, Lattice, NODES};

/// Fraction of a grid edge that separates a vertex from both ends, so that no triangle degenerates to a line.
const INSET: f32 = 0.03;
/// Nodes of a block along an axis, plus the first node of the next block.
const WIDE: usize = EDGE + 1;
/// Marks an edge without a vertex.
const NONE: u16 = u16::MAX;

/// A surface whose vertices are grouped by block.
#[derive(Debug, Default)]
pub struct Marched {
    /// Vertex positions, m, one list per block.
    pub positions: Vec<Vec<DVec3>>,
    /// Triangles, counter-clockwise seen from outside. Vertices are numbered through all blocks.
    pub triangles: Vec<[u32; 3]>,
}

/// Vertices of a block.
struct Crossings {
    positions: Vec<DVec3>,
    /// Vertex on the edge from each node along each axis; empty if the block has no vertices.
    of_edge: Vec<u16>,
}

/// Surface of the fragment that consists of `balls`.
pub fn march(lattice: Lattice, blocks: &Blocks, balls: &[Ball]) -> Marched {
    let all = || (0..blocks.len()).into_par_iter();
    let values: Vec<Box<[f32; NODES]>> = all()
        .map(|block| {
            let own = blocks.elements(block).iter();
            field::values(lattice, blocks.low(block), own.map(|&e| &balls[e as usize]))
        })
        .collect();
    let crossings: Vec<Crossings> = all()
        .map(|block| Crossings::new(lattice, blocks.low(block), &wide(blocks, &values, block)))
        .collect();
    let mut base = Vec::with_capacity(blocks.len());
    let mut count = 0;
    for crossings in &crossings {
        base.push(count);
        count += crossings.positions.len() as u32;
    }
    let triangles = all()
        .flat_map_iter(|block| {
            let upward = blocks.upward(block);
            let vertex = |node: [usize; 3], axis: u8| {
                let side = (0..3).map(|a| (node[a] / EDGE) << a).sum::<usize>();
                let owner = upward[side].expect("blocks hold all nodes next to inside ones");
                let local = node.map(|n| n % EDGE);
                let at = 3 * flat(local, EDGE) + axis as usize;
                base[owner] + u32::from(crossings[owner].of_edge[at])
            };
            triangles(&wide(blocks, &values, block), vertex)
        })
        .collect();
    Marched {
        positions: crossings.into_iter().map(|c| c.positions).collect(),
        triangles,
    }
}

fn flat([i, j, k]: [usize; 3], width: usize) -> usize {
    (k * width + j) * width + i
}

/// Calls `visit` with each triple below `EDGE`, x fastest.
fn each_node(mut visit: impl FnMut([usize; 3])) {
    for k in 0..EDGE {
        for j in 0..EDGE {
            for i in 0..EDGE {
                visit([i, j, k]);
            }
        }
    }
}

/// φ at the nodes of a block and at the first nodes of the blocks above it; infinite where there is no block.
fn wide(blocks: &Blocks, values: &[Box<[f32; NODES]>], block: usize) -> Vec<f32> {
    let upward = blocks.upward(block);
    let mut wide = vec![f32::INFINITY; WIDE * WIDE * WIDE];
    for (side, owner) in upward.into_iter().enumerate() {
        let Some(owner) = owner else { continue };
        let range = |axis: usize| match side >> axis & 1 {
            0 => 0..EDGE,
            _ => EDGE..WIDE,
        };
        for k in range(2) {
            for j in range(1) {
                for i in range(0) {
                    let node = [i % EDGE, j % EDGE, k % EDGE];
                    wide[flat([i, j, k], WIDE)] = values[owner][flat(node, EDGE)];
                }
            }
        }
    }
    wide
}

impl Crossings {
    fn new(lattice: Lattice, low: [i64; 3], values: &[f32]) -> Self {
        let mut crossings = Crossings {
            positions: Vec::new(),
            of_edge: Vec::new(),
        };
        let steps = [1, WIDE, WIDE * WIDE];
        each_node(|node| {
            let at = flat(node, WIDE);
            for (axis, step) in steps.into_iter().enumerate() {
                let [from, to] = [values[at], values[at + step]];
                if (from < 0.0) == (to < 0.0) {
                    continue;
                }
                if crossings.of_edge.is_empty() {
                    crossings.of_edge = vec![NONE; 3 * NODES];
                }
                let part = (from / (from - to)).clamp(INSET, 1.0 - INSET);
                let mut place = DVec3::ZERO;
                for a in 0..3 {
                    place[a] = lattice.place(low[a] + node[a] as i64);
                }
                place[axis] += f64::from(part) * lattice.spacing;
                crossings.of_edge[3 * flat(node, EDGE) + axis] = crossings.positions.len() as u16;
                crossings.positions.push(place);
            }
        });
        crossings
    }
}

/// Triangles in the cells whose lowest nodes are in a block.
fn triangles(values: &[f32], vertex: impl Fn([usize; 3], u8) -> u32) -> Vec<[u32; 3]> {
    let mut triangles = Vec::new();
    each_node(|node| {
        let corner = |c: u8| [0, 1, 2].map(|axis| node[axis] + usize::from(c >> axis & 1));
        let case = (0..8).filter(|&c| values[flat(corner(c), WIDE)] < 0.0);
        let case = case.map(|c| 1 << c).sum::<usize>();
        for triangle in &CASES[case] {
            triangles.push(triangle.map(|edge| {
                let (from, axis) = EDGES[edge as usize];
                vertex(corner(from), axis)
            }));
        }
    });
    triangles
}
