//! Contacts: which pairs may touch and what they remember.
//!
//! Each element keeps its own entry for every partner, so a chunk of elements owns its contacts and sums them in the order of the
//! partners. Lists are candidates within a skin; entries that do not touch add nothing, so when a list is rebuilt cannot change a bit.

use glam::DVec3;
use rayon::prelude::*;

use super::contact_pass::Obstacle;
use super::system::{CHUNK, System};
use crate::geometry::hash_grid::HashGrid;
use crate::math::Scalar;

/// Partners from this number on are colliders.
pub const COLLIDER: u32 = 1 << 31;

/// Contacts of one chunk of elements, as rows per element.
#[derive(Clone, Debug, Default)]
pub struct ContactChunk<S> {
    /// Entry range of each element; one more than the chunk has elements.
    pub start: Vec<u32>,
    /// Element, or [`COLLIDER`] plus the collider's index; ascending within an element.
    pub partner: Vec<u32>,
    /// Distance at which the pair touches; unused for colliders.
    pub touch: Vec<S>,
    /// Tangential spring, m.
    pub spring: Vec<[S; 3]>,
}

impl<S: Scalar> ContactChunk<S> {
    pub(super) fn entries(&self, local: usize) -> std::ops::Range<usize> {
        self.start[local] as usize..self.start[local + 1] as usize
    }

    /// Spring of a pair, zero when it has none.
    fn spring_of(&self, local: usize, partner: u32) -> [S; 3] {
        if self.start.is_empty() {
            return [S::default(); 3];
        }
        let range = self.entries(local);
        match self.partner[range.clone()].binary_search(&partner) {
            Ok(found) => self.spring[range.start + found],
            Err(_) => [S::default(); 3],
        }
    }

    /// Adds a pair that just lost its bond.
    fn insert(&mut self, local: usize, partner: u32, touch: S) {
        let range = self.entries(local);
        let Err(place) = self.partner[range.clone()].binary_search(&partner) else {
            return;
        };
        let at = range.start + place;
        self.partner.insert(at, partner);
        self.touch.insert(at, touch);
        self.spring.insert(at, [S::default(); 3]);
        self.start[local + 1..].iter_mut().for_each(|s| *s += 1);
    }
}

/// Candidate pairs of all elements.
#[derive(Clone, Debug)]
pub struct Contacts<S> {
    /// One entry a chunk of [`CHUNK`] elements.
    pub chunks: Vec<ContactChunk<S>>,
    /// Distance beyond touching up to which pairs are listed, m.
    skin: f64,
    /// Largest radius, m.
    largest: f64,
    /// Whether all radii are equal: then elements within a whole shell of bonds cannot be reached.
    equal: bool,
    /// Positions when the lists were made.
    anchor: Vec<DVec3>,
    /// How far an element may have moved since, m.
    moved: f64,
    /// How far a collider's surface may have moved since, m.
    driven: f64,
}

/// A tangential spring to put back when a run continues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpringEntry<S> {
    /// Element.
    pub element: u32,
    /// Partner as in [`ContactChunk::partner`].
    pub partner: u32,
    /// Spring, m.
    pub spring: [S; 3],
}

impl<S: Scalar> Contacts<S> {
    /// Lists for a new system; the skin is 0.35 of the largest radius, so that second neighbours of a close packing stay out of it.
    pub fn new(system: &System<S>, obstacles: &[Obstacle]) -> Self {
        let largest = (0..system.count)
            .map(|i| system.radius(i))
            .fold(0.0, f64::max);
        let smallest = (0..system.count)
            .map(|i| system.radius(i))
            .fold(f64::INFINITY, f64::min);
        let chunks = system.motion.len().div_ceil(CHUNK);
        let mut contacts = Contacts {
            chunks: vec![ContactChunk::default(); chunks],
            skin: 0.35 * largest,
            largest,
            equal: largest - smallest < 1e-6 * largest,
            anchor: Vec::new(),
            moved: 0.0,
            driven: 0.0,
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

    /// Notes a step in which elements and colliders moved no farther than so much, and rebuilds the lists before a pair could touch unseen.
    pub fn advance(
        &mut self,
        (elements, colliders): (f64, f64),
        system: &System<S>,
        obstacles: &[Obstacle],
    ) {
        self.moved += elements;
        self.driven += colliders;
        if self.closed(self.moved) < self.skin {
            return;
        }
        // The sum of the fastest speeds is a bound; what has moved is often less.
        let farthest = self
            .anchor
            .par_iter()
            .enumerate()
            .map(|(i, anchor)| system.position(i).distance_squared(*anchor))
            .reduce(|| 0.0, f64::max)
            .sqrt();
        // Near the limit the exact look would soon be due again: a rebuild is cheaper then.
        if self.closed(farthest) < 0.7 * self.skin {
            self.moved = farthest;
        } else {
            self.rebuild(system, obstacles);
        }
    }

    /// By how much a pair may have closed up when elements moved by `moved`.
    fn closed(&self, moved: f64) -> f64 {
        moved + moved.max(self.driven)
    }

    /// Makes the lists anew, keeping springs.
    pub fn rebuild(&mut self, system: &System<S>, obstacles: &[Obstacle]) {
        let (skin, largest, equal) = (self.skin, self.largest, self.equal);
        let anchor: Vec<DVec3> = (0..system.count)
            .into_par_iter()
            .map(|i| system.position(i))
            .collect();
        let exposed: Vec<u32> = (0..system.count)
            .filter(|&i| is_exposed(system, i, equal))
            .map(|i| i as u32)
            .collect();
        let grid = HashGrid::new(exposed.len(), 2.0 * largest + skin, |k| {
            anchor[exposed[k] as usize]
        });
        self.chunks = self
            .chunks
            .par_iter()
            .enumerate()
            .map(|(chunk, old)| {
                let first = chunk * CHUNK;
                let last = (first + CHUNK).min(system.motion.len());
                let mut new = ContactChunk::default();
                let mut found: Vec<(u32, S)> = Vec::new();
                new.start.push(0);
                for i in first..last {
                    found.clear();
                    if i < system.count {
                        if is_exposed(system, i, equal) {
                            candidates(system, &anchor, (&grid, &exposed), skin, i, &mut found);
                        }
                        touching_obstacles(system, &anchor, obstacles, skin, i, &mut found);
                    }
                    found.sort_unstable_by_key(|(partner, _)| *partner);
                    for &(partner, touch) in &found {
                        new.partner.push(partner);
                        new.touch.push(touch);
                        new.spring.push(old.spring_of(i - first, partner));
                    }
                    new.start.push(new.partner.len() as u32);
                }
                new
            })
            .collect();
        self.anchor = anchor;
        (self.moved, self.driven) = (0.0, 0.0);
    }

    /// A bond broke: its ends may touch from now on.
    pub fn insert_broken(&mut self, i: u32, j: u32, touch: S) {
        for (own, partner) in [(i, j), (j, i)] {
            let own = own as usize;
            self.chunks[own / CHUNK].insert(own % CHUNK, partner, touch);
        }
    }

    /// Springs that are not zero, in the order of elements.
    pub fn springs(&self) -> Vec<SpringEntry<S>> {
        let mut out = Vec::new();
        for (chunk, contacts) in self.chunks.iter().enumerate() {
            for local in 0..contacts.start.len().saturating_sub(1) {
                for at in contacts.entries(local) {
                    if contacts.spring[at].iter().any(|s| s.to_f64() != 0.0) {
                        out.push(SpringEntry {
                            element: (chunk * CHUNK + local) as u32,
                            partner: contacts.partner[at],
                            spring: contacts.spring[at],
                        });
                    }
                }
            }
        }
        out
    }

    /// Puts springs back; entries without a listed pair are refused by returning their number.
    pub fn restore_springs(&mut self, springs: &[SpringEntry<S>]) -> usize {
        let mut lost = 0;
        for entry in springs {
            let (chunk, local) = (
                entry.element as usize / CHUNK,
                entry.element as usize % CHUNK,
            );
            let place = self.chunks.get_mut(chunk).and_then(|contacts| {
                let range = contacts.entries(local);
                let found = contacts.partner[range.clone()].binary_search(&entry.partner);
                found.ok().map(|k| &mut contacts.spring[range.start + k])
            });
            match place {
                Some(spring) => *spring = entry.spring,
                None => lost += 1,
            }
        }
        lost
    }
}

/// Bonds to as many equal balls as can touch one at once.
const WHOLE_SHELL: usize = 12;

/// Whether anything can come to touch an element: among equal radii a whole shell of twelve bonds leaves no room for a thirteenth ball.
///
/// When such a shell breaks, the lists made before still hold: the pairs of the broken bonds are added, and what is neither bonded nor
/// broken stands as far off as the second neighbours of a close packing, beyond the skin.
fn is_exposed<S: Scalar>(system: &System<S>, element: usize, equal: bool) -> bool {
    !equal || system.bonds.whole_sides(element).count() < WHOLE_SHELL
}

fn candidates<S: Scalar>(
    system: &System<S>,
    anchor: &[DVec3],
    (grid, exposed): (&HashGrid, &[u32]),
    skin: f64,
    i: usize,
    found: &mut Vec<(u32, S)>,
) {
    let (p, r) = (anchor[i], system.radius(i));
    let held = system.inverse_mass[i].to_f64() == 0.0;
    grid.around(p, |k| {
        let j = exposed[k as usize];
        let other = j as usize;
        let reach = r + system.radius(other) + skin;
        if other == i || p.distance_squared(anchor[other]) > reach * reach {
            return;
        }
        // Two held elements cannot answer a force.
        if held && system.inverse_mass[other].to_f64() == 0.0 {
            return;
        }
        let radii = system.tail[i].0[3] + system.tail[other].0[3];
        match system.bonds.find(i, other) {
            Some(side) if system.bonds.is_whole(side.entry) => {}
            Some(side) => {
                found.push((j, system.bonds.touch_distance(side.entry).unwrap_or(radii)));
            }
            None => found.push((j, radii)),
        }
    });
}

fn touching_obstacles<S: Scalar>(
    system: &System<S>,
    anchor: &[DVec3],
    obstacles: &[Obstacle],
    skin: f64,
    i: usize,
    found: &mut Vec<(u32, S)>,
) {
    if system.inverse_mass[i].to_f64() == 0.0 {
        return;
    }
    for (k, obstacle) in obstacles.iter().enumerate() {
        let (distance, ..) = obstacle.pose.surface(&obstacle.solid, anchor[i]);
        if distance < system.radius(i) + skin {
            found.push((COLLIDER + k as u32, S::default()));
        }
    }
}
