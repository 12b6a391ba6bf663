//! The contacts of one chunk of elements, sorted by the chunk of the partners.

use std::ops::Range;

use super::collider_list::ColliderContact;
use super::pair_list::{Memory, PairList};
use crate::math::Scalar;

/// Partner numbers from here on denote colliders.
pub const COLLIDER: u32 = 1 << 31;

/// History of a contact, stored to be restored when a run continues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpringEntry<S> {
    /// Element.
    pub element: u32,
    /// Partner, or [`COLLIDER`] plus the collider's index.
    pub partner: u32,
    /// History of the contact.
    pub memory: Memory<S>,
}

/// Contacts of one chunk of elements.
#[derive(Clone, Debug, Default)]
pub struct ContactChunk<S> {
    /// Elements of the chunk.
    pub(super) elements: Range<usize>,
    /// Pairs with elements of earlier chunks, seen from this chunk.
    pub before: PairList<S>,
    /// Pairs inside the chunk, seen from the lower element.
    pub within: PairList<S>,
    /// Pairs with elements of later chunks, seen from this chunk.
    pub behind: PairList<S>,
    /// Elements near colliders, sorted by element, then by collider.
    pub near_colliders: Vec<ColliderContact<S>>,
}

impl<S: Scalar> ContactChunk<S> {
    pub(super) fn of(elements: Range<usize>) -> Self {
        ContactChunk {
            elements,
            ..ContactChunk::default()
        }
    }

    /// Whether no contact is listed.
    pub fn is_empty(&self) -> bool {
        self.lists().iter().all(|list| list.is_empty()) && self.near_colliders.is_empty()
    }

    /// Whether pairs have static friction.
    pub(super) fn has_static_friction(&self) -> bool {
        self.lists()
            .iter()
            .any(|list| list.static_columns().is_some())
    }

    pub(super) fn lists(&self) -> [&PairList<S>; 3] {
        [&self.before, &self.within, &self.behind]
    }

    /// The list of a pair, and the pair as ordered there; `own` is an element of the chunk.
    pub(super) fn list_of(&mut self, own: u32, partner: u32) -> (&mut PairList<S>, (u32, u32)) {
        match chunk_side(&self.elements, partner as usize) {
            ChunkSide::Before => (&mut self.before, (own, partner)),
            ChunkSide::Within => (&mut self.within, (own.min(partner), own.max(partner))),
            ChunkSide::Behind => (&mut self.behind, (own, partner)),
        }
    }

    /// Restores a spring; returns whether its contact is listed.
    pub(super) fn restore(&mut self, entry: &SpringEntry<S>) -> bool {
        if entry.partner >= COLLIDER {
            let key = (entry.element, entry.partner - COLLIDER);
            let found = self
                .near_colliders
                .binary_search_by_key(&key, |wall| (wall.element, wall.collider));
            let Ok(at) = found else {
                return false;
            };
            let wall = &mut self.near_colliders[at];
            (wall.memory, wall.clear_until) = (entry.memory, 0.0);
            wall.memory.slides &= wall.has_static_friction();
            return true;
        }
        let (list, key) = self.list_of(entry.element, entry.partner);
        let Ok(at) = list.find(key) else {
            return false;
        };
        // Seen from the other end a spring has the opposite sign; only signs of zeros differ.
        if key.0 == entry.element {
            list.set_memory(at, entry.memory);
        }
        true
    }

    /// The springs of every contact, seen from each element of the chunk.
    pub(super) fn sides(&self) -> impl Iterator<Item = SpringEntry<S>> {
        let side = |element, partner, memory| SpringEntry {
            element,
            partner,
            memory,
        };
        let listed = self.lists().into_iter().flat_map(move |list| {
            (0..list.len()).map(move |at| side(list.own[at], list.partner[at], list.memory(at)))
        });
        let within = &self.within;
        let mirrored = (0..within.len()).map(move |at| {
            let opposite = within.memory(at).mirrored();
            side(within.partner[at], within.own[at], opposite)
        });
        let at_colliders = self
            .near_colliders
            .iter()
            .map(move |wall| side(wall.element, COLLIDER + wall.collider, wall.memory));
        listed.chain(mirrored).chain(at_colliders)
    }
}

/// Position of an element relative to a chunk.
pub(super) enum ChunkSide {
    /// In an earlier chunk.
    Before,
    /// In the chunk.
    Within,
    /// In a later chunk.
    Behind,
}

/// Position of an element relative to a chunk.
pub(super) fn chunk_side(chunk: &Range<usize>, element: usize) -> ChunkSide {
    if element < chunk.start {
        ChunkSide::Before
    } else if element < chunk.end {
        ChunkSide::Within
    } else {
        ChunkSide::Behind
    }
}
