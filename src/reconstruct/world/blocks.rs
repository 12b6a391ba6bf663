//! Blocks of 8³ nodes where a fragment has elements, and the elements whose kernels reach each: memory
//! follows the fragment, not the box around it (Akinci et al. 2012; the blocks of splashsurf are larger).

use crate::parallel::prelude::*;

use super::field::{Ball, EDGE, LIMIT, Lattice, REACH};

/// Blocks beyond are not numbered: what has flown so far has no surface.
const FARTHEST: f64 = 1e9;
/// Marks an element near whose inside a block may have a part.
const NEAR: u32 = 1 << 31;

/// The blocks of a fragment.
#[derive(Debug)]
pub struct Blocks {
    /// Position of each block in blocks, ascending.
    keys: Vec<[i32; 3]>,
    /// Range of each block in `elements`.
    first: Vec<u32>,
    elements: Vec<u32>,
}

impl Blocks {
    /// Blocks that hold every inside node and all nodes next to one.
    pub fn new(lattice: Lattice, balls: &[Ball]) -> Self {
        let block_of = |x: f64| {
            let node = (x / lattice.spacing).floor();
            (node / EDGE as f64).floor().clamp(-FARTHEST, FARTHEST) as i32
        };
        let range = |ball: &Ball, reach: f64| {
            [0, 1, 2].map(|axis| {
                let x = ball.centre[axis];
                block_of(x - reach)..=block_of(x + reach)
            })
        };
        let touched = |element: u32| {
            let ball = &balls[element as usize];
            let near = range(ball, LIMIT * ball.radius + 1.01 * lattice.spacing);
            let [x, y, z] = range(
                ball,
                (REACH * ball.radius).max(LIMIT * ball.radius + 1.01 * lattice.spacing),
            );
            let mut pairs = Vec::new();
            for i in x {
                for j in y.clone() {
                    for k in z.clone() {
                        let key = [i, j, k];
                        let is_near = (0..3).all(|axis| near[axis].contains(&key[axis]));
                        pairs.push((key, element | if is_near { NEAR } else { 0 }));
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
        // Elements of a block in ascending order, so that blocks at a common node add them up alike.
        pairs.par_sort_by_key(|&(key, element)| (key, element & !NEAR));
        let mut blocks = Blocks {
            keys: Vec::new(),
            first: vec![0],
            elements: Vec::new(),
        };
        for block in pairs.chunk_by(|a, b| a.0 == b.0) {
            if block.iter().any(|pair| pair.1 & NEAR != 0) {
                blocks.keys.push(block[0].0);
                let elements = block.iter().map(|pair| pair.1 & !NEAR);
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
        self.keys[block].map(|k| i64::from(k) * EDGE as i64)
    }

    /// Elements whose kernels reach a block, ascending.
    pub fn elements(&self, block: usize) -> &[u32] {
        &self.elements[self.first[block] as usize..self.first[block + 1] as usize]
    }

    /// The blocks at the upper sides of a block, by the axes they are passed to along as bits: itself first.
    pub fn upward(&self, block: usize) -> [Option<usize>; 8] {
        std::array::from_fn(|side| {
            let key =
                std::array::from_fn(|axis| self.keys[block][axis] + (side >> axis & 1) as i32);
            self.keys.binary_search(&key).ok()
        })
    }
}
