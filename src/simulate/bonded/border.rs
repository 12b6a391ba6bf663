//! Bonds that end at a chunk's elements and are owned by the other end: the rest data of those that other chunks own,
//! and the rows from which each element adds up its loads.

use crate::math::Scalar;
use crate::simulate::bonded::bonds::{BLOCK, Bonds};
use crate::simulate::bonded::owned::OwnedChunks;
use crate::simulate::bonded::system::System;

/// Elements that add up their rows side by side, a divisor of [`BLOCK`].
pub(super) const GROUP: usize = 4;

/// Bonds that end at a chunk's elements and are owned by the other end, in the order in which the elements add them
/// up. While there are rigid pieces, bonds inside one and bonds that were broken when this was built are left out. It
/// must be rebuilt when the mask of rigid elements changes.
#[derive(Clone, Debug, Default)]
pub struct Border<S> {
    /// Entries of the bonds owned by elements of other chunks, padded to whole blocks.
    pub(super) entry: Vec<u32>,
    /// Owners of the bonds.
    pub(super) owner: Vec<u32>,
    /// Elements of the chunk at their other ends.
    pub(super) other: Vec<u32>,
    /// Rest directions, pointing away from the owners.
    pub(super) direction: [Vec<S>; 3],
    /// Bit k of block b is set while bond 16 b + k is intact.
    pub(super) whole: Vec<u32>,
    /// Rows of the loads on the chunk's elements by bonds that their other ends own, in the order in which the
    /// elements add them up: first the rows of the chunk's own entries, then those of the border, then a row of
    /// zeros, which fills up the lists of elements with fewer such bonds than others of their group. Empty if idle.
    pub(super) rows: Vec<[u32; GROUP]>,
    /// For each group of elements of the chunk, the end of its range in `rows`. Empty if idle.
    pub(super) row_ends: Vec<u32>,
    /// Whether no bond of the chunk's elements was active when this was built.
    pub(super) is_idle: bool,
}

impl<S: Scalar> Border<S> {
    /// Borders of all chunks; those that this process does not compute stay empty.
    pub fn all(system: &System<S>, owned: &OwnedChunks) -> Vec<Self> {
        let (bonds, padded, chunk) = (&system.bonds, system.motion.len(), system.chunk);
        let border = |(at, first): (usize, usize)| match owned.contains(at) {
            true => Self::new(bonds, first..(first + chunk).min(padded)),
            false => Border::default(),
        };
        (0..padded).step_by(chunk).enumerate().map(border).collect()
    }

    fn new(bonds: &Bonds<S>, chunk: std::ops::Range<usize>) -> Self {
        let (active, foreign) = (bonds.active(), bonds.active_foreign());
        let (base, owned) = (chunk.start * bonds.slots, chunk.len() * bonds.slots);
        let mut border = Border::default();
        // The rows of each element, one element after the other, and where they end.
        let (mut rows, mut ends) = (Vec::new(), Vec::with_capacity(chunk.len()));
        for element in chunk.clone() {
            for &entry in foreign.of(element) {
                let (owner, _) = bonds.place(entry as usize);
                if chunk.contains(&owner) {
                    rows.push((entry as usize - base) as u32);
                    continue;
                }
                rows.push((owned + border.entry.len()) as u32);
                border.push(bonds, (entry, owner as u32, element as u32));
            }
            ends.push(rows.len());
        }
        let filled = border.entry.len().next_multiple_of(BLOCK);
        for column in [&mut border.entry, &mut border.owner, &mut border.other] {
            column.resize(filled, column.first().copied().unwrap_or_default());
        }
        for column in &mut border.direction {
            column.resize(filled, column.first().copied().unwrap_or_default());
        }
        let mut masks = active[chunk].iter().chain(&border.whole);
        border.is_idle = masks.all(|&mask| mask == 0);
        if !border.is_idle {
            border.arrange(&rows, &ends, (owned + filled) as u32);
        }
        border
    }

    /// Appends a bond with this entry and owner that ends at an element of the chunk.
    fn push(&mut self, bonds: &Bonds<S>, (entry, owner, element): (u32, u32, u32)) {
        let lane = self.entry.len() % BLOCK;
        if lane == 0 {
            self.whole.push(0);
        }
        if bonds.is_intact(entry as usize) {
            *self.whole.last_mut().expect("just pushed") |= 1 << lane;
        }
        self.entry.push(entry);
        self.owner.push(owner);
        self.other.push(element);
        for (to, from) in self.direction.iter_mut().zip(&bonds.direction) {
            to.push(from[entry as usize]);
        }
    }

    /// Stores the rows of each element, which end at `ends`, group by group; `zeros` is the row of zeros.
    fn arrange(&mut self, rows: &[u32], ends: &[usize], zeros: u32) {
        let mut start = 0;
        for group in ends.chunks(GROUP) {
            let lists: [&[u32]; GROUP] = std::array::from_fn(|k| match group.get(k) {
                Some(&end) => &rows[std::mem::replace(&mut start, end)..end],
                None => &[],
            });
            let longest = lists
                .iter()
                .map(|list| list.len())
                .max()
                .unwrap_or_default();
            for at in 0..longest {
                let row = |list: &[u32]| list.get(at).copied().unwrap_or(zeros);
                self.rows.push(lists.map(row));
            }
            self.row_ends.push(self.rows.len() as u32);
        }
    }

    /// Rows that the elements of a group add up.
    #[inline(always)]
    pub(super) fn rows_of(&self, group: usize) -> &[[u32; GROUP]] {
        let start = if group == 0 {
            0
        } else {
            self.row_ends[group - 1]
        };
        &self.rows[start as usize..self.row_ends[group] as usize]
    }

    /// Removes a broken bond if it is listed here.
    pub fn unbond(&mut self, entry: u32) {
        if let Some(at) = self.entry.iter().position(|&e| e == entry) {
            self.whole[at / BLOCK] &= !(1 << (at % BLOCK));
        }
    }

    /// Bytes of it that a pass reads.
    pub fn bytes(&self) -> u64 {
        let border = (12 + 3 * size_of::<S>()) * self.entry.len() + 4 * self.whole.len();
        (border + 4 * (GROUP * self.rows.len() + self.row_ends.len())) as u64
    }
}
