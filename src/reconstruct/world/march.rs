//! Marching cubes over the blocks of a fragment: one vertex for each grid edge that the surface crosses.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::blocks::Blocks;
use super::field::{self, BLOCK_EDGE, BLOCK_NODES, ElementBall, Lattice};
use crate::geometry::marching_cases::{CASES, EDGES};

/// Fraction of a grid edge that separates a vertex from both ends, so that no triangle degenerates to a line.
const INSET: f32 = 0.03;
/// Nodes of a block along an axis, plus the first node of the next block.
const PADDED_EDGE: usize = BLOCK_EDGE + 1;
/// Marks an edge without a vertex.
const NO_VERTEX: u16 = u16::MAX;

/// A surface whose vertices are grouped by block.
#[derive(Debug, Default)]
pub struct MarchedSurface {
    /// Vertex positions, m, one list per block.
    pub positions: Vec<Vec<DVec3>>,
    /// Triangles, counter-clockwise seen from outside. Vertices are numbered through all blocks.
    pub triangles: Vec<[u32; 3]>,
}

/// Vertices of a block.
struct EdgeCrossings {
    positions: Vec<DVec3>,
    /// Vertex on the edge from each node along each axis; empty if the block has no vertices.
    of_edge: Vec<u16>,
}

/// Surface of the fragment that consists of `balls`.
pub fn march(lattice: Lattice, blocks: &Blocks, balls: &[ElementBall]) -> MarchedSurface {
    let all = || (0..blocks.len()).into_par_iter();
    let values: Vec<Box<[f32; BLOCK_NODES]>> = all()
        .map(|block| {
            let own = blocks.elements(block).iter();
            field::block_values(lattice, blocks.low(block), own.map(|&e| &balls[e as usize]))
        })
        .collect();
    let crossings: Vec<EdgeCrossings> = all()
        .map(|block| {
            EdgeCrossings::new(
                lattice,
                blocks.low(block),
                &padded_values(blocks, &values, block),
            )
        })
        .collect();
    let mut base = Vec::with_capacity(blocks.len());
    let mut count = 0;
    for crossings in &crossings {
        base.push(count);
        count += crossings.positions.len() as u32;
    }
    let triangles = all()
        .flat_map_iter(|block| {
            let upper_blocks = blocks.upper_blocks(block);
            let vertex = |node: [usize; 3], axis: u8| {
                let side = (0..3).map(|a| (node[a] / BLOCK_EDGE) << a).sum::<usize>();
                let owner = upper_blocks[side].expect("blocks hold all nodes next to inside ones");
                let local = node.map(|n| n % BLOCK_EDGE);
                let at = 3 * flat(local, BLOCK_EDGE) + axis as usize;
                base[owner] + u32::from(crossings[owner].of_edge[at])
            };
            triangles(&padded_values(blocks, &values, block), vertex)
        })
        .collect();
    MarchedSurface {
        positions: crossings.into_iter().map(|c| c.positions).collect(),
        triangles,
    }
}

fn flat([i, j, k]: [usize; 3], width: usize) -> usize {
    (k * width + j) * width + i
}

/// Calls `visit` with each triple below `BLOCK_EDGE`, x fastest.
fn each_node(mut visit: impl FnMut([usize; 3])) {
    for k in 0..BLOCK_EDGE {
        for j in 0..BLOCK_EDGE {
            for i in 0..BLOCK_EDGE {
                visit([i, j, k]);
            }
        }
    }
}

/// φ at the nodes of a block and at the first nodes of the blocks above it; infinite where there is no block.
fn padded_values(blocks: &Blocks, values: &[Box<[f32; BLOCK_NODES]>], block: usize) -> Vec<f32> {
    let upper_blocks = blocks.upper_blocks(block);
    let mut padded_values = vec![f32::INFINITY; PADDED_EDGE * PADDED_EDGE * PADDED_EDGE];
    for (side, owner) in upper_blocks.into_iter().enumerate() {
        let Some(owner) = owner else { continue };
        let range = |axis: usize| match side >> axis & 1 {
            0 => 0..BLOCK_EDGE,
            _ => BLOCK_EDGE..PADDED_EDGE,
        };
        for k in range(2) {
            for j in range(1) {
                for i in range(0) {
                    let node = [i % BLOCK_EDGE, j % BLOCK_EDGE, k % BLOCK_EDGE];
                    padded_values[flat([i, j, k], PADDED_EDGE)] =
                        values[owner][flat(node, BLOCK_EDGE)];
                }
            }
        }
    }
    padded_values
}

impl EdgeCrossings {
    fn new(lattice: Lattice, low: [i64; 3], values: &[f32]) -> Self {
        let mut crossings = EdgeCrossings {
            positions: Vec::new(),
            of_edge: Vec::new(),
        };
        let steps = [1, PADDED_EDGE, PADDED_EDGE * PADDED_EDGE];
        each_node(|node| {
            let at = flat(node, PADDED_EDGE);
            for (axis, step) in steps.into_iter().enumerate() {
                let [from, to] = [values[at], values[at + step]];
                if (from < 0.0) == (to < 0.0) {
                    continue;
                }
                if crossings.of_edge.is_empty() {
                    crossings.of_edge = vec![NO_VERTEX; 3 * BLOCK_NODES];
                }
                let part = (from / (from - to)).clamp(INSET, 1.0 - INSET);
                let mut position = DVec3::ZERO;
                for a in 0..3 {
                    position[a] = lattice.coordinate(low[a] + node[a] as i64);
                }
                position[axis] += f64::from(part) * lattice.spacing;
                crossings.of_edge[3 * flat(node, BLOCK_EDGE) + axis] =
                    crossings.positions.len() as u16;
                crossings.positions.push(position);
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
        let case = (0..8).filter(|&c| values[flat(corner(c), PADDED_EDGE)] < 0.0);
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
