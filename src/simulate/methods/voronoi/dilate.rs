//! Contributions of faces to the dilation of their cells and to the folding of one-layer walls, chunk by
//! chunk.

use super::columns::field;
use super::crossing_pass::CrossingTask;
use super::face_pass::{FaceLanes, FaceTask};
use crate::math::{Lanes, Scalar};
use crate::simulate::bonded::bonds::BLOCK;

/// Sums over the faces of each cell of a chunk; buffers are reused from step to step.
#[derive(Debug, Default)]
pub struct DilationSums<S> {
    /// Sum of each cell; cells of other chunks share the last place.
    sums: Vec<S>,
    /// Contributions of the faces that a block of cells owns, by entry.
    block: Vec<S>,
}

impl<S: Scalar> DilationSums<S> {
    /// Sets the sums of `count` cells with `slots` slots each to zero.
    pub fn clear(&mut self, count: usize, slots: usize) {
        self.sums.clear();
        self.sums.resize(count + 1, S::default());
        self.block.resize(BLOCK * slots, S::default());
    }

    /// Sum of a cell of the chunk.
    #[inline(always)]
    pub fn get(&self, local: usize) -> S {
        self.sums[local]
    }

    /// Adds the contributions of owned faces to consecutive cells.
    #[inline(always)]
    fn add_owned<L: Lanes<Scalar = S>>(&mut self, local: usize, more: L) {
        let sum = L::load(&self.sums[local..]) + more;
        sum.store(&mut self.sums[local..]);
    }

    /// Adds the contributions of a block's faces to their other cells.
    #[inline(always)]
    fn scatter_block(&mut self, others: &[u32], first: usize, filled: u32) {
        let last = self.sums.len() - 1;
        for slot in 0..others.len() / BLOCK {
            if filled >> slot & 1 == 0 {
                continue;
            }
            let block = &self.block[slot * BLOCK..][..BLOCK];
            let others = &others[slot * BLOCK..][..BLOCK];
            for (k, other) in others.iter().enumerate() {
                let to = &mut self.sums[(*other as usize).wrapping_sub(first).min(last)];
                *to = *to + block[k];
            }
        }
    }

    /// Adds a lane each to these cells.
    #[inline(always)]
    fn scatter<L: Lanes<Scalar = S>>(&mut self, others: &[u32], first: usize, more: L) {
        let mut row = [S::default(); BLOCK];
        more.store(&mut row);
        for (lane, other) in others[..L::WIDTH].iter().enumerate() {
            let to = &mut self.sums[*other as usize - first];
            *to = *to + row[lane];
        }
    }
}

/// Adds each face's contribution to ε V of both of its cells, m³, and to Ω of the cells of one-layer walls,
/// m².
///
/// A cell gets the sum of the faces that it owns when its block is done. Then come faces owned by other cells
/// of its chunk, in their order, then faces owned by other chunks. The chunks, and so the order of additions,
/// do not depend on the number of threads.
pub struct DilationTask<'a, L: Lanes> {
    /// Σ of ε V.
    pub dilation: &'a mut DilationSums<L::Scalar>,
    /// Σ of Ω; not used where there are no walls.
    pub folding: &'a mut DilationSums<L::Scalar>,
    /// Other cell of each bond entry.
    pub others: &'a [u32],
    /// Slots of the bonds.
    pub slots: usize,
    /// First cell of the chunk.
    pub first: usize,
    /// Whether there are walls.
    pub walls: bool,
    /// Sums of the current row of cells so far.
    pub row: [L; 2],
}

impl<L: Lanes> DilationTask<'_, L> {
    /// Contributions of faces to the two sums.
    #[inline(always)]
    fn parts(&self, at: &FaceLanes<L>) -> [L; 2] {
        let (mask, half_area) = (L::mask(at.bits), at.rest.get::<L>(field::HALF_AREA));
        let dilation = crate::laws::cell::dilation(at.face, half_area);
        let mut parts = [L::select(mask, dilation, L::zero()), L::zero()];
        if let Some(fold) = at.fold() {
            parts[1] = L::select(mask, fold.angle * half_area, L::zero());
        }
        parts
    }
}

impl<L: Lanes> FaceTask<L> for DilationTask<'_, L> {
    const FIELDS: usize = field::DILATION_FIELDS;

    #[inline(always)]
    fn begin_row(&mut self) {
        self.row = [L::zero(); 2];
    }

    #[inline(always)]
    fn face(&mut self, at: &FaceLanes<L>) {
        let (parts, place) = (self.parts(at), at.place);
        self.row = [self.row[0] + parts[0], self.row[1] + parts[1]];
        parts[0].store(&mut self.dilation.block[place..]);
        if self.walls {
            parts[1].store(&mut self.folding.block[place..]);
        }
    }

    #[inline(always)]
    fn empty_slot(&mut self, place: usize) {
        L::zero().store(&mut self.dilation.block[place..]);
        if self.walls {
            L::zero().store(&mut self.folding.block[place..]);
        }
    }

    #[inline(always)]
    fn end_row(&mut self, local: usize) {
        self.dilation.add_owned(local, self.row[0]);
        if self.walls {
            self.folding.add_owned(local, self.row[1]);
        }
    }

    #[inline(always)]
    fn end_block(&mut self, local: usize, filled: u32) {
        let base = (self.first + local) * self.slots;
        let others = &self.others[base..base + self.slots * BLOCK];
        self.dilation.scatter_block(others, self.first, filled);
        if self.walls {
            self.folding.scatter_block(others, self.first, filled);
        }
    }
}

impl<L: Lanes> CrossingTask<L> for DilationTask<'_, L> {
    #[inline(always)]
    fn crossing(&mut self, at: &FaceLanes<L>) {
        let parts = self.parts(at);
        self.dilation.scatter(at.others, self.first, parts[0]);
        if self.walls {
            self.folding.scatter(at.others, self.first, parts[1]);
        }
    }
}
