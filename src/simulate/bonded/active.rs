//! Bond masks and lists without the bonds inside rigid pieces, the lists also without broken ones; passes read these
//! while there are rigid pieces.

/// The bonds of a system, without those inside a rigid piece.
#[derive(Clone, Debug)]
pub(super) struct ActiveBonds {
    /// Bit s of element i is set if both ends of the bond in its slot s belong to one rigid piece.
    pub within: Vec<u32>,
    /// Bit s of element i is set if the bond in its slot s is intact and not `within`.
    pub active: Vec<u32>,
    /// Start of each element's range in `foreign`; one more entry than elements.
    pub foreign_start: Vec<u32>,
    /// Entries of the bonds that end at each element but are owned by the other end, and were active when
    /// this was made.
    pub foreign: Vec<u32>,
    /// Whether each block of elements had no active bond when this was made: passes skip it.
    pub idle: Vec<bool>,
}

impl ActiveBonds {
    /// Number of active bonds.
    pub fn count(&self) -> usize {
        let counts = self.active.iter().map(|mask| mask.count_ones() as usize);
        counts.sum()
    }
}

/// For each element, the entries of the bonds that end there but are owned by the other end.
#[derive(Clone, Copy, Debug)]
pub struct ForeignBonds<'a> {
    pub(super) start: &'a [u32],
    pub(super) entries: &'a [u32],
}

impl<'a> ForeignBonds<'a> {
    /// Entries for one element, in the order of the packing.
    #[inline(always)]
    pub fn of(&self, element: usize) -> &'a [u32] {
        &self.entries[self.start[element] as usize..self.start[element + 1] as usize]
    }
}

/// The masks with the bits of `left_out` cleared, element by element.
pub(super) fn cleared(masks: &[u32], left_out: &[u32]) -> Vec<u32> {
    let both = masks.iter().zip(left_out);
    both.map(|(mask, left_out)| mask & !left_out).collect()
}

/// The masks of intact bonds, of which only the held ones stay; nothing is written where none is held.
pub(super) fn held_masks(whole: &[u32], held: &[u32]) -> Vec<u32> {
    let mut masks = vec![0; whole.len()];
    for ((mask, whole), held) in masks.iter_mut().zip(whole).zip(held) {
        if *held != 0 {
            *mask = whole & held;
        }
    }
    masks
}
