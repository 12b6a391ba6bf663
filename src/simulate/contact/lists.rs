//! Contacts: which pairs may touch and what they remember.
//!
//! A chunk of elements lists the pairs within it once, seen from the end that comes first, and pairs with other chunks beside them: those
//! are listed and evaluated by both chunks, with the same bits, so that none waits for another. Lists are candidates within a skin;
//! entries that do not touch add nothing, so when a list is rebuilt cannot change a bit.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::chunk::{COLLIDER, ContactChunk, Place, SpringEntry, place};

use crate::geometry::hash_grid::HashGrid;
use crate::math::Scalar;
use crate::simulate::bonded::bonds::Side;
use crate::simulate::bonded::system::System;
use crate::simulate::contact::pair_list;
use crate::simulate::contact::pair_list::{Memory, PairEntry, PairList};
use crate::simulate::contact::surfaces::{SurfaceTable, Surfaces};
use crate::simulate::contact::wall_list::WallEntry;
use crate::simulate::scene::colliders::Obstacle;

/// Candidate pairs of all elements.
#[derive(Clone, Debug)]
pub struct Contacts<S> {
    /// One entry a chunk of elements.
    pub chunks: Vec<ContactChunk<S>>,
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
    /// Lists for a new system.
    pub fn new(system: &System<S>, surfaces: &Surfaces, obstacles: &[Obstacle]) -> Self {
        Self::with_table(system, SurfaceTable::new(surfaces), obstacles)
    }

    /// Lists of the same surfaces for a state that was read, all springs unstretched.
    pub fn anew(&self, system: &System<S>, obstacles: &[Obstacle]) -> Self {
        Self::with_table(system, self.surfaces.clone(), obstacles)
    }

    /// The skin is 0.35 of the largest radius, so that second neighbours of a close packing stay out of it.
    fn with_table(system: &System<S>, surfaces: SurfaceTable<S>, obstacles: &[Obstacle]) -> Self {
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
        let mut contacts = Contacts {
            chunks: chunks.collect(),
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

    /// Entries as elements see them: a pair of elements counts twice.
    pub fn sides(&self) -> usize {
        let of = |chunk: &ContactChunk<S>| {
            let pairs: usize = chunk.lists().iter().map(|list| list.len()).sum();
            pairs + chunk.within.len() + chunk.walls.len()
        };
        self.chunks.iter().map(of).sum()
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
        self.chunks.iter().map(of).sum()
    }

    /// Notes a step in which elements and colliders moved no farther than so much, and rebuilds the lists before a pair could touch unseen.
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
        // The sum of the fastest speeds is a bound; what has moved is often less, and what all elements do alike closes no pair.
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
            skin: self.skin,
            anchor: &anchor,
            is_exposed: &is_exposed,
            exposed: &exposed,
            grid: &grid,
        };
        self.chunks
            .par_iter_mut()
            .for_each(|lists| near.list(lists));
        self.anchor = anchor;
        (self.moved, self.travelled) = (0.0, 0.0);
    }

    /// Makes the lists of elements near obstacles anew, keeping springs.
    pub fn rebuild_walls(&mut self, system: &System<S>, obstacles: &[Obstacle]) {
        let (skin, surfaces) = (self.skin, &self.surfaces);
        self.neared = 0.0;
        if obstacles.is_empty() {
            return;
        }
        self.chunks.par_iter_mut().for_each(|lists| {
            let old = std::mem::take(&mut lists.walls);
            let mut old = old.iter().peekable();
            for i in lists.elements.start..lists.elements.end.min(system.count) {
                if system.inverse_mass[i].to_f64() == 0.0 {
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

/// Bonds to as many equal balls as can touch one at once.
pub const WHOLE_SHELL: usize = 12;

/// Whether anything can come to touch an element: among equal radii a whole shell of twelve bonds leaves no room for a thirteenth ball.
///
/// When such a shell breaks, the lists made before still hold: the pairs of the broken bonds are added, and what is neither bonded nor
/// broken stands as far off as the second neighbours of a close packing, beyond the skin. Bonds within a rigid piece do not count: its elements are
/// listed as loose ones are.
fn is_exposed<S: Scalar>(system: &System<S>, element: usize, equal: bool) -> bool {
    !equal || system.bonds.active_sides(element).count() < WHOLE_SHELL
}

/// What a pair is listed with.
fn entry<S: Scalar>(
    system: &System<S>,
    surfaces: &SurfaceTable<S>,
    (own, partner): (u32, u32),
    touch: S,
) -> PairEntry<S> {
    let (i, j) = (own as usize, partner as usize);
    let radii = [system.tail[i].0[3], system.tail[j].0[3]];
    PairEntry {
        own,
        partner,
        touch,
        constants: pair_list::constants(
            radii,
            surfaces.pair(system, i, j),
            [system.inverse_mass[i], system.inverse_mass[j]],
        ),
    }
}

/// Elements by where they are, to look for pairs.
struct Near<'a, S> {
    system: &'a System<S>,
    surfaces: &'a SurfaceTable<S>,
    skin: f64,
    anchor: &'a [DVec3],
    is_exposed: &'a [bool],
    exposed: &'a [u32],
    grid: &'a HashGrid,
}

impl<S: Scalar> Near<'_, S> {
    /// Lists the pairs of a chunk.
    fn list(&self, lists: &mut ContactChunk<S>) {
        let chunk = lists.elements.clone();
        let system = self.system;
        let [mut before, mut within, mut behind] = [(); 3].map(|()| Vec::new());
        let mut found: Vec<(u32, S)> = Vec::new();
        let mut bonded: Vec<Side> = Vec::new();
        for i in chunk.start..chunk.end.min(system.count) {
            // Nothing can come near a whole shell, and no bond has broken.
            if !self.is_exposed[i] && system.bonds.touch.is_empty() {
                continue;
            }
            found.clear();
            bonded.clear();
            bonded.extend(system.bonds.sides(i));
            if self.is_exposed[i] {
                self.candidates(chunk.start, i, &bonded, &mut found);
            }
            self.broken(chunk.start, i, &bonded, &mut found);
            found.sort_unstable_by_key(|(partner, _)| *partner);
            for &(partner, touch) in &found {
                let list = match place(&chunk, partner as usize) {
                    Place::Before => &mut before,
                    Place::Within => &mut within,
                    Place::Behind => &mut behind,
                };
                list.push(entry(system, self.surfaces, (i as u32, partner), touch));
            }
        }
        let rolls = self.surfaces.rolling();
        lists.before = PairList::new(&before, &lists.before, rolls);
        lists.within = PairList::new(&within, &lists.within, rolls);
        lists.behind = PairList::new(&behind, &lists.behind, rolls);
    }

    /// Partners with which element i, bonded so, is listed in its chunk, and the distances at which they touch; but for those that a bond joins
    /// or joined.
    fn candidates(&self, first: usize, i: usize, bonded: &[Side], found: &mut Vec<(u32, S)>) {
        let (system, anchor) = (self.system, self.anchor);
        let (p, r) = (anchor[i], system.radius(i));
        let held = system.inverse_mass[i].to_f64() == 0.0;
        self.grid.around(p, |k| {
            let j = self.exposed[k as usize];
            let other = j as usize;
            // Within the chunk the first end lists the pair.
            if other >= first && other <= i {
                return;
            }
            let reach = r + system.radius(other) + self.skin;
            if p.distance_squared(anchor[other]) > reach * reach {
                return;
            }
            if system.is_one_piece(i, other) {
                return;
            }
            // Two held elements cannot answer a force.
            if held && system.inverse_mass[other].to_f64() == 0.0 {
                return;
            }
            let touch = system.touch(i, other);
            if touch.to_f64() > 0.0 && bonded.iter().all(|side| side.other != other) {
                found.push((j, touch));
            }
        });
    }

    /// Adds the ends of the broken bonds of element i: they touch at distances of their own, farther than the grid looks where a bond was
    /// longer than both radii.
    fn broken(&self, first: usize, i: usize, bonded: &[Side], found: &mut Vec<(u32, S)>) {
        let (system, anchor) = (self.system, self.anchor);
        let held = |k: usize| system.inverse_mass[k].to_f64() == 0.0;
        for side in bonded {
            let other = side.other;
            if system.bonds.is_whole(side.entry) || system.is_one_piece(i, other) {
                continue;
            }
            let Some(touch) = system.bonds.touch_distance(side.entry) else {
                continue;
            };
            let reach = touch.to_f64() + self.skin;
            let is_near = anchor[i].distance_squared(anchor[other]) <= reach * reach;
            if is_near && (other < first || other > i) && !(held(i) && held(other)) {
                found.push((other as u32, touch));
            }
        }
    }
}

#[cfg(test)]
mod tests;
