//! What passes over bonds read while there are rigid pieces: masks and lists without the bonds within a piece.

/// The bonds of a system without those within a rigid piece.
#[derive(Clone, Debug)]
pub(super) struct Reduced {
    /// Bit s of element i set where both ends of the bond in its slot s belong to one rigid piece.
    pub within: Vec<u32>,
    /// The same for whole bonds that are not `within`.
    pub active: Vec<u32>,
    /// Where each element's part of `foreign` begins; one more than there are elements.
    pub foreign_start: Vec<u32>,
    /// Entries of the bonds that end at an element and are owned by the other end, without those `within`.
    pub foreign: Vec<u32>,
}

impl Reduced {
    /// Number of active bonds.
    pub fn count(&self) -> usize {
        let counts = self.active.iter().map(|mask| mask.count_ones() as usize);
        counts.sum()
    }
}

/// For each element the entries of bonds that end there and are owned by the other end.
#[derive(Clone, Copy, Debug)]
pub struct Foreign<'a> {
    pub(super) start: &'a [u32],
    pub(super) entries: &'a [u32],
}

impl<'a> Foreign<'a> {
    /// Those of an element, in the order of the packing.
    #[inline(always)]
    pub fn of(&self, element: usize) -> &'a [u32] {
        &self.entries[self.start[element] as usize..self.start[element + 1] as usize]
    }
}

/// The bits of each mask that are not in the mask at the same place in `left_out`.
pub(super) fn without(masks: &[u32], left_out: &[u32]) -> Vec<u32> {
    let both = masks.iter().zip(left_out);
    both.map(|(mask, left_out)| mask & !left_out).collect()
}
