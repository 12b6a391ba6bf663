//! Faces between two chunks of cells: the chunk of the cell that does not own a face evaluates it too, with
//! the same bits, so that no chunk waits for another.

use std::ops::Range;

use super::columns::Faces;
use crate::math::Scalar;
use crate::simulate::bonded::bonds::{BLOCK, Bonds};
use crate::simulate::bonded::system::System;

/// Faces of the cells of a chunk that cells of other chunks own, in the order in which the chunk's cells name
/// them; those within a rigid piece are left out.
#[derive(Clone, Debug)]
pub struct Crossings<S> {
    /// The faces; their entries here are places in this list.
    pub faces: Faces<S>,
    /// Cells that own them.
    pub owner: Vec<u32>,
    /// Cells of the chunk.
    pub other: Vec<u32>,
    /// Their entries in the bonds.
    entry: Vec<u32>,
    /// Bit k of block b set while the face 16 b + k is whole.
    whole: Vec<u32>,
}

impl<S: Scalar> Crossings<S> {
    /// Of every chunk.
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
                whole[at / BLOCK] |= u32::from(bonds.is_whole(entry as usize)) << (at % BLOCK);
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
            faces: faces.these(&entries),
            owner: owners,
            other: others,
            entry: entries,
            whole,
        }
    }

    /// Faces, filled up to whole blocks.
    pub fn len(&self) -> usize {
        self.entry.len()
    }

    /// Which of the faces from a place on are whole, a bit each.
    #[inline(always)]
    pub fn whole(&self, at: usize) -> u32 {
        self.whole[at / BLOCK] >> (at % BLOCK)
    }

    /// Takes a broken face out, if it stands here.
    pub fn unbond(&mut self, entry: u32) {
        if let Some(at) = self.entry.iter().position(|&e| e == entry) {
            self.whole[at / BLOCK] &= !(1 << (at % BLOCK));
        }
    }
}
