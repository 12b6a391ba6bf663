//! Lists of pairs with at least one polyhedron, and of polyhedra near colliders, by chunk.

use std::ops::Range;

use glam::DVec3;

use crate::geometry::mesh_solid::NearTriangles;
use crate::geometry::polyhedron::OverlapScratch;
use crate::laws::overlap::OverlapParameters;
use crate::simulate::contact::chunk::{COLLIDER, ChunkSide, chunk_side};
use crate::simulate::contact::properties::ContactProperties;

/// History of a contact; springs are seen from the element with the lower number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ShapeMemory {
    /// Tangential spring, m.
    pub spring: [f64; 3],
    /// Rolling spring of a ball, rad.
    pub roll: [f64; 3],
    /// Overlap that exerts no force: shared volume of two solids, m³; depth of a ball, m.
    pub allowed: f64,
    /// Whether the contact slides; only with static friction.
    pub slides: bool,
}

impl ShapeMemory {
    /// Whether anything is stored.
    pub fn is_any(&self) -> bool {
        *self != ShapeMemory::default()
    }
}

/// Parameters of a contact with a polyhedron.
#[derive(Clone, Copy, Debug)]
pub enum Parameters {
    /// Two polyhedra, or one at a collider.
    Solids(OverlapParameters<f64>),
    /// A polyhedron and a ball, with the radius of the ball, m.
    Ball(ContactProperties<f64>, f64),
}

/// A pair with a polyhedron that may touch.
#[derive(Clone, Copy, Debug)]
pub struct ShapePair {
    /// Element that the pair is seen from.
    pub own: u32,
    /// Other element.
    pub partner: u32,
    /// Contact parameters.
    pub parameters: Parameters,
    /// 1/m_i + 1/m_j, 1/kg.
    pub inverse_mass: f64,
    /// What it remembers.
    pub memory: ShapeMemory,
    /// Direction along which the second element was last found to lie beyond the first, in the rest axes of
    /// the first; zero if they overlapped.
    pub axis: DVec3,
}

impl ShapePair {
    /// Both elements, the lower number first.
    pub fn ends(&self) -> [usize; 2] {
        [self.own.min(self.partner), self.own.max(self.partner)].map(|end| end as usize)
    }
}

/// A polyhedron near a collider.
#[derive(Clone, Debug)]
pub struct ShapeColliderContact {
    /// The element.
    pub element: u32,
    /// Index of the collider.
    pub collider: u32,
    /// Contact parameters.
    pub parameters: OverlapParameters<f64>,
    /// What it remembers.
    pub memory: ShapeMemory,
    /// They cannot touch until element and collider may have approached by this distance, m.
    pub clear_until: f64,
    /// Nearest triangles of the collider, if it is a mesh.
    pub near: NearTriangles,
}

/// History of a contact as stored in a state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShapeEntry {
    /// Element; for a pair the one with the lower number.
    pub element: u32,
    /// Partner, or [`COLLIDER`] plus the collider's index.
    pub partner: u32,
    /// What it remembers.
    pub memory: ShapeMemory,
}

/// Contacts of polyhedra in one chunk of elements, listed as in
/// [`ContactChunk`](crate::simulate::contact::chunk::ContactChunk).
#[derive(Clone, Debug, Default)]
pub struct ShapeChunk {
    /// Elements of the chunk.
    pub elements: Range<usize>,
    /// Pairs with elements of earlier chunks, seen from this chunk.
    pub before: Vec<ShapePair>,
    /// Pairs inside the chunk, seen from the lower element.
    pub within: Vec<ShapePair>,
    /// Pairs with elements of later chunks, seen from this chunk.
    pub behind: Vec<ShapePair>,
    /// Polyhedra near colliders, sorted by element, then by collider.
    pub near_colliders: Vec<ShapeColliderContact>,
    /// Scratch buffers of the overlap.
    pub scratch: OverlapScratch,
}

impl ShapeChunk {
    /// A chunk of these elements, without contacts.
    pub fn of(elements: Range<usize>) -> Self {
        ShapeChunk {
            elements,
            ..ShapeChunk::default()
        }
    }

    /// Number of pairs listed here, including those with other chunks.
    pub fn pairs(&self) -> usize {
        self.before.len() + self.within.len() + self.behind.len()
    }

    /// Bytes of the lists that a pass over all contacts reads.
    pub fn bytes(&self) -> u64 {
        let near_colliders = size_of_val(&self.near_colliders[..]);
        (self.pairs() * size_of::<ShapePair>() + near_colliders) as u64
    }

    /// The list of a pair, and the pair as ordered there; `own` is an element of the chunk.
    pub fn list_of(&mut self, own: u32, partner: u32) -> (&mut Vec<ShapePair>, (u32, u32)) {
        match chunk_side(&self.elements, partner as usize) {
            ChunkSide::Before => (&mut self.before, (own, partner)),
            ChunkSide::Within => (&mut self.within, (own.min(partner), own.max(partner))),
            ChunkSide::Behind => (&mut self.behind, (own, partner)),
        }
    }

    /// Inserts a pair unless it is listed; `own` is an element of the chunk.
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

    /// History of the contacts of its elements; each pair appears at its lower element.
    pub fn entries(&self) -> impl Iterator<Item = ShapeEntry> {
        let pairs = self.within.iter().chain(&self.behind);
        let pairs = pairs.map(|pair| ShapeEntry {
            element: pair.own,
            partner: pair.partner,
            memory: pair.memory,
        });
        let at_colliders = self.near_colliders.iter().map(|contact| ShapeEntry {
            element: contact.element,
            partner: COLLIDER + contact.collider,
            memory: contact.memory,
        });
        pairs
            .chain(at_colliders)
            .filter(|entry| entry.memory.is_any())
    }

    /// Restores the history of a contact of one of its elements; returns whether the contact is listed.
    pub fn restore(&mut self, own: u32, partner: u32, memory: ShapeMemory) -> bool {
        if partner >= COLLIDER {
            let key = (own, partner - COLLIDER);
            let near_colliders = &mut self.near_colliders;
            let found = near_colliders
                .binary_search_by_key(&key, |contact| (contact.element, contact.collider));
            return found.map(|at| near_colliders[at].memory = memory).is_ok();
        }
        let (list, key) = self.list_of(own, partner);
        find(list, key).map(|at| list[at].memory = memory).is_ok()
    }
}

/// Index of a pair in a list, or else the index to insert it at.
pub fn find(list: &[ShapePair], key: (u32, u32)) -> Result<usize, usize> {
    list.binary_search_by_key(&key, |pair| (pair.own, pair.partner))
}
