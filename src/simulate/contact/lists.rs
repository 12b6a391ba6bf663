//! Contact lists: pairs that may touch, with their springs.
//!
//! A chunk of elements lists each pair inside it once, seen from its lower element, and also its pairs with
//! other chunks: those are listed and evaluated by both chunks, with the same bits, so that neither waits for
//! the other. Lists hold candidates within a skin; entries that do not touch add nothing, so the time of a
//! rebuild does not change a bit.

use std::sync::Arc;

use glam::DVec3;

use super::chunk::ContactChunk;
use super::near::entry;
use super::polyhedra::list::ShapeChunk;
use super::polyhedra::near::ShapePairFinder;
use super::polyhedra::shapes::Shapes;
use super::surfaces::{SurfaceTable, Surfaces};
use crate::math::Scalar;
use crate::simulate::bonded::owned::OwnedChunks;
use crate::simulate::bonded::system::System;
use crate::simulate::scene::colliders::PosedCollider;

/// The skin over the largest radius: it excludes second neighbours of a close packing.
const SKIN: f64 = 0.35;
/// The same where lists with that skin would hold for a few steps only. It excludes second neighbours of a close
/// packing until it is compressed by 11 %: elements in complete shells of bonds are not listed.
pub const FAST_SKIN: f64 = 0.5;
/// The same where elements are fast and most are listed in any case.
const WIDE_SKIN: f64 = 3.0 * SKIN;
/// The same while only rigid pieces move: lists hold longer, and pairs that are apart cost little.
const RIGID_SKIN: f64 = 6.0 * SKIN;
/// Fraction of elements outside complete shells at which fast ones get the wide skin.
const MOSTLY_EXPOSED: f64 = 0.75;
/// Length over the radius up to which a bond joins elements that touch. The longer ones of a random packing leave gaps
/// through which others come within reach of a complete shell.
const LONGEST_OF_SHELL: f64 = 2.05;
/// Lists that held for fewer steps are followed by wider ones.
const FEW_STEPS: u32 = 32;
/// Lists that held for more steps are followed by narrow ones.
const MANY_STEPS: u32 = 8 * FEW_STEPS;

/// Candidate pairs of all elements.
#[derive(Clone, Debug)]
pub struct Contacts<S> {
    /// Contacts of balls with each other and with colliders, by chunk of elements.
    pub chunks: Vec<ContactChunk<S>>,
    /// Contacts of polyhedra, by chunk of elements.
    pub solids: Vec<ShapeChunk>,
    pub(super) shapes: Option<Arc<Shapes>>,
    /// Chunks whose contacts are listed.
    pub(super) owned: OwnedChunks,
    /// Elements per chunk.
    pub(super) chunk: usize,
    pub(super) surfaces: SurfaceTable<S>,
    /// Skin: gap up to which pairs are listed, m.
    pub(super) skin: f64,
    /// Whether the skin is chosen by how long lists hold.
    adapts: bool,
    /// Number of elements that were outside complete shells of bonds at the last rebuild of the pair lists.
    pub(super) exposed: usize,
    /// The same of all chunks.
    pub(super) exposed_of_all: usize,
    /// Steps since the last rebuild of the pair lists.
    pub(super) steps: u32,
    /// Largest radius, m.
    pub(super) largest: f64,
    /// Rest length of the longest bond, m.
    longest: f64,
    /// Whether elements inside a complete shell of bonds cannot be reached: all radii are equal, and bonds join only
    /// elements that touch, as in close packings.
    pub(super) closed_shells: bool,
    /// Positions at the last rebuild of the pair lists; those of elements far from the listed chunks may be older.
    pub(super) anchor: Vec<DVec3>,
    /// Upper bound on the distance that an element moved since then, relative to the common motion, m.
    pub(super) moved: f64,
    /// Sum over the steps since then of the largest distance moved, m.
    pub(super) travelled: f64,
    /// Sum of the largest distances moved by elements and collider surfaces since the last search for
    /// colliders, m.
    pub(super) collider_approach: f64,
}

impl<S: Scalar> Contacts<S> {
    /// Lists for a new system of balls.
    pub fn new(system: &System<S>, surfaces: &Surfaces, colliders: &[PosedCollider]) -> Self {
        Self::with_skin(system, surfaces, colliders, SKIN)
    }

    /// Lists for a new system of balls, of another skin over the largest radius.
    pub fn with_skin(
        system: &System<S>,
        surfaces: &Surfaces,
        colliders: &[PosedCollider],
        skin: f64,
    ) -> Self {
        let table = SurfaceTable::new(surfaces);
        Self::with_table(system, table, None, colliders, skin)
    }

    /// Lists for a new system with polyhedra; overlaps at the start exert no force.
    pub fn with_shapes(
        system: &System<S>,
        surfaces: &Surfaces,
        shapes: Option<Arc<Shapes>>,
        colliders: &[PosedCollider],
    ) -> Self {
        let table = SurfaceTable::new(surfaces);
        let mut contacts = Self::with_table(system, table, shapes, colliders, SKIN);
        contacts.on_solids(system, |finder, solids| {
            finder.ignore_overlaps(solids, colliders)
        });
        contacts
    }

    /// Empty lists of the same elements and surfaces, for a restored state. They have to be rebuilt.
    pub fn emptied(&self) -> Self {
        let chunks = self.chunks.iter();
        let solids = self.solids.iter();
        Contacts {
            chunks: chunks
                .map(|one| ContactChunk::of(one.elements.clone()))
                .collect(),
            solids: solids
                .map(|one| ShapeChunk::of(one.elements.clone()))
                .collect(),
            shapes: self.shapes.clone(),
            owned: self.owned.clone(),
            surfaces: self.surfaces.clone(),
            skin: SKIN * self.largest,
            adapts: true,
            exposed: 0,
            exposed_of_all: 0,
            steps: 0,
            anchor: Vec::new(),
            moved: 0.0,
            travelled: 0.0,
            collider_approach: 0.0,
            ..*self
        }
    }

    /// Whether contacts push by the barrier of explicit steps.
    pub fn has_barrier(&self) -> bool {
        self.surfaces.surfaces().has_barrier()
    }

    fn with_table(
        system: &System<S>,
        surfaces: SurfaceTable<S>,
        shapes: Option<Arc<Shapes>>,
        colliders: &[PosedCollider],
        skin: f64,
    ) -> Self {
        let sizes = Sizes::of(system, &OwnedChunks::default());
        let mut contacts = Self::unlisted(system, surfaces, shapes, sizes);
        contacts.skin = skin * contacts.largest;
        contacts.rebuild(system, colliders);
        contacts
    }

    /// Empty lists for a new system of balls, of which this process lists the contacts of the chunks `owned`. They have
    /// to be rebuilt. `sizes` are those of all elements.
    pub fn of_chunks(
        system: &System<S>,
        surfaces: &Surfaces,
        owned: OwnedChunks,
        sizes: Sizes,
    ) -> Self {
        let contacts = Self::unlisted(system, SurfaceTable::new(surfaces), None, sizes);
        Contacts { owned, ..contacts }
    }

    fn unlisted(
        system: &System<S>,
        surfaces: SurfaceTable<S>,
        shapes: Option<Arc<Shapes>>,
        sizes: Sizes,
    ) -> Self {
        let Sizes {
            smallest,
            largest,
            longest,
        } = sizes;
        let chunk = system.chunk;
        let chunks = (0..system.motion.len())
            .step_by(chunk)
            .map(|first| ContactChunk::of(first..first + chunk));
        let solids = (0..system.motion.len())
            .step_by(chunk)
            .map(|first| ShapeChunk::of(first..first + chunk));
        Contacts {
            chunks: chunks.collect(),
            solids: solids.collect(),
            shapes,
            owned: OwnedChunks::default(),
            chunk,
            surfaces,
            skin: SKIN * largest,
            adapts: true,
            exposed: 0,
            exposed_of_all: 0,
            steps: 0,
            largest,
            longest,
            closed_shells: largest - smallest < 1e-6 * largest
                && longest < LONGEST_OF_SHELL * largest,
            anchor: Vec::new(),
            moved: 0.0,
            travelled: 0.0,
            collider_approach: 0.0,
        }
    }

    /// Whether the contacts of all chunks are listed.
    pub fn lists_all(&self) -> bool {
        self.owned.are_all()
    }

    /// From now on lists only the contacts of these chunks.
    pub fn keep(&mut self, owned: OwnedChunks) {
        for (at, lists) in self.chunks.iter_mut().enumerate() {
            if !owned.contains(at) {
                *lists = ContactChunk::of(lists.elements.clone());
            }
        }
        self.owned = owned;
        self.anchor = self.owned.keep(&self.anchor, self.chunk);
        // Unknown until the next rebuild.
        (self.exposed, self.exposed_of_all) = (0, 0);
    }

    /// Skin: gap up to which pairs are listed, m.
    pub fn skin(&self) -> f64 {
        self.skin
    }

    /// Sets the skin that the next rebuild uses: that of rigid pieces if only they move. From now on only this
    /// decides: sleep depends on what is listed, and how long lists held is not part of a state.
    pub fn set_skin(&mut self, is_rigid: bool) {
        self.adapts = false;
        self.skin = self.largest * if is_rigid { RIGID_SKIN } else { SKIN };
    }

    /// Chooses the skin of the next lists by how long these have held; returns whether it is another one. Debris that
    /// flies apart would otherwise have the lists of all elements rebuilt every few steps. No result depends on it.
    pub fn adapt_skin(&mut self) -> bool {
        let before = self.skin;
        if self.adapts && self.steps < FEW_STEPS {
            let wide = self.exposed_of_all as f64 >= MOSTLY_EXPOSED * self.anchor.len() as f64;
            self.skin = self.largest * if wide { WIDE_SKIN } else { FAST_SKIN };
        } else if self.adapts && self.steps > MANY_STEPS {
            self.skin = self.largest * SKIN;
        }
        self.skin != before
    }

    /// Whether elements in complete shells of bonds are left out of the lists: either nothing but what they are bonded
    /// to is within the skin, or no bond can break before the next rebuild.
    pub(super) fn leaves_shells_out(&self) -> bool {
        self.closed_shells && (!self.adapts || self.skin < 1.01 * FAST_SKIN * self.largest)
    }

    /// Number of elements of the listed chunks that were outside complete shells of bonds at the last rebuild of the
    /// pair lists.
    pub fn exposed(&self) -> usize {
        self.exposed
    }

    /// Sets that number of all chunks, where others list the contacts of some: the next skin is chosen by it.
    pub fn set_exposed_of_all(&mut self, exposed: usize) {
        self.exposed_of_all = exposed;
    }

    /// Distance within which elements can be listed with each other, m.
    pub fn reach(&self) -> f64 {
        self.longest.max(2.0 * self.largest) + self.skin
    }

    /// Largest radius of the elements, m.
    pub fn largest(&self) -> f64 {
        self.largest
    }

    /// Whether elements inside a complete shell of bonds cannot be reached.
    pub fn closed_shells(&self) -> bool {
        self.closed_shells
    }

    /// Upper bound on how far a pair has approached since the pair lists were built, m.
    pub fn pair_approach(&self) -> f64 {
        2.0 * self.travelled
    }

    /// Upper bound on how far an element and a collider have approached since the last search for colliders, m.
    pub fn collider_approach(&self) -> f64 {
        self.collider_approach
    }

    /// The polyhedra of those elements that have one.
    pub fn shapes(&self) -> Option<&Arc<Shapes>> {
        self.shapes.as_ref()
    }

    /// Number of contacts counted per element: a pair of elements counts twice.
    pub fn sides(&self) -> usize {
        let of = |chunk: &ContactChunk<S>| {
            let pairs: usize = chunk.lists().iter().map(|list| list.len()).sum();
            pairs + chunk.within.len() + chunk.near_colliders.len()
        };
        let solids =
            |chunk: &ShapeChunk| chunk.pairs() + chunk.within.len() + chunk.near_colliders.len();
        self.chunks.iter().map(of).sum::<usize>() + self.solids.iter().map(solids).sum::<usize>()
    }

    /// Partners of an element in ascending order, colliders as [`COLLIDER`](super::chunk::COLLIDER) plus their index.
    pub fn partners(&self, element: u32) -> Vec<u32> {
        let sides = self.chunks[element as usize / self.chunk].sides();
        let mut partners: Vec<u32> = sides
            .filter(|side| side.element == element)
            .map(|side| side.partner)
            .collect();
        partners.sort_unstable();
        partners
    }

    /// Bytes of the lists that a pass over all entries reads and writes.
    pub fn bytes(&self) -> u64 {
        let of = |chunk: &ContactChunk<S>| {
            let pairs: u64 = chunk.lists().iter().map(|list| list.bytes()).sum();
            pairs + size_of_val(&chunk.near_colliders[..]) as u64
        };
        let solids = |chunk: &ShapeChunk| chunk.bytes();
        self.chunks.iter().map(of).sum::<u64>() + self.solids.iter().map(solids).sum::<u64>()
    }

    /// Runs `act` on the contacts of polyhedra, if there are polyhedra.
    pub(super) fn on_solids<T>(
        &mut self,
        system: &System<S>,
        act: impl FnOnce(ShapePairFinder<S>, &mut [ShapeChunk]) -> T,
    ) -> Option<T> {
        let finder = ShapePairFinder {
            system,
            shapes: self.shapes.as_deref()?,
            surfaces: self.surfaces.surfaces(),
            skin: self.skin,
        };
        Some(act(finder, &mut self.solids))
    }

    /// Lists the pairs that may touch after the face between two polyhedra broke: the two, and pairs that the
    /// face kept apart. Returns whether the elements are polyhedra.
    pub fn separate(&mut self, system: &System<S>, i: u32, j: u32) -> bool {
        let [i, j] = [i, j].map(|end| end as usize);
        let separated = self.on_solids(system, |finder, solids| finder.separate(solids, i, j));
        separated.is_some()
    }

    /// Lists the ends of a broken bond, which may touch from now on.
    pub fn insert_broken(&mut self, system: &System<S>, i: u32, j: u32, touch: S) {
        for (own, partner) in [(i, j), (j, i)] {
            let chunk = own as usize / self.chunk;
            if !self.owned.contains(chunk) {
                continue;
            }
            let (list, (own, partner)) = self.chunks[chunk].list_of(own, partner);
            // A pair inside one chunk is already listed the second time.
            list.insert(entry(system, &self.surfaces, (own, partner), touch));
        }
    }
}

/// Sizes of elements and their bonds.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Smallest radius, m; infinite without elements.
    pub smallest: f64,
    /// Largest radius, m.
    pub largest: f64,
    /// Rest length of the longest bond, m.
    pub longest: f64,
}

impl Sizes {
    /// Those of the elements of these chunks.
    pub fn of<S: Scalar>(system: &System<S>, owned: &OwnedChunks) -> Self {
        let bonds = &system.bonds;
        let own = |i: &usize| owned.contains(i / system.chunk);
        let radii = || (0..system.count).filter(own).map(|i| system.radius(i));
        let sides = (0..system.count).filter(own).flat_map(|i| bonds.sides(i));
        let lengths = sides.map(|side| bonds.length.get(side.entry).to_f64());
        Sizes {
            smallest: radii().fold(f64::INFINITY, f64::min),
            largest: radii().fold(0.0, f64::max),
            longest: lengths.fold(0.0, f64::max),
        }
    }
}

#[cfg(test)]
mod tests;
