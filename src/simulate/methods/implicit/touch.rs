//! Contacts of an implicit step.
//!
//! The law is that of explicit steps, with displacements over the step in place of velocity times its length:
//! a quadratic penalty, or a barrier in its place, and friction by a spring that yields. The tangent neglects
//! the change of the friction limit within an iteration (lagged, as in incremental potentials), so it is
//! symmetric, and results do not depend on the step length.

mod pair;

use crate::parallel::prelude::*;

use super::start::StepStart;
use crate::math::Vec3;
use crate::simulate::bonded::system::System;
use crate::simulate::contact::chunk::{COLLIDER, SpringEntry};
use crate::simulate::contact::collider_list::ColliderContact;
use crate::simulate::contact::lists::Contacts;
use crate::simulate::contact::pair_list::Memory;
use crate::simulate::contact::pass::ContactTotals;
use crate::simulate::scene::colliders::PosedCollider;
use crate::solve::block::{Six, add_six as add};
use crate::spec::{ContactLaw, Friction, Simulate};
use pair::active_contact;
pub use pair::{ActiveContact, CandidatePair};

/// All pairs that may touch.
#[derive(Clone, Debug)]
pub struct ContactSet {
    law: ContactLaw,
    friction: Friction,
    pairs: Vec<CandidatePair>,
    /// Pairs in contact, in pair order.
    pub active: Vec<ActiveContact>,
    /// First place of each element in `sides`.
    start: Vec<u32>,
    /// Index of each contact of an element, and whether it is the second of the pair.
    sides: Vec<(u32, bool)>,
}

impl ContactSet {
    /// An empty set with the laws of these settings.
    pub fn new(settings: &Simulate) -> Self {
        ContactSet {
            law: settings.contact,
            friction: settings.implicit.friction,
            pairs: Vec::new(),
            active: Vec::new(),
            start: Vec::new(),
            sides: Vec::new(),
        }
    }

    /// Whether pairs must never pass through each other.
    pub fn is_barrier(&self) -> bool {
        self.law == ContactLaw::Barrier
    }

    /// Pairs that may touch.
    pub fn pairs(&self) -> &[CandidatePair] {
        &self.pairs
    }

    /// Copies the listed pairs with their springs.
    pub fn collect(&mut self, contacts: &Contacts<f64>, system: &System<f64>) {
        self.pairs.clear();
        for chunk in &contacts.chunks {
            self.pairs.extend(CandidatePair::listed(&chunk.within));
            self.pairs.extend(CandidatePair::listed(&chunk.behind));
            let radius = |wall: &ColliderContact<f64>| system.radius(wall.element as usize);
            let near_colliders = chunk.near_colliders.iter();
            let near_colliders = near_colliders.map(|wall| CandidatePair::wall(wall, radius(wall)));
            self.pairs.extend(near_colliders);
        }
        for pair in &mut self.pairs {
            pair.apply_friction_mode(self.friction);
        }
    }

    /// Whether each contact slides.
    pub fn sliding(&self) -> Vec<bool> {
        self.active.iter().map(ActiveContact::slides).collect()
    }

    /// Updates friction by the linear model of an iteration that began with contacts `before` and went
    /// fraction `part` of its direction.
    pub fn update_friction(&mut self, before: &[ActiveContact], part: f64) {
        let mut now = self.active.iter_mut().peekable();
        for old in before {
            let Some(pair) = self.pairs.get_mut(old.index) else {
                continue;
            };
            // Lists may have been rebuilt meanwhile.
            if (pair.i, pair.j) != (old.i, old.j) {
                continue;
            }
            while now.next_if(|now| now.index < old.index).is_some() {}
            pair.friction_force = match now.next_if(|now| now.index == old.index) {
                Some(now) => {
                    now.update_friction(old, part);
                    now.friction_force()
                }
                None => Vec3::zero(),
            };
        }
    }

    /// Evaluates all pairs at the current positions.
    pub fn evaluate(
        &mut self,
        system: &System<f64>,
        colliders: &[PosedCollider],
        start: &StepStart,
    ) {
        self.active.clear();
        let pairs = self.pairs.par_iter().enumerate().with_min_len(256);
        let found =
            pairs.filter_map(|pair| active_contact(pair, self.law, system, colliders, start));
        self.active.par_extend(found);
        let mut count = vec![0u32; system.count + 1];
        let ends = |t: &ActiveContact| [Some(t.i), (t.j < COLLIDER).then_some(t.j)];
        for end in self.active.iter().flat_map(ends).flatten() {
            count[end as usize + 1] += 1;
        }
        for k in 0..system.count {
            count[k + 1] += count[k];
        }
        let mut next = count.clone();
        self.sides = vec![(0, false); count[system.count] as usize];
        for (at, pair) in self.active.iter().enumerate() {
            for (end, second) in ends(pair).into_iter().zip([false, true]) {
                if let Some(end) = end {
                    let to = &mut next[end as usize];
                    self.sides[*to as usize] = (at as u32, second);
                    *to += 1;
                }
            }
        }
        self.start = count;
    }

    /// Contacts of an element, and whether it is the second of each.
    pub fn of_element(&self, element: usize) -> impl Iterator<Item = (&ActiveContact, bool)> {
        let range = self.start[element] as usize..self.start[element + 1] as usize;
        let sides = self.sides[range].iter();
        sides.map(|&(at, second)| (&self.active[at as usize], second))
    }

    /// Adds forces and torques of all contacts.
    pub fn add_loads(&self, sums: &mut [Six]) {
        if self.active.is_empty() {
            return;
        }
        let elements = self.start.len() - 1;
        sums[..elements]
            .par_iter_mut()
            .with_min_len(256)
            .enumerate()
            .for_each(|(i, sum)| {
                for (pair, second) in self.of_element(i) {
                    add(sum, &pair.load(second));
                }
            });
    }

    /// Elastic energy, number of contact sides, and number of elements that touch each of the `colliders`.
    pub fn totals(&self, colliders: usize) -> (ContactTotals, Vec<u32>) {
        let mut touched = vec![0; colliders];
        let mut energy = 0.0;
        for pair in &self.active {
            energy += pair.energy;
            if pair.j >= COLLIDER {
                touched[(pair.j - COLLIDER) as usize] += 1;
            }
        }
        let sides = 2 * self.active.len() as u64;
        (ContactTotals { energy, sides }, touched)
    }

    /// Stores the current springs in the lists; those of pairs without contact are reset.
    pub fn store_springs(&self, contacts: &mut Contacts<f64>) {
        let mut springs = Vec::new();
        let mut note = |i: u32, j: u32, spring: Vec3<f64>| {
            let memory = Memory {
                spring: [spring.x, spring.y, spring.z],
                ..Memory::default()
            };
            let entry = |element, partner, memory| SpringEntry {
                element,
                partner,
                memory,
            };
            springs.push(entry(i, j, memory));
            if j < COLLIDER {
                springs.push(entry(j, i, memory.mirrored()));
            }
        };
        let mut touching = self.active.iter().peekable();
        let slack = Vec3::zero();
        for pair in &self.pairs {
            let same = touching.next_if(|t| (t.i, t.j) == (pair.i, pair.j));
            match same {
                Some(found) => note(pair.i, pair.j, found.spring),
                None if pair.spring != slack => note(pair.i, pair.j, slack),
                None => {}
            }
        }
        let lost = contacts.restore_springs(&springs);
        debug_assert_eq!(lost, 0, "every spring belongs to a listed pair");
    }
}
