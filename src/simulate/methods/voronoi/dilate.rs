//! What faces add to the dilation of their cells, and to the folding of walls, chunk by chunk.

use super::between::Across;
use super::columns::field;
use super::face_pass::{FaceLanes, Task};
use crate::math::{Lanes, Scalar};
use crate::simulate::bonded::bonds::BLOCK;

/// Sums over the faces of each cell of a chunk, from step to step the same room.
#[derive(Debug, Default)]
pub struct Sums<S> {
    /// By cell; cells of other chunks share the last.
    of: Vec<S>,
    /// What the faces that a block of cells owns add, by entry.
    block: Vec<S>,
}

impl<S: Scalar> Sums<S> {
    /// Begins anew, for so many cells with so many slots each.
    pub fn clear(&mut self, count: usize, slots: usize) {
        self.of.clear();
        self.of.resize(count + 1, S::default());
        self.block.resize(BLOCK * slots, S::default());
    }

    /// Sum of a cell of the chunk.
    #[inline(always)]
    pub fn get(&self, local: usize) -> S {
        self.of[local]
    }

    /// Adds to a row of cells what the faces that they own add.
    #[inline(always)]
    fn own<L: Lanes<Scalar = S>>(&mut self, local: usize, more: L) {
        let sum = L::load(&self.of[local..]) + more;
        sum.store(&mut self.of[local..]);
    }

    /// Adds what the faces that a block owns add to their other cells.
    #[inline(always)]
    fn hand_on(&mut self, others: &[u32], first: usize, filled: u32) {
        let last = self.of.len() - 1;
        for slot in 0..others.len() / BLOCK {
            if filled >> slot & 1 == 0 {
                continue;
            }
            let block = &self.block[slot * BLOCK..][..BLOCK];
            let others = &others[slot * BLOCK..][..BLOCK];
            for (k, other) in others.iter().enumerate() {
                let to = &mut self.of[(*other as usize).wrapping_sub(first).min(last)];
                *to = *to + block[k];
            }
        }
    }

    /// Adds a row of numbers to these cells.
    #[inline(always)]
    fn each<L: Lanes<Scalar = S>>(&mut self, others: &[u32], first: usize, more: L) {
        let mut row = [S::default(); BLOCK];
        more.store(&mut row);
        for (lane, other) in others[..L::WIDTH].iter().enumerate() {
            let to = &mut self.of[*other as usize - first];
            *to = *to + row[lane];
        }
    }
}

/// What each face adds to ε V of both of its cells, m³, and to Ω of those of walls, m².
///
/// A cell has the sum of the faces that it owns added when its block of cells is done, those of cells of its
/// chunk in the order of these, then those of other chunks: chunks do not depend on the number of threads.
pub struct Dilate<'a, L: Lanes> {
    /// Σ of ε V.
    pub dilation: &'a mut Sums<L::Scalar>,
    /// Σ of Ω; not used where there are no walls.
    pub folding: &'a mut Sums<L::Scalar>,
    /// Other cells of the bonds' entries.
    pub others: &'a [u32],
    /// Slots of bonds.
    pub slots: usize,
    /// First cell of the chunk.
    pub first: usize,
    /// Whether there are walls.
    pub walls: bool,
    /// What the faces of the row add so far.
    pub row: [L; 2],
}

impl<L: Lanes> Dilate<'_, L> {
    /// What faces add to both sums.
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

impl<L: Lanes> Task<L> for Dilate<'_, L> {
    const FIELDS: usize = field::OF_DILATION;

    #[inline(always)]
    fn begin(&mut self) {
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
    fn none(&mut self, place: usize) {
        L::zero().store(&mut self.dilation.block[place..]);
        if self.walls {
            L::zero().store(&mut self.folding.block[place..]);
        }
    }

    #[inline(always)]
    fn end(&mut self, local: usize) {
        self.dilation.own(local, self.row[0]);
        if self.walls {
            self.folding.own(local, self.row[1]);
        }
    }

    #[inline(always)]
    fn block(&mut self, local: usize, filled: u32) {
        let base = (self.first + local) * self.slots;
        let others = &self.others[base..base + self.slots * BLOCK];
        self.dilation.hand_on(others, self.first, filled);
        if self.walls {
            self.folding.hand_on(others, self.first, filled);
        }
    }
}

impl<L: Lanes> Across<L> for Dilate<'_, L> {
    #[inline(always)]
    fn across(&mut self, at: &FaceLanes<L>) {
        let parts = self.parts(at);
        self.dilation.each(at.others, self.first, parts[0]);
        if self.walls {
            self.folding.each(at.others, self.first, parts[1]);
        }
    }
}
