//! Blocks of 8³ nodes around the elements of a fragment, with the elements whose kernels reach each block.
//! Memory scales with the fragment, not with its bounding box (Akinci et al. 2012; the blocks of splashsurf
//! are larger).

use crate::parallel::prelude::*;

use super::field::{BLOCK_EDGE, ElementBall, KERNEL_RADIUS, Lattice, MAX_INSIDE_DISTANCE};

/// Largest block index. Whatever has flown farther has no surface.
const MAX_BLOCK_INDEX: f64 = 1e9;
/// Marks an element that is so close to a block that the inside may reach into it.
const NEAR_FLAG: u32 = 1 << 31;

/// Blocks of a fragment.
#[derive(Debug)]
pub struct Blocks {
    /// Index of each block along the axes, in ascending order.
    keys: Vec<[i32; 3]>,
    /// First entry of each block in `elements`.
    first: Vec<u32>,
    elements: Vec<u32>,
}

impl Blocks {
    /// Builds the blocks that hold every inside node and all its neighbours.
    pub fn new(lattice: Lattice, balls: &[ElementBall]) -> Self {
        let block_of = |x: f64| {
            let node = (x / lattice.spacing).floor();
            (node / BLOCK_EDGE as f64)
                .floor()
                .clamp(-MAX_BLOCK_INDEX, MAX_BLOCK_INDEX) as i32
        };
        let range = |ball: &ElementBall, reach: f64| {
            [0, 1, 2].map(|axis| {
                let x = ball.centre[axis];
                block_of(x - reach)..=block_of(x + reach)
            })
        };
        let touched = |element: u32| {
            let ball = &balls[element as usize];
            let near = range(
                ball,
                MAX_INSIDE_DISTANCE * ball.radius + 1.01 * lattice.spacing,
            );
            let [x, y, z] = range(
                ball,
                (KERNEL_RADIUS * ball.radius)
                    .max(MAX_INSIDE_DISTANCE * ball.radius + 1.01 * lattice.spacing),
            );
            let mut pairs = Vec::new();
            for i in x {
                for j in y.clone() {
                    for k in z.clone() {
                        let key = [i, j, k];
                        let is_near = (0..3).all(|axis| near[axis].contains(&key[axis]));
                        pairs.push((key, element | if is_near { NEAR_FLAG } else { 0 }));
                    }
                }
            }
            pairs
        };
        let mut pairs: Vec<([i32; 3], u32)> = (0..balls.len() as u32)
            .into_par_iter()
            .with_min_len(256)
            .flat_map_iter(touched)
            .collect();
        // Sorts the elements of a block, so that blocks sum them in the same order at a common node.
        pairs.par_sort_by_key(|&(key, element)| (key, element & !NEAR_FLAG));
        let mut blocks = Blocks {
            keys: Vec::new(),
            first: vec![0],
            elements: Vec::new(),
        };
        for block in pairs.chunk_by(|a, b| a.0 == b.0) {
            if block.iter().any(|pair| pair.1 & NEAR_FLAG != 0) {
                blocks.keys.push(block[0].0);
                let elements = block.iter().map(|pair| pair.1 & !NEAR_FLAG);
                blocks.elements.extend(elements);
                blocks.first.push(blocks.elements.len() as u32);
            }
        }
        blocks
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Lowest node of a block.
    pub fn low(&self, block: usize) -> [i64; 3] {
        self.keys[block].map(|k| i64::from(k) * BLOCK_EDGE as i64)
    }

    /// Elements whose kernels reach a block, in ascending order.
    pub fn elements(&self, block: usize) -> &[u32] {
        &self.elements[self.first[block] as usize..self.first[block + 1] as usize]
    }

    /// The block itself and its seven upper neighbours. The bits of the index are the axes along which the
    /// neighbour lies one block higher.
    pub fn upper_blocks(&self, block: usize) -> [Option<usize>; 8] {
        std::array::from_fn(|side| {
            let key =
                std::array::from_fn(|axis| self.keys[block][axis] + (side >> axis & 1) as i32);
            self.keys.binary_search(&key).ok()
        })
    }
}
