//! Faces between two chunks of cells: the chunk that does not own a face evaluates it too, with the same
//! bits, so that no chunk waits for another.

use std::ops::Range;

use super::columns::Faces;
use crate::math::Scalar;
use crate::simulate::bonded::bonds::{BLOCK, Bonds};
use crate::simulate::bonded::system::System;

/// Faces of a chunk's cells that cells of other chunks own, in the order of the chunk's cells. While there are
/// rigid pieces, faces within one and faces that were broken when this was built are left out.
#[derive(Clone, Debug)]
pub struct Crossings<S> {
    /// The faces; their entries are indices of this list.
    pub faces: Faces<S>,
    /// Owner of each face, a cell of another chunk.
    pub owner: Vec<u32>,
    /// Other cell of each face, a cell of this chunk.
    pub other: Vec<u32>,
    /// Entry of each face in the bonds.
    entry: Vec<u32>,
    /// Bit k of block b is set while face 16 b + k is intact.
    whole: Vec<u32>,
}

impl<S: Scalar> Crossings<S> {
    /// The crossing faces of every chunk.
    pub fn all(system: &System<S>, faces: &Faces<S>) -> Vec<Self> {
        let (bonds, padded, chunk) = (&system.bonds, system.motion.len(), system.chunk);
        (0..padded)
            .step_by(chunk)
            .map(|first| Self::new(bonds, faces, first..(first + chunk).min(padded)))
            .collect()
    }

    fn new(bonds: &Bonds<S>, faces: &Faces<S>, chunk: Range<usize>) -> Self {
        let foreign = bonds.active_foreign();
        let (mut entries, mut owners, mut others) = (Vec::new(), Vec::new(), Vec::new());
        let mut whole = Vec::new();
        for cell in chunk.clone() {
            for &entry in foreign.of(cell) {
                let (owner, _) = bonds.place(entry as usize);
                if chunk.contains(&owner) {
                    continue;
                }
                let at = entries.len();
                if at.is_multiple_of(BLOCK) {
                    whole.push(0);
                }
                whole[at / BLOCK] |= u32::from(bonds.is_intact(entry as usize)) << (at % BLOCK);
                entries.push(entry);
                owners.push(owner as u32);
                others.push(cell as u32);
            }
        }
        let filled = entries.len().next_multiple_of(BLOCK);
        for column in [&mut entries, &mut owners, &mut others] {
            column.resize(filled, column.first().copied().unwrap_or_default());
        }
        Crossings {
            faces: faces.gather(&entries),
            owner: owners,
            other: others,
            entry: entries,
            whole,
        }
    }

    /// Number of faces, padded to whole blocks.
    pub fn len(&self) -> usize {
        self.entry.len()
    }

    /// Bit mask of the intact faces from index `at` on.
    #[inline(always)]
    pub fn whole(&self, at: usize) -> u32 {
        self.whole[at / BLOCK] >> (at % BLOCK)
    }

    /// Removes a broken face if it is in this list.
    pub fn unbond(&mut self, entry: u32) {
        if let Some(at) = self.entry.iter().position(|&e| e == entry) {
            self.whole[at / BLOCK] &= !(1 << (at % BLOCK));
        }
    }
}
