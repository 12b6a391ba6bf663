//! Pairs of elements of which one is a polyhedron at least, and polyhedra near colliders, by chunk.

use std::ops::Range;

use glam::DVec3;

use crate::geometry::mesh_solid::Near;
use crate::geometry::polyhedron::Scratch;
use crate::laws::contact::ContactParameters;
use crate::laws::overlap::OverlapParameters;
use crate::simulate::contact::chunk::{COLLIDER, Place, place};

/// What a contact remembers; springs as the element with the lower number sees them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ShapeMemory {
    /// Tangential spring, m.
    pub spring: [f64; 3],
    /// Spring against rolling of a ball, rad.
    pub roll: [f64; 3],
    /// Overlap that pushes nothing: shared volume of two solids, m³; depth of a ball, m.
    pub allowed: f64,
}

impl ShapeMemory {
    /// Whether it remembers anything.
    pub fn is_any(&self) -> bool {
        *self != ShapeMemory::default()
    }
}

/// Parameters of a contact.
#[derive(Clone, Copy, Debug)]
pub enum Parameters {
    /// Of two polyhedra, or of one at a collider.
    Solids(OverlapParameters<f64>),
    /// Of a polyhedron and a ball of this radius, m, and its coefficient of rolling friction.
    Ball(ContactParameters<f64>, f64, f64),
}

/// A pair that may touch.
#[derive(Clone, Copy, Debug)]
pub struct ShapePair {
    /// Element that the pair is seen from.
    pub own: u32,
    /// The other.
    pub partner: u32,
    /// What does not change.
    pub parameters: Parameters,
    /// 1/m_i + 1/m_j, 1/kg.
    pub inverse_mass: f64,
    /// What it remembers.
    pub memory: ShapeMemory,
    /// Direction along which the second end lay beyond the first when they were last looked at, in the axes
    /// of the first at rest; zero where they overlapped.
    pub axis: DVec3,
}

impl ShapePair {
    /// Both ends, the lower number first.
    pub fn ends(&self) -> [usize; 2] {
        [self.own.min(self.partner), self.own.max(self.partner)].map(|end| end as usize)
    }
}

/// A polyhedron near a collider.
#[derive(Clone, Debug)]
pub struct ShapeWall {
    /// The element.
    pub element: u32,
    /// Index of the collider.
    pub wall: u32,
    /// What does not change.
    pub parameters: OverlapParameters<f64>,
    /// What it remembers.
    pub memory: ShapeMemory,
    /// Until element and collider may have neared so far (m) they cannot touch.
    pub quiet: f64,
    /// What of the collider is near it, where it is a mesh.
    pub near: Near,
}

/// A contact as a state keeps it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShapeEntry {
    /// Element; of a pair the lower number.
    pub element: u32,
    /// Its partner, or [`COLLIDER`] plus the collider's index.
    pub partner: u32,
    /// What it remembers.
    pub memory: ShapeMemory,
}

/// Contacts of polyhedra in one chunk of elements, listed as in
/// [`ContactChunk`](crate::simulate::contact::chunk::ContactChunk).
#[derive(Clone, Debug, Default)]
pub struct ShapeChunk {
    /// Its elements.
    pub elements: Range<usize>,
    /// Pairs with elements before the chunk, seen from the chunk's.
    pub before: Vec<ShapePair>,
    /// Pairs within the chunk, seen from the first of both.
    pub within: Vec<ShapePair>,
    /// Pairs with elements behind the chunk, seen from the chunk's.
    pub behind: Vec<ShapePair>,
    /// Polyhedra near colliders, in their order, then in that of the colliders.
    pub walls: Vec<ShapeWall>,
    /// Buffers.
    pub scratch: Scratch,
}

impl ShapeChunk {
    /// Of these elements, without contacts.
    pub fn of(elements: Range<usize>) -> Self {
        ShapeChunk {
            elements,
            ..ShapeChunk::default()
        }
    }

    /// Pairs listed here, those with other chunks included.
    pub fn pairs(&self) -> usize {
        self.before.len() + self.within.len() + self.behind.len()
    }

    /// Bytes that a pass over all contacts reads of the lists.
    pub fn bytes(&self) -> u64 {
        let walls = size_of_val(&self.walls[..]);
        (self.pairs() * size_of::<ShapePair>() + walls) as u64
    }

    /// The list that holds a pair, and the pair as it is seen there; `own` is an element of the chunk.
    pub fn list_of(&mut self, own: u32, partner: u32) -> (&mut Vec<ShapePair>, (u32, u32)) {
        match place(&self.elements, partner as usize) {
            Place::Before => (&mut self.before, (own, partner)),
            Place::Within => (&mut self.within, (own.min(partner), own.max(partner))),
            Place::Behind => (&mut self.behind, (own, partner)),
        }
    }

    /// Adds a pair that is not listed yet; `own` is an element of the chunk.
    pub fn insert(&mut self, pair: ShapePair) {
        let (list, (own, partner)) = self.list_of(pair.own, pair.partner);
        if let Err(at) = find(list, (own, partner)) {
            let pair = ShapePair {
                own,
                partner,
                ..pair
            };
            list.insert(at, pair);
        }
    }

    /// What the contacts of its elements remember, each pair at its lower end.
    pub fn entries(&self) -> impl Iterator<Item = ShapeEntry> {
        let pairs = self.within.iter().chain(&self.behind);
        let pairs = pairs.map(|pair| ShapeEntry {
            element: pair.own,
            partner: pair.partner,
            memory: pair.memory,
        });
        let walls = self.walls.iter().map(|wall| ShapeEntry {
            element: wall.element,
            partner: COLLIDER + wall.wall,
            memory: wall.memory,
        });
        pairs.chain(walls).filter(|entry| entry.memory.is_any())
    }

    /// Puts back what a contact of one of its elements remembers; whether it is listed.
    pub fn restore(&mut self, own: u32, partner: u32, memory: ShapeMemory) -> bool {
        if partner >= COLLIDER {
            let key = (own, partner - COLLIDER);
            let walls = &mut self.walls;
            let found = walls.binary_search_by_key(&key, |wall| (wall.element, wall.wall));
            return found.map(|at| walls[at].memory = memory).is_ok();
        }
        let (list, key) = self.list_of(own, partner);
        find(list, key).map(|at| list[at].memory = memory).is_ok()
    }
}

/// Where a pair stands in a list, or would stand.
pub fn find(list: &[ShapePair], key: (u32, u32)) -> Result<usize, usize> {
    list.binary_search_by_key(&key, |pair| (pair.own, pair.partner))
}
