//! Sums of rows of eight numbers over the faces of each cell of a chunk.

use crate::math::lanes::LaneRow;
use crate::math::{Lanes, Scalar};
use crate::simulate::bonded::bonds::BLOCK;

/// The sums, and the contributions of one block of cells to the other cells of their faces; buffers are
/// reused from step to step.
#[derive(Debug, Default)]
pub struct RowSums<S> {
    /// Sum of each cell; cells of other chunks share the last place.
    sums: Vec<LaneRow<S, 8>>,
    /// Contributions by entry of the block.
    block: Vec<LaneRow<S, 8>>,
}

/// Adds a row to another.
#[inline(always)]
fn add<S: Scalar>(to: &mut LaneRow<S, 8>, more: &LaneRow<S, 8>) {
    for (k, to) in to.0.iter_mut().enumerate() {
        *to = *to + more.0[k];
    }
}

impl<S: Scalar> RowSums<S> {
    /// Sets the sums of `count` cells with `slots` slots each to zero.
    pub fn clear(&mut self, count: usize, slots: usize) {
        self.sums.clear();
        self.sums.resize(count + 1, LaneRow::default());
        self.block.resize(BLOCK * slots, LaneRow::default());
    }

    /// Sum of a cell of the chunk.
    #[inline(always)]
    pub fn get(&self, local: usize) -> &[S; 8] {
        &self.sums[local].0
    }

    /// Adds rows to consecutive cells.
    #[inline(always)]
    pub fn add_owned<L: Lanes<Scalar = S>>(&mut self, local: usize, more: [L; 8]) {
        let to = &mut self.sums[local..];
        let mut sum: [L; 8] = L::load_rows(to);
        for (k, sum) in sum.iter_mut().enumerate() {
            *sum = *sum + more[k];
        }
        L::store_rows(sum, to);
    }

    /// Stores the contributions of faces to their other cells, by place in the block.
    #[inline(always)]
    pub fn store_other<L: Lanes<Scalar = S>>(&mut self, place: usize, more: [L; 8]) {
        L::store_rows(more, &mut self.block[place..]);
    }

    /// Adds the stored contributions to the other cells of a block, whose chunk begins with cell `first`.
    #[inline(always)]
    pub fn scatter_block(&mut self, others: &[u32], first: usize, filled: u32) {
        let last = self.sums.len() - 1;
        for slot in 0..others.len() / BLOCK {
            if filled >> slot & 1 == 0 {
                continue;
            }
            let block = &self.block[slot * BLOCK..][..BLOCK];
            let others = &others[slot * BLOCK..][..BLOCK];
            for (k, other) in others.iter().enumerate() {
                let to = (*other as usize).wrapping_sub(first).min(last);
                add(&mut self.sums[to], &block[k]);
            }
        }
    }

    /// Adds a lane each to these cells.
    #[inline(always)]
    pub fn scatter<L: Lanes<Scalar = S>>(&mut self, others: &[u32], first: usize, more: [L; 8]) {
        let mut rows = [LaneRow::default(); BLOCK];
        L::store_rows(more, &mut rows);
        for (lane, other) in others[..L::WIDTH].iter().enumerate() {
            add(&mut self.sums[*other as usize - first], &rows[lane]);
        }
    }
}
