//! The history of listed contacts: springs, and allowed overlaps of polyhedra.

use super::chunk::{COLLIDER, SpringEntry};
use super::lists::Contacts;
use super::pair_list::Memory;
use super::polyhedra::list::{ShapeChunk, ShapeEntry};
use crate::math::Scalar;
use crate::simulate::bonded::owned::OwnedChunks;

impl<S: Scalar> Contacts<S> {
    /// Nonzero springs, sorted by element and partner.
    pub fn springs(&self) -> Vec<SpringEntry<S>> {
        self.springs_of(&OwnedChunks::default())
    }

    /// Nonzero springs of these chunks, sorted by element and partner.
    pub fn springs_of(&self, owned: &OwnedChunks) -> Vec<SpringEntry<S>> {
        let mut out = Vec::new();
        let chunks = self.chunks.iter().enumerate();
        for (_, chunk) in chunks.filter(|(at, _)| owned.contains(*at)) {
            let from = out.len();
            out.extend(chunk.sides().filter(|side| side.memory.is_any()));
            out[from..].sort_unstable_by_key(|side| (side.element, side.partner));
        }
        out
    }

    /// Replaces all springs, except those of the chunks `owned`, by those among these.
    pub fn replace_springs(&mut self, springs: &[SpringEntry<S>], owned: &OwnedChunks) {
        for (at, chunk) in self.chunks.iter_mut().enumerate() {
            if owned.contains(at) {
                continue;
            }
            for list in [&mut chunk.before, &mut chunk.within, &mut chunk.behind] {
                (0..list.len()).for_each(|at| list.set_memory(at, Memory::default()));
            }
            for wall in &mut chunk.near_colliders {
                (wall.memory, wall.clear_until) = (Memory::default(), 0.0);
            }
        }
        for entry in springs {
            let at = entry.element as usize / self.chunk;
            if !owned.contains(at) {
                self.chunks[at].restore(entry);
            }
        }
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
