//! Contacts of an implicit step.
//!
//! The law is that of explicit steps with displacements over the step in the place of velocities times its
//! length: a quadratic penalty or, in its place, a barrier, and friction by a spring that gives way. Its
//! tangent leaves out how the limit of friction changes within an iteration (lagged, as in incremental
//! potentials), so it is symmetric, and results do not depend on the length of steps.

mod pair;

use crate::parallel::prelude::*;

use super::start::Start;
use crate::math::Vec3;
use crate::simulate::bonded::system::System;
use crate::simulate::contact::chunk::{COLLIDER, SpringEntry};
use crate::simulate::contact::lists::Contacts;
use crate::simulate::contact::pair_list::Memory;
use crate::simulate::contact::pass::ContactTotals;
use crate::simulate::contact::wall_list::WallEntry;
use crate::simulate::scene::colliders::Obstacle;
use crate::solve::block::{Six, add_six as add};
use crate::spec::{ContactLaw, Friction, Simulate};
use pair::touching;
pub use pair::{Pair, Touching};

/// All pairs that may touch.
#[derive(Clone, Debug)]
pub struct Touch {
    law: ContactLaw,
    friction: Friction,
    pairs: Vec<Pair>,
    /// Those that touch, in the order of pairs.
    pub touching: Vec<Touching>,
    /// Where each element's part of `sides` begins.
    start: Vec<u32>,
    /// Touching pairs of each element, and whether it is their second.
    sides: Vec<(u32, bool)>,
}

impl Touch {
    /// With the laws of these settings, no pair listed.
    pub fn new(settings: &Simulate) -> Self {
        Touch {
            law: settings.contact,
            friction: settings.implicit.friction,
            pairs: Vec::new(),
            touching: Vec::new(),
            start: Vec::new(),
            sides: Vec::new(),
        }
    }

    /// Whether pairs must keep apart wherever they go.
    pub fn is_barrier(&self) -> bool {
        self.law == ContactLaw::Barrier
    }

    /// Pairs that may touch.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// Takes the pairs that are listed, with what they remember.
    pub fn collect(&mut self, contacts: &Contacts<f64>, system: &System<f64>) {
        self.pairs.clear();
        for chunk in &contacts.chunks {
            self.pairs.extend(Pair::listed(&chunk.within));
            self.pairs.extend(Pair::listed(&chunk.behind));
            let radius = |wall: &WallEntry<f64>| system.radius(wall.element as usize);
            let walls = chunk.walls.iter();
            let walls = walls.map(|wall| Pair::wall(wall, radius(wall)));
            self.pairs.extend(walls);
        }
        for pair in &mut self.pairs {
            pair.rub(self.friction);
        }
    }

    /// Which of those that touch slide.
    pub fn sliding(&self) -> Vec<bool> {
        self.touching.iter().map(Touching::slides).collect()
    }

    /// Learns friction from the linear model of an iteration that began where pairs touched as `before`, and
    /// went part `part` of its way.
    pub fn learn(&mut self, before: &[Touching], part: f64) {
        let mut now = self.touching.iter_mut().peekable();
        for old in before {
            let Some(pair) = self.pairs.get_mut(old.at) else {
                continue;
            };
            // Lists may have been made anew on the way.
            if (pair.i, pair.j) != (old.i, old.j) {
                continue;
            }
            while now.next_if(|now| now.at < old.at).is_some() {}
            pair.pull = match now.next_if(|now| now.at == old.at) {
                Some(now) => {
                    now.learn(old, part);
                    now.pull()
                }
                None => Vec3::zero(),
            };
        }
    }

    /// Evaluates all pairs as they stand.
    pub fn evaluate(&mut self, system: &System<f64>, obstacles: &[Obstacle], start: &Start) {
        self.touching.clear();
        let pairs = self.pairs.par_iter().enumerate().with_min_len(256);
        let found = pairs.filter_map(|pair| touching(pair, self.law, system, obstacles, start));
        self.touching.par_extend(found);
        let mut count = vec![0u32; system.count + 1];
        let ends = |t: &Touching| [Some(t.i), (t.j < COLLIDER).then_some(t.j)];
        for end in self.touching.iter().flat_map(ends).flatten() {
            count[end as usize + 1] += 1;
        }
        for k in 0..system.count {
            count[k + 1] += count[k];
        }
        let mut next = count.clone();
        self.sides = vec![(0, false); count[system.count] as usize];
        for (at, pair) in self.touching.iter().enumerate() {
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

    /// Touching pairs of an element, and whether it is the second of each.
    pub fn of(&self, element: usize) -> impl Iterator<Item = (&Touching, bool)> {
        let range = self.start[element] as usize..self.start[element + 1] as usize;
        let sides = self.sides[range].iter();
        sides.map(|&(at, second)| (&self.touching[at as usize], second))
    }

    /// Adds forces and torques.
    pub fn add_loads(&self, sums: &mut [Six]) {
        if self.touching.is_empty() {
            return;
        }
        let elements = self.start.len() - 1;
        sums[..elements]
            .par_iter_mut()
            .with_min_len(256)
            .enumerate()
            .for_each(|(i, sum)| {
                for (pair, second) in self.of(i) {
                    add(sum, &pair.load(second));
                }
            });
    }

    /// Elastic energy, touching pairs, and how many elements touch each of so many colliders.
    pub fn totals(&self, colliders: usize) -> (ContactTotals, Vec<u32>) {
        let mut touched = vec![0; colliders];
        let mut energy = 0.0;
        for pair in &self.touching {
            energy += pair.energy;
            if pair.j >= COLLIDER {
                touched[(pair.j - COLLIDER) as usize] += 1;
            }
        }
        let sides = 2 * self.touching.len() as u64;
        (ContactTotals { energy, sides }, touched)
    }

    /// Lets the lists remember the springs as they stand; those of pairs that do not touch are slack.
    pub fn remember(&self, contacts: &mut Contacts<f64>) {
        let mut springs = Vec::new();
        let mut note = |i: u32, j: u32, spring: Vec3<f64>| {
            let memory = Memory {
                spring: [spring.x, spring.y, spring.z],
                roll: [0.0; 3],
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
        let mut touching = self.touching.iter().peekable();
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
        debug_assert_eq!(lost, 0, "springs belong to listed pairs");
    }
}
