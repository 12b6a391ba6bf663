//! Contacts: which pairs may touch and what they remember.
//!
//! A chunk of elements lists the pairs within it once, seen from the end that comes first, and pairs with
//! other chunks beside them: those are listed and evaluated by both chunks, with the same bits, so that none
//! waits for another. Lists are candidates within a skin; entries that do not touch add nothing, so when a
//! list is rebuilt cannot change a bit.

use std::sync::Arc;

use glam::DVec3;

use super::chunk::{COLLIDER, ContactChunk, SpringEntry};
use super::near::{Near, entry, is_exposed};
use super::pair_list::Memory;
use super::polyhedra::list::{ShapeChunk, ShapeEntry};
use super::polyhedra::near::Scene;
use super::polyhedra::shapes::Shapes;
use super::surfaces::{SurfaceTable, Surfaces};
use super::wall_list::WallEntry;
use crate::geometry::hash_grid::HashGrid;
use crate::math::Scalar;
use crate::parallel::prelude::*;
use crate::simulate::bonded::system::System;
use crate::simulate::scene::colliders::Obstacle;

/// Candidate pairs of all elements.
#[derive(Clone, Debug)]
pub struct Contacts<S> {
    /// Pairs of balls and balls at colliders, by chunk of elements.
    pub chunks: Vec<ContactChunk<S>>,
    /// Contacts of polyhedra, by chunk of elements.
    pub solids: Vec<ShapeChunk>,
    shapes: Option<Arc<Shapes>>,
    /// Elements of a chunk.
    chunk: usize,
    surfaces: SurfaceTable<S>,
    /// Distance beyond touching up to which pairs are listed, m.
    skin: f64,
    /// Largest radius, m.
    largest: f64,
    /// Whether all radii are equal: then elements within a whole shell of bonds cannot be reached.
    equal: bool,
    /// Positions when the lists of pairs were made.
    anchor: Vec<DVec3>,
    /// How far an element may have moved since against what all have in common, m.
    moved: f64,
    /// Sum of the largest distances of steps since, m.
    travelled: f64,
    /// The same since obstacles were looked for, with what their surfaces moved, m.
    neared: f64,
}

impl<S: Scalar> Contacts<S> {
    /// Lists for a new system of balls.
    pub fn new(system: &System<S>, surfaces: &Surfaces, obstacles: &[Obstacle]) -> Self {
        Self::with_table(system, SurfaceTable::new(surfaces), None, obstacles)
    }

    /// Lists for a new system some of whose elements may be polyhedra: what these overlap by now pushes nothing.
    pub fn with_shapes(
        system: &System<S>,
        surfaces: &Surfaces,
        shapes: Option<Arc<Shapes>>,
        obstacles: &[Obstacle],
    ) -> Self {
        let table = SurfaceTable::new(surfaces);
        let mut contacts = Self::with_table(system, table, shapes, obstacles);
        contacts.on_solids(system, |scene, solids| scene.settle_all(solids, obstacles));
        contacts
    }

    /// Lists of the same surfaces for a state that was read, all springs unstretched.
    pub fn anew(&self, system: &System<S>, obstacles: &[Obstacle]) -> Self {
        Self::with_table(
            system,
            self.surfaces.clone(),
            self.shapes.clone(),
            obstacles,
        )
    }

    /// The skin is 0.35 of the largest radius, so that second neighbours of a close packing stay out of it.
    fn with_table(
        system: &System<S>,
        surfaces: SurfaceTable<S>,
        shapes: Option<Arc<Shapes>>,
        obstacles: &[Obstacle],
    ) -> Self {
        let largest = (0..system.count)
            .map(|i| system.radius(i))
            .fold(0.0, f64::max);
        let smallest = (0..system.count)
            .map(|i| system.radius(i))
            .fold(f64::INFINITY, f64::min);
        let chunk = system.chunk;
        let chunks = (0..system.motion.len())
            .step_by(chunk)
            .map(|first| ContactChunk::of(first..first + chunk));
        let solids = (0..system.motion.len())
            .step_by(chunk)
            .map(|first| ShapeChunk::of(first..first + chunk));
        let mut contacts = Contacts {
            chunks: chunks.collect(),
            solids: solids.collect(),
            shapes,
            chunk,
            surfaces,
            skin: 0.35 * largest,
            largest,
            equal: largest - smallest < 1e-6 * largest,
            anchor: Vec::new(),
            moved: 0.0,
            travelled: 0.0,
            neared: 0.0,
        };
        contacts.rebuild(system, obstacles);
        contacts
    }

    /// Distance beyond touching up to which pairs are listed, m.
    pub fn skin(&self) -> f64 {
        self.skin
    }

    /// Largest radius, m.
    pub fn largest(&self) -> f64 {
        self.largest
    }

    /// Whether all radii are equal: then elements within a whole shell of bonds cannot be reached.
    pub fn equal(&self) -> bool {
        self.equal
    }

    /// How far a pair may have closed up since the lists were made, m.
    pub fn closed(&self) -> f64 {
        2.0 * self.travelled
    }

    /// How far an element and an obstacle may have neared since obstacles were looked for, m.
    pub fn neared(&self) -> f64 {
        self.neared
    }

    /// The polyhedra of those elements that are some.
    pub fn shapes(&self) -> Option<&Arc<Shapes>> {
        self.shapes.as_ref()
    }

    /// Entries as elements see them: a pair of elements counts twice.
    pub fn sides(&self) -> usize {
        let of = |chunk: &ContactChunk<S>| {
            let pairs: usize = chunk.lists().iter().map(|list| list.len()).sum();
            pairs + chunk.within.len() + chunk.walls.len()
        };
        let solids = |chunk: &ShapeChunk| chunk.pairs() + chunk.within.len() + chunk.walls.len();
        self.chunks.iter().map(of).sum::<usize>() + self.solids.iter().map(solids).sum::<usize>()
    }

    /// Partners of an element in ascending order, colliders as [`COLLIDER`] plus their index.
    pub fn partners(&self, element: u32) -> Vec<u32> {
        let sides = self.chunks[element as usize / self.chunk].sides();
        let mut partners: Vec<u32> = sides
            .filter(|side| side.element == element)
            .map(|side| side.partner)
            .collect();
        partners.sort_unstable();
        partners
    }

    /// Bytes that a pass over all entries reads and writes of the lists.
    pub fn bytes(&self) -> u64 {
        let of = |chunk: &ContactChunk<S>| {
            let pairs: u64 = chunk.lists().iter().map(|list| list.bytes()).sum();
            pairs + size_of_val(&chunk.walls[..]) as u64
        };
        let solids = |chunk: &ShapeChunk| chunk.bytes();
        self.chunks.iter().map(of).sum::<u64>() + self.solids.iter().map(solids).sum::<u64>()
    }

    /// Does something with the contacts of polyhedra, where there are polyhedra.
    fn on_solids<T>(
        &mut self,
        system: &System<S>,
        act: impl FnOnce(Scene<S>, &mut [ShapeChunk]) -> T,
    ) -> Option<T> {
        let scene = Scene {
            system,
            shapes: self.shapes.as_deref()?,
            surfaces: self.surfaces.surfaces(),
            skin: self.skin,
        };
        Some(act(scene, &mut self.solids))
    }

    /// Notes a step in which elements and colliders moved no farther than so much, and rebuilds the lists
    /// before a pair could touch unseen.
    pub fn advance(
        &mut self,
        (elements, colliders): (f64, f64),
        system: &System<S>,
        obstacles: &[Obstacle],
    ) {
        self.moved += elements;
        self.travelled += elements;
        self.neared += elements + colliders;
        if self.neared >= self.skin {
            self.rebuild_walls(system, obstacles);
        }
        if 2.0 * self.moved < self.skin {
            return;
        }
        // The sum of the fastest speeds is a bound; what has moved is often less, and what all elements do
        // alike closes no pair.
        let nowhere = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let (low, high) = self
            .anchor
            .par_iter()
            .enumerate()
            .with_min_len(self.chunk)
            .map(|(i, anchor)| {
                let d = system.position(i) - *anchor;
                (d, d)
            })
            .reduce(|| nowhere, |a, b| (a.0.min(b.0), a.1.max(b.1)));
        let farthest = 0.5 * (high - low).length();
        // Near the limit the exact look would soon be due again: a rebuild is cheaper then.
        if 2.0 * farthest < 0.7 * self.skin {
            self.moved = farthest;
        } else {
            self.rebuild_pairs(system);
        }
    }

    /// Makes the lists anew where elements have moved so far since that a pair could touch unseen; whether it did.
    pub fn follow(&mut self, system: &System<S>, obstacles: &[Obstacle]) -> bool {
        let farthest = self
            .anchor
            .par_iter()
            .enumerate()
            .with_min_len(self.chunk)
            .map(|(i, anchor)| system.position(i).distance_squared(*anchor))
            .reduce(|| 0.0, f64::max)
            .sqrt();
        let far = 2.0 * farthest >= self.skin;
        if far {
            self.rebuild(system, obstacles);
        }
        far
    }

    /// Makes the lists anew, keeping springs.
    pub fn rebuild(&mut self, system: &System<S>, obstacles: &[Obstacle]) {
        self.rebuild_pairs(system);
        self.rebuild_walls(system, obstacles);
    }

    fn rebuild_pairs(&mut self, system: &System<S>) {
        let elements = (0..system.count).into_par_iter().with_min_len(self.chunk);
        let anchor: Vec<DVec3> = elements.clone().map(|i| system.position(i)).collect();
        let is_exposed: Vec<bool> = elements
            .map(|i| is_exposed(system, i, self.equal))
            .collect();
        let exposed: Vec<u32> = (0..system.count as u32)
            .filter(|&i| is_exposed[i as usize])
            .collect();
        let grid = HashGrid::new(exposed.len(), 2.0 * self.largest + self.skin, |k| {
            anchor[exposed[k] as usize]
        });
        let near = Near {
            system,
            surfaces: &self.surfaces,
            shapes: self.shapes.as_deref(),
            skin: self.skin,
            anchor: &anchor,
            is_exposed: &is_exposed,
            exposed: &exposed,
            grid: &grid,
        };
        self.chunks
            .par_iter_mut()
            .for_each(|lists| near.list(lists));
        self.on_solids(system, |scene, solids| scene.rebuild(solids));
        self.anchor = anchor;
        (self.moved, self.travelled) = (0.0, 0.0);
    }

    /// Makes the lists of elements near obstacles anew, keeping springs.
    pub fn rebuild_walls(&mut self, system: &System<S>, obstacles: &[Obstacle]) {
        self.neared = 0.0;
        if obstacles.is_empty() {
            return;
        }
        self.on_solids(system, |scene, solids| {
            scene.rebuild_walls(solids, obstacles)
        });
        let (skin, surfaces, shapes) = (self.skin, &self.surfaces, self.shapes.as_deref());
        self.chunks.par_iter_mut().for_each(|lists| {
            let old = std::mem::take(&mut lists.walls);
            let mut old = old.iter().peekable();
            for i in lists.elements.start..lists.elements.end.min(system.count) {
                let is_ball = shapes.is_none_or(|shapes| shapes.get(i).is_none());
                if system.inverse_mass[i].to_f64() == 0.0 || !is_ball {
                    continue;
                }
                let (p, reach) = (system.position(i), system.radius(i) + skin);
                for (wall, obstacle) in obstacles.iter().enumerate() {
                    if !obstacle.pose.reaches(&obstacle.solid, p, reach) {
                        continue;
                    }
                    let key = (i as u32, wall as u32);
                    while old.next_if(|e| (e.element, e.wall) < key).is_some() {}
                    let same = old.next_if(|e| (e.element, e.wall) == key);
                    let (k, rolling) = surfaces.wall(system, i, obstacle);
                    lists.walls.push(WallEntry {
                        element: key.0,
                        wall: key.1,
                        memory: same.map_or_else(Memory::default, |e| e.memory),
                        k,
                        rolling,
                        quiet: 0.0,
                        near: Default::default(),
                    });
                }
            }
        });
    }

    /// The face between two polyhedra broke: they may touch from now on, and those that it kept from
    /// touching. Whether they are polyhedra.
    pub fn part(&mut self, system: &System<S>, i: u32, j: u32) -> bool {
        let [i, j] = [i, j].map(|end| end as usize);
        let parted = self.on_solids(system, |scene, solids| scene.part(solids, i, j));
        parted.is_some()
    }

    /// A bond broke: its ends may touch from now on.
    pub fn insert_broken(&mut self, system: &System<S>, i: u32, j: u32, touch: S) {
        for (own, partner) in [(i, j), (j, i)] {
            let chunk = own as usize / self.chunk;
            let (list, (own, partner)) = self.chunks[chunk].list_of(own, partner);
            // A pair within a chunk is found there the second time.
            list.insert(entry(system, &self.surfaces, (own, partner), touch));
        }
    }

    /// Springs that are not zero, in the order of elements and partners.
    pub fn springs(&self) -> Vec<SpringEntry<S>> {
        let mut out = Vec::new();
        for chunk in &self.chunks {
            let from = out.len();
            out.extend(chunk.sides().filter(|side| side.memory.is_any()));
            out[from..].sort_unstable_by_key(|side| (side.element, side.partner));
        }
        out
    }

    /// What contacts of polyhedra remember, in the order of elements and partners.
    pub fn shape_entries(&self) -> Vec<ShapeEntry> {
        let entries = self.solids.iter().flat_map(ShapeChunk::entries);
        let mut entries: Vec<ShapeEntry> = entries.collect();
        entries.sort_unstable_by_key(|entry| (entry.element, entry.partner));
        entries
    }

    /// Puts back what contacts of polyhedra remember; those that are not listed are refused by returning their number.
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

    /// Puts springs back; entries without a listed pair are refused by returning their number.
    pub fn restore_springs(&mut self, springs: &[SpringEntry<S>]) -> usize {
        let mut lost = 0;
        for entry in springs {
            let chunk = entry.element as usize / self.chunk;
            lost += match self.chunks.get_mut(chunk) {
                Some(lists) => usize::from(!restore(lists, entry)),
                None => 1,
            };
        }
        lost
    }
}

/// Puts a spring back; whether it has a place.
fn restore<S: Scalar>(lists: &mut ContactChunk<S>, entry: &SpringEntry<S>) -> bool {
    if entry.partner >= COLLIDER {
        let key = (entry.element, entry.partner - COLLIDER);
        let found = lists
            .walls
            .binary_search_by_key(&key, |wall| (wall.element, wall.wall));
        return found
            .map(|at| lists.walls[at].memory = entry.memory)
            .is_ok();
    }
    let (list, key) = lists.list_of(entry.element, entry.partner);
    let Ok(at) = list.find(key) else {
        return false;
    };
    // Seen from the other end a spring is the opposite of itself, but for the sign of zeros.
    if key.0 == entry.element {
        list.set_memory(at, entry.memory);
    }
    true
}

#[cfg(test)]
mod tests;
