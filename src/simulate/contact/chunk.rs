//! The contacts of one chunk of elements, by where their partners stand.

use std::ops::Range;

use super::pair_list::{Memory, PairList};
use super::wall_list::WallEntry;
use crate::math::Scalar;

/// Partners from this number on are colliders.
pub const COLLIDER: u32 = 1 << 31;

/// What a contact remembers, to put back when a run continues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpringEntry<S> {
    /// Element.
    pub element: u32,
    /// Its partner, or [`COLLIDER`] plus the collider's index.
    pub partner: u32,
    /// Its springs.
    pub memory: Memory<S>,
}

/// Contacts of one chunk of elements.
#[derive(Clone, Debug, Default)]
pub struct ContactChunk<S> {
    /// Its elements.
    pub(super) elements: Range<usize>,
    /// Pairs with elements before the chunk, seen from the chunk's.
    pub before: PairList<S>,
    /// Pairs within the chunk, seen from the first of both.
    pub within: PairList<S>,
    /// Pairs with elements behind the chunk, seen from the chunk's.
    pub behind: PairList<S>,
    /// Elements near obstacles, in their order, then in that of the obstacles.
    pub walls: Vec<WallEntry<S>>,
}

impl<S: Scalar> ContactChunk<S> {
    pub(super) fn of(elements: Range<usize>) -> Self {
        ContactChunk {
            elements,
            ..ContactChunk::default()
        }
    }

    /// Whether nothing is listed.
    pub fn is_empty(&self) -> bool {
        self.lists().iter().all(|list| list.is_empty()) && self.walls.is_empty()
    }

    pub(super) fn lists(&self) -> [&PairList<S>; 3] {
        [&self.before, &self.within, &self.behind]
    }

    /// The list that holds a pair, and the pair as it is seen there; `own` is an element of the chunk.
    pub(super) fn list_of(&mut self, own: u32, partner: u32) -> (&mut PairList<S>, (u32, u32)) {
        match place(&self.elements, partner as usize) {
            Place::Before => (&mut self.before, (own, partner)),
            Place::Within => (&mut self.within, (own.min(partner), own.max(partner))),
            Place::Behind => (&mut self.behind, (own, partner)),
        }
    }

    /// Every entry as seen from the elements of the chunk: element, partner, what it remembers.
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
        let walls = self
            .walls
            .iter()
            .map(move |wall| side(wall.element, COLLIDER + wall.wall, wall.memory));
        listed.chain(mirrored).chain(walls)
    }
}

/// Where an element stands, seen from a chunk of elements.
pub(super) enum Place {
    /// Before it.
    Before,
    /// In it.
    Within,
    /// Behind it.
    Behind,
}

/// The place of an element, seen from a chunk.
pub(super) fn place(chunk: &Range<usize>, element: usize) -> Place {
    if element < chunk.start {
        Place::Before
    } else if element < chunk.end {
        Place::Within
    } else {
        Place::Behind
    }
}
