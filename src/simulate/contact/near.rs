//! Search for pairs of balls that may touch: exposed elements, and their neighbours.

use glam::DVec3;

use super::chunk::{ChunkSide, ContactChunk, chunk_side};
use super::pair_list::{self, PairEntry, PairList};
use super::polyhedra::shapes::Shapes;
use super::surfaces::SurfaceTable;
use crate::geometry::hash_grid::HashGrid;
use crate::math::Scalar;
use crate::parallel::prelude::*;
use crate::simulate::bonded::bonds::BondSide;
use crate::simulate::bonded::system::System;

/// Largest number of equal balls that can touch another one at once.
pub const WHOLE_SHELL: usize = 12;

/// What a search has to know about the bonds of an element.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exposure {
    /// Whether anything can touch the element: in a close packing a complete shell of twelve bonds leaves no space
    /// for a thirteenth ball.
    ///
    /// When such a shell breaks, earlier lists stay valid: the pairs of the broken bonds are added, and elements
    /// that were never bonded are as far away as second neighbours of a close packing, beyond the skin.
    pub is_exposed: bool,
    /// Whether one of its bonds is broken.
    pub is_broken: bool,
}

impl Exposure {
    /// As a byte, for messages.
    pub fn to_byte(self) -> u8 {
        u8::from(self.is_exposed) | u8::from(self.is_broken) << 1
    }

    /// From what [`to_byte`](Self::to_byte) made.
    pub fn from_byte(byte: u8) -> Self {
        Exposure {
            is_exposed: byte & 1 != 0,
            is_broken: byte & 2 != 0,
        }
    }

    /// Exposure of an element; `closed_shells` states whether nothing reaches into complete shells.
    pub fn of<S: Scalar>(system: &System<S>, element: usize, closed_shells: bool) -> Self {
        let bonds = &system.bonds;
        let (mut all, mut intact) = (0, 0);
        for side in bonds.sides(element) {
            all += 1;
            intact += usize::from(bonds.is_intact(side.entry));
        }
        Exposure {
            is_exposed: !closed_shells || intact < WHOLE_SHELL,
            is_broken: intact < all,
        }
    }
}

/// The list entry of a pair.
pub fn entry<S: Scalar>(
    system: &System<S>,
    surfaces: &SurfaceTable<S>,
    (own, partner): (u32, u32),
    touch: S,
) -> PairEntry<S> {
    let (i, j) = (own as usize, partner as usize);
    let radii = [system.tail[i].0[3], system.tail[j].0[3]];
    let properties = surfaces.pair(system, i, j);
    PairEntry {
        own,
        partner,
        touch,
        constants: pair_list::constants(
            radii,
            &properties,
            [system.inverse_mass[i], system.inverse_mass[j]],
        ),
        static_friction: properties.static_friction,
    }
}

/// Elements sorted by position, to search for pairs.
pub struct PairFinder<'a, S> {
    /// Elements and bonds.
    pub system: &'a System<S>,
    /// Contact properties.
    pub surfaces: &'a SurfaceTable<S>,
    /// Polyhedra, whose pairs are listed separately.
    pub shapes: Option<&'a Shapes>,
    /// Skin: gap up to which pairs are listed, m.
    pub skin: f64,
    /// Positions, m.
    pub anchor: &'a [DVec3],
    /// Exposure of each element; neither exposed nor broken if it is not within the skin of another one.
    pub exposure: &'a [Exposure],
    /// Exposed elements.
    pub exposed: &'a [u32],
    /// Exposed elements by position.
    pub grid: &'a HashGrid,
    /// For each bucket of the grid, as [`common_pieces`] tells.
    pub common: &'a [u32],
}

/// For each bucket of a grid the number of the rigid piece that all its elements belong to; 0 if they differ or one
/// is elastic.
pub fn common_pieces(grid: &HashGrid, exposed: &[u32], pieces: &[u32]) -> Vec<u32> {
    if pieces.is_empty() {
        return vec![0; grid.buckets()];
    }
    let buckets = (0..grid.buckets()).into_par_iter().with_min_len(4096);
    let common = buckets.map(|at| {
        let mut all = grid.bucket(at).iter();
        let piece = |&k: &u32| pieces[exposed[k as usize] as usize];
        let first = all.next().map_or(0, piece);
        match all.all(|k| piece(k) == first) {
            true => first,
            false => 0,
        }
    });
    common.collect()
}

impl<S: Scalar> PairFinder<'_, S> {
    /// Builds the pair lists of a chunk.
    pub fn list(&self, lists: &mut ContactChunk<S>) {
        let chunk = lists.elements.clone();
        let system = self.system;
        let [mut before, mut within, mut behind] = [(); 3].map(|()| Vec::new());
        let mut found: Vec<(u32, S)> = Vec::new();
        let mut bonded: Vec<BondSide> = Vec::new();
        for i in chunk.start..chunk.end.min(system.count) {
            if self.shapes.is_some_and(|shapes| shapes.get(i).is_some()) {
                continue;
            }
            let Exposure {
                is_exposed,
                is_broken,
            } = self.exposure[i];
            if !(is_exposed || is_broken) {
                continue;
            }
            found.clear();
            bonded.clear();
            bonded.extend(system.bonds.sides(i));
            if is_exposed {
                self.candidates(chunk.start, i, &bonded, &mut found);
            }
            if is_broken {
                self.broken(chunk.start, i, &bonded, &mut found);
            }
            found.sort_unstable_by_key(|(partner, _)| *partner);
            for &(partner, touch) in &found {
                let list = match chunk_side(&chunk, partner as usize) {
                    ChunkSide::Before => &mut before,
                    ChunkSide::Within => &mut within,
                    ChunkSide::Behind => &mut behind,
                };
                list.push(entry(system, self.surfaces, (i as u32, partner), touch));
            }
        }
        let features = self.surfaces.features();
        let overlaps = |pair: &PairEntry<S>| {
            let [a, b] = [pair.own, pair.partner].map(|end| self.anchor[end as usize]);
            a.distance(b) < pair.touch.to_f64()
        };
        lists.before = PairList::new(&before, &lists.before, features, overlaps);
        lists.within = PairList::new(&within, &lists.within, features, overlaps);
        lists.behind = PairList::new(&behind, &lists.behind, features, overlaps);
    }

    /// Finds the partners with which the chunk lists element i, and their contact distances, except partners
    /// that a bond joins or joined.
    fn candidates(&self, first: usize, i: usize, bonded: &[BondSide], found: &mut Vec<(u32, S)>) {
        let (system, anchor) = (self.system, self.anchor);
        let (p, r) = (anchor[i], system.radius(i));
        let held = system.inverse_mass[i].to_f64() == 0.0;
        let piece = system.rigid().pieces().get(i).copied().unwrap_or(0);
        let has_others = |bucket: usize| piece == 0 || self.common[bucket] != piece;
        self.grid.around_where(p, has_others, |k| {
            let j = self.exposed[k as usize];
            let other = j as usize;
            // Inside the chunk the lower element lists the pair.
            if other >= first && other <= i || system.is_one_piece(i, other) {
                return;
            }
            let reach = r + system.radius(other) + self.skin;
            if p.distance_squared(anchor[other]) > reach * reach {
                return;
            }
            if self
                .shapes
                .is_some_and(|shapes| shapes.get(other).is_some())
            {
                return;
            }
            // Two clamped elements cannot respond to a force.
            if held && system.inverse_mass[other].to_f64() == 0.0 {
                return;
            }
            let touch = system.touch(i, other);
            if touch.to_f64() > 0.0 && bonded.iter().all(|side| side.other != other) {
                found.push((j, touch));
            }
        });
    }

    /// Adds the partners by broken bonds of element i: they have contact distances of their own, beyond the
    /// range of the grid if a bond was longer than both radii.
    fn broken(&self, first: usize, i: usize, bonded: &[BondSide], found: &mut Vec<(u32, S)>) {
        let (system, anchor) = (self.system, self.anchor);
        let held = |k: usize| system.inverse_mass[k].to_f64() == 0.0;
        for side in bonded {
            let other = side.other;
            if system.bonds.is_intact(side.entry) || system.is_one_piece(i, other) {
                continue;
            }
            // The search does not visit it: nothing is within its skin, or nothing touches it any more.
            if !self.exposure[other].is_broken {
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
