//! When contact lists are rebuilt, and the rebuild.

use glam::DVec3;

use super::collider_list::ColliderContact;
use super::lists::Contacts;
use super::near::{Exposure, PairFinder, common_pieces};
use super::pair_list::Memory;
use super::soft::with_normal;
use crate::geometry::hash_grid::HashGrid;
use crate::math::Scalar;
use crate::parallel::prelude::*;
use crate::simulate::bonded::system::System;
use crate::simulate::scene::colliders::PosedCollider;

/// Elements that a search for contacts has to visit; it reads the positions of no others.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    /// Whether each element may be within the skin of an element that it can touch.
    pub pairs: Vec<bool>,
    /// Whether each element may be within the skin of a collider.
    pub colliders: Vec<bool>,
    /// Exposures of the candidates for pairs, as bytes; `None` if all their bonds are held here.
    pub exposure: Option<Vec<u8>>,
}

impl Candidates {
    /// Whether the search has to visit an element at all.
    pub fn contains(&self, element: usize) -> bool {
        self.pairs[element] || self.colliders[element]
    }
}

impl<S: Scalar> Contacts<S> {
    /// Accounts for a step as [`advance`](Self::advance) does, where the caller knows that no unlisted pair
    /// can touch.
    pub fn follow(&mut self, (element_travel, collider_travel): (f64, f64)) {
        self.steps = self.steps.saturating_add(1);
        self.moved += element_travel;
        self.travelled += element_travel;
        self.collider_approach += element_travel + collider_travel;
    }

    /// Whether [`advance`](Self::advance) with these distances reads positions.
    pub fn reads_places(&self, (element_travel, collider_travel): (f64, f64)) -> bool {
        self.collider_approach + (element_travel + collider_travel) >= self.skin
            || 2.0 * (self.moved + element_travel) >= self.skin
    }

    /// Accounts for a step in which elements and colliders moved at most these distances (m), and rebuilds
    /// the lists before an unlisted pair could touch. Returns whether it did.
    pub fn advance(
        &mut self,
        distances: (f64, f64),
        system: &System<S>,
        colliders: &[PosedCollider],
    ) -> bool {
        self.advance_among(distances, system, colliders, |_| None)
    }

    /// As [`advance`](Self::advance); a rebuild visits only the elements that `candidates` finds, or all.
    pub fn advance_among(
        &mut self,
        (element_travel, collider_travel): (f64, f64),
        system: &System<S>,
        colliders: &[PosedCollider],
        candidates: impl Fn(&Self) -> Option<Candidates>,
    ) -> bool {
        self.follow((element_travel, collider_travel));
        let far = self.are_colliders_due();
        if far {
            let among = candidates(self);
            self.rebuild_near_among(system, colliders, among.as_ref());
        }
        if !self.are_pairs_due() || self.hold(self.displacements(system)) {
            return far;
        }
        let is_other_skin = self.adapt_skin();
        let among = candidates(self);
        self.rebuild_pairs(system, among.as_ref());
        if is_other_skin {
            self.rebuild_near_among(system, colliders, among.as_ref());
        }
        true
    }

    /// Whether an element may have come near a collider with which it is not listed.
    pub fn are_colliders_due(&self) -> bool {
        self.collider_approach >= self.skin
    }

    /// Whether an unlisted pair could touch by the sum of the largest distances moved. This is an upper bound: see
    /// [`hold`](Self::hold).
    pub fn are_pairs_due(&self) -> bool {
        2.0 * self.moved >= self.skin
    }

    /// Least and largest displacement, along each axis, of the elements of the listed chunks since the pair lists were
    /// built, m.
    pub fn displacements(&self, system: &System<S>) -> (DVec3, DVec3) {
        let empty_box = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        self.anchor
            .par_iter()
            .enumerate()
            .with_min_len(self.chunk)
            .map(|(i, anchor)| {
                if !self.owned.contains(i / self.chunk) {
                    return empty_box;
                }
                let d = system.position(i) - *anchor;
                (d, d)
            })
            .reduce(|| empty_box, |a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// Whether the pair lists hold after these displacements of all elements: actual ones are often smaller than the
    /// sum of the largest distances, and a common translation brings no pair closer.
    pub fn hold(&mut self, (low, high): (DVec3, DVec3)) -> bool {
        let farthest = 0.5 * (high - low).length();
        // Near the limit the exact check would soon be due again; a rebuild is cheaper.
        let holds = 2.0 * farthest < 0.7 * self.skin;
        if holds {
            self.moved = farthest;
        }
        holds
    }

    /// Rebuilds the lists if elements have moved so far that an unlisted pair could touch; returns whether it
    /// did.
    pub fn rebuild_if_moved(&mut self, system: &System<S>, colliders: &[PosedCollider]) -> bool {
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
            self.rebuild(system, colliders);
        }
        far
    }

    /// Rebuilds the lists, keeping springs.
    pub fn rebuild(&mut self, system: &System<S>, colliders: &[PosedCollider]) {
        self.rebuild_among(system, colliders, None);
    }

    /// Rebuilds the lists, keeping springs; visits only these elements, or all.
    pub fn rebuild_among(
        &mut self,
        system: &System<S>,
        colliders: &[PosedCollider],
        candidates: Option<&Candidates>,
    ) {
        self.rebuild_pairs(system, candidates);
        self.rebuild_near_among(system, colliders, candidates);
    }

    /// Rebuilds the lists of pairs, keeping springs; visits only these elements, or all.
    pub fn rebuild_pairs(&mut self, system: &System<S>, candidates: Option<&Candidates>) {
        let may_touch = |i: usize| candidates.is_none_or(|all| all.pairs[i]);
        let given = candidates.and_then(|all| all.exposure.as_ref());
        let elements = (0..system.count).into_par_iter().with_min_len(self.chunk);
        let anchor = self.anchors(system, candidates);
        let exposure = elements.map(|i| match (may_touch(i), given) {
            (true, Some(bytes)) => Exposure::from_byte(bytes[i]),
            (true, None) => Exposure::of(system, i, self.closed_shells),
            (false, _) => Exposure::default(),
        });
        let mut exposure: Vec<Exposure> = exposure.collect();
        let listed = exposure.iter().enumerate();
        let listed = listed.filter(|(i, _)| self.owned.contains(i / self.chunk));
        self.exposed = listed.filter(|(_, one)| one.is_exposed).count();
        self.exposed_of_all = self.exposed;
        if !self.leaves_shells_out() {
            for (i, one) in exposure.iter_mut().enumerate() {
                one.is_exposed = may_touch(i);
            }
        }
        let exposed: Vec<u32> = (0..system.count as u32)
            .filter(|&i| exposure[i as usize].is_exposed)
            .collect();
        let grid = HashGrid::new(exposed.len(), 2.0 * self.largest + self.skin, |k| {
            anchor[exposed[k] as usize]
        });
        let common = common_pieces(&grid, &exposed, system.rigid().pieces());
        let finder = PairFinder {
            system,
            surfaces: &self.surfaces,
            shapes: self.shapes.as_deref(),
            skin: self.skin,
            anchor: &anchor,
            exposure: &exposure,
            exposed: &exposed,
            grid: &grid,
            common: &common,
        };
        let owned = &self.owned;
        self.chunks
            .par_iter_mut()
            .enumerate()
            .for_each(|(at, lists)| {
                if owned.contains(at) {
                    finder.list(lists);
                }
            });
        self.on_solids(system, |finder, solids| finder.rebuild(solids));
        self.anchor = anchor;
        (self.moved, self.travelled, self.steps) = (0.0, 0.0, 0);
    }

    /// Positions of all elements; where other processes list the contacts of some, of the elements of the listed chunks
    /// and of the candidates alone.
    fn anchors(&self, system: &System<S>, candidates: Option<&Candidates>) -> Vec<DVec3> {
        let places = (0..system.count).into_par_iter().with_min_len(self.chunk);
        let Some(candidates) = candidates.filter(|_| !self.owned.are_all()) else {
            return places.map(|i| system.position(i)).collect();
        };
        // Pages that are not written take no memory.
        let mut anchor: Vec<DVec3> = bytemuck::zeroed_vec(system.count);
        let rows = anchor.par_iter_mut().enumerate().with_min_len(self.chunk);
        rows.for_each(|(i, place)| {
            if candidates.contains(i) || self.owned.contains(i / self.chunk) {
                *place = system.position(i);
            }
        });
        anchor
    }

    /// Exposures of the elements of the listed chunks, as bytes.
    pub fn exposures(&self, system: &System<S>) -> Vec<u8> {
        let elements = (0..system.count).into_par_iter().with_min_len(self.chunk);
        let of = |i: usize| match self.owned.contains(i / self.chunk) {
            true => Exposure::of(system, i, self.closed_shells).to_byte(),
            false => 0,
        };
        elements.map(of).collect()
    }

    /// Rebuilds the lists of elements near colliders, keeping springs.
    pub fn rebuild_near_colliders(&mut self, system: &System<S>, colliders: &[PosedCollider]) {
        self.rebuild_near_among(system, colliders, None);
    }

    /// As [`rebuild_near_colliders`](Self::rebuild_near_colliders); visits only these elements, or all.
    pub fn rebuild_near_among(
        &mut self,
        system: &System<S>,
        colliders: &[PosedCollider],
        candidates: Option<&Candidates>,
    ) {
        self.collider_approach = 0.0;
        if colliders.is_empty() {
            return;
        }
        self.on_solids(system, |finder, solids| {
            finder.rebuild_near_colliders(solids, colliders)
        });
        let (skin, surfaces, shapes) = (self.skin, &self.surfaces, self.shapes.as_deref());
        let owned = &self.owned;
        let chunks = self.chunks.par_iter_mut().enumerate();
        chunks.for_each(|(at, lists)| {
            if !owned.contains(at) {
                return;
            }
            let old = std::mem::take(&mut lists.near_colliders);
            let mut old = old.iter().peekable();
            for i in lists.elements.start..lists.elements.end.min(system.count) {
                let is_ball = shapes.is_none_or(|shapes| shapes.get(i).is_none());
                let is_candidate = candidates.is_none_or(|all| all.colliders[i]);
                if !is_candidate || system.inverse_mass[i].to_f64() == 0.0 || !is_ball {
                    continue;
                }
                let (p, reach) = (system.position(i), system.radius(i) + skin);
                for (wall, collider) in colliders.iter().enumerate() {
                    if !collider.pose.reaches(&collider.solid, p, reach) {
                        continue;
                    }
                    let key = (i as u32, wall as u32);
                    while old.next_if(|e| (e.element, e.collider) < key).is_some() {}
                    let same = old.next_if(|e| (e.element, e.collider) == key);
                    let properties = surfaces.with_collider(system, i, collider);
                    let mut k = properties.k;
                    let stiff = k.normal;
                    // A soft contact stays soft as long as it overlaps.
                    let overlaps = || collider.pose.reaches(&collider.solid, p, system.radius(i));
                    let soft = same.filter(|e| e.soft && overlaps());
                    if let Some(soft) = soft {
                        k = with_normal(k, soft.k.normal.to_f64());
                    }
                    lists.near_colliders.push(ColliderContact {
                        element: key.0,
                        collider: key.1,
                        memory: same.map_or_else(Memory::default, |e| e.memory),
                        k,
                        soft: soft.is_some(),
                        stiff,
                        static_friction: properties.static_friction,
                        rolling: properties.rolling,
                        clear_until: 0.0,
                        near: Default::default(),
                    });
                }
            }
        });
    }
}
