//! The history of listed contacts: springs, and allowed overlaps of polyhedra.

use super::chunk::{COLLIDER, SpringEntry};
use super::lists::Contacts;
use super::polyhedra::list::{ShapeChunk, ShapeEntry};
use crate::math::Scalar;

impl<S: Scalar> Contacts<S> {
    /// Nonzero springs, sorted by element and partner.
    pub fn springs(&self) -> Vec<SpringEntry<S>> {
        let mut out = Vec::new();
        for chunk in &self.chunks {
            let from = out.len();
            out.extend(chunk.sides().filter(|side| side.memory.is_any()));
            out[from..].sort_unstable_by_key(|side| (side.element, side.partner));
        }
        out
    }

    /// Springs and allowed overlaps of the contacts of polyhedra, sorted by element and partner.
    pub fn shape_entries(&self) -> Vec<ShapeEntry> {
        let entries = self.solids.iter().flat_map(ShapeChunk::entries);
        let mut entries: Vec<ShapeEntry> = entries.collect();
        entries.sort_unstable_by_key(|entry| (entry.element, entry.partner));
        entries
    }

    /// Restores springs and allowed overlaps of polyhedra; returns the number of entries without a listed
    /// contact.
    pub fn restore_shapes(&mut self, entries: &[ShapeEntry]) -> usize {
        let mut lost = 0;
        for entry in entries {
            let ends = [
                (entry.element, entry.partner),
                (entry.partner, entry.element),
            ];
            for (own, partner) in ends.into_iter().filter(|(own, _)| *own < COLLIDER) {
                let chunk = self.solids.get_mut(own as usize / self.chunk);
                let found = chunk.is_some_and(|chunk| chunk.restore(own, partner, entry.memory));
                lost += usize::from(!found);
            }
        }
        lost
    }

    /// Restores springs; returns the number of entries without a listed pair. Those of chunks that are not listed are
    /// left out.
    pub fn restore_springs(&mut self, springs: &[SpringEntry<S>]) -> usize {
        let mut lost = 0;
        for entry in springs {
            let chunk = entry.element as usize / self.chunk;
            if !self.owned.contains(chunk) {
                continue;
            }
            lost += match self.chunks.get_mut(chunk) {
                Some(lists) => usize::from(!lists.restore(entry)),
                None => 1,
            };
        }
        lost
    }
}
