//! Bond masks and lists without the bonds inside rigid pieces, the lists also without broken ones; passes read these
//! while there are rigid pieces.

use crate::math::Scalar;
use crate::simulate::bonded::bonds::{BLOCK, Bonds};

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
    /// Without the bonds that `within` marks.
    pub fn new<S: Scalar>(bonds: &Bonds<S>, within: Vec<u32>) -> Self {
        let active = cleared(bonds.intact(), &within);
        let (mut foreign_start, mut foreign) = (vec![0], Vec::new());
        for j in 0..active.len() {
            foreign.extend(bonds.foreign(j).iter().filter(|&&entry| {
                let (owner, slot) = bonds.place(entry as usize);
                active[owner] >> slot & 1 != 0
            }));
            foreign_start.push(foreign.len() as u32);
        }
        let blocks = active
            .chunks(BLOCK)
            .zip(foreign_start.windows(BLOCK + 1).step_by(BLOCK));
        let idle = blocks.map(|(own, start)| {
            let no_foreign = start[0] == start[BLOCK];
            no_foreign && own.iter().all(|&mask| mask == 0)
        });
        ActiveBonds {
            idle: idle.collect(),
            within,
            active,
            foreign_start,
            foreign,
        }
    }

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
fn cleared(masks: &[u32], left_out: &[u32]) -> Vec<u32> {
    let both = masks.iter().zip(left_out);
    both.map(|(mask, left_out)| mask & !left_out).collect()
}
