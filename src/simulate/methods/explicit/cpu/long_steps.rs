//! Motion of sleeping fragments: with the steps of those that are awake, and in long steps while none is.

use std::time::Instant;

use super::Cpu;
use crate::math::Lanes;
use crate::simulate::error::SimulateError;
use crate::simulate::scene::colliders::SolidCollider;
use crate::simulate::sleep::surroundings::Surroundings;

impl<L: Lanes> Cpu<L> {
    /// Number of steps to take at once: one while anything is awake or a collider moves.
    pub(super) fn steps_at_once(&mut self, left: u64) -> u64 {
        let Some(sleep) = &self.sleep else {
            return 1;
        };
        let mut colliders = self.run.supports.colliders().iter();
        if sleep.awake() > 0 || sleep.fields().drag != 0.0 || colliders.any(SolidCollider::moves) {
            return 1;
        }
        if !sleep.anything_moves() {
            return left;
        }
        if self.lists_hold_until <= self.run.step {
            self.build_lists();
        }
        let (Some(sleep), around) = (&self.sleep, self.surroundings()) else {
            return 1;
        };
        let steps = sleep.steps_in_contact(around, self.run.dt);
        steps.min(left).min(self.lists_hold_until - self.run.step)
    }

    /// Rebuilds the contact lists, and computes up to which step they hold every pair that can touch. Only for
    /// times when nothing is awake.
    pub(super) fn build_lists(&mut self) {
        let clock = Instant::now();
        let Some(sleep) = &self.sleep else {
            return;
        };
        sleep.place_all(&mut self.run.system);
        let close = sleep.close_elements(self.surroundings());
        let (system, colliders) = (&self.run.system, &self.driven.colliders);
        let contacts = &mut self.run.contacts;
        contacts.rebuild_among(system, colliders, |i| close[i]);
        self.find_near();
        if let Some(sleep) = &self.sleep {
            let bounds = sleep.bounds(self.surroundings());
            let time = sleep.lists_hold(self.surroundings(), &bounds);
            self.bounds = (self.run.step, bounds);
            let steps = (time / self.run.dt).floor().clamp(1.0, 1e15) as u64;
            self.lists_hold_until = self.run.step + steps;
        }
        self.costs.lists.add(clock, rayon::current_num_threads());
    }

    fn surroundings(&self) -> Surroundings<'_, L::Scalar> {
        Surroundings {
            system: &self.run.system,
            contacts: &self.run.contacts,
            colliders: &self.driven.colliders,
        }
    }

    /// Moves the pieces by `count` steps at once; nothing is awake.
    pub(super) fn glide(&mut self, count: u64) -> Result<(), SimulateError> {
        let clock = Instant::now();
        let dt = self.run.dt * count as f64;
        let travel = self.advance_pieces(true, dt)?;
        self.kick_due = true;
        let after = (self.run.step + count) as f64 * self.run.dt;
        let now = self.run.colliders(after);
        let speed = now.iter().chain(&self.driven.colliders);
        let speed = speed.map(|one| one.fastest()).fold(0.0, f64::max);
        self.driven.colliders = now;
        self.costs.motion.add(clock, rayon::current_num_threads());
        if speed > 0.0 {
            self.follow_lists((travel, speed * dt));
            return Ok(());
        }
        self.run.contacts.follow((travel, 0.0));
        let (since, bounds) = &self.bounds;
        let time = (self.run.step + count - since) as f64 * self.run.dt;
        if let Some(sleep) = &self.sleep {
            sleep.place_near(&mut self.run.system);
            if sleep.outruns(bounds, time) {
                // The lists held until now.
                self.lists_hold_until = self.run.step;
            }
        }
        Ok(())
    }

    /// Gives the kicks and the drift of a step of `dt` seconds to all pieces; returns the largest distance
    /// that an element moved, m.
    pub(super) fn advance_pieces(&mut self, open: bool, dt: f64) -> Result<f64, SimulateError> {
        let Some(sleep) = &mut self.sleep else {
            return Ok(0.0);
        };
        let travel = sleep.advance((self.kick_due, open), &self.run.load, dt);
        if let Some(piece) = sleep.not_finite() {
            return Err(SimulateError::NotFinite {
                step: self.run.step,
                time: self.run.time(),
                element: piece.elements[0],
            });
        }
        Ok(travel)
    }

    /// Sets the places of elements that are asleep, and accounts in the contact lists for the distances (m)
    /// that elements and colliders moved.
    pub(super) fn follow_lists(&mut self, distances: (f64, f64)) {
        let clock = Instant::now();
        if let Some(sleep) = &self.sleep {
            match self.run.contacts.reads_places(distances) {
                true => sleep.place_all(&mut self.run.system),
                false => sleep.place_near(&mut self.run.system),
            }
        }
        let (system, colliders) = (&self.run.system, &self.driven.colliders);
        if self.run.contacts.advance(distances, system, colliders) {
            self.find_near();
        }
        self.costs.lists.add(clock, rayon::current_num_threads());
    }

    /// Finds the elements that are asleep and have listed contacts.
    pub(super) fn find_near(&mut self) {
        let Some(sleep) = &mut self.sleep else {
            return;
        };
        let mut marks = vec![false; self.run.system.motion.len()];
        self.run.contacts.mark_listed(&mut marks);
        sleep.set_near(&marks);
        self.near = (0..self.run.system.count as u32)
            .filter(|&i| marks[i as usize] && sleep.is_asleep(i as usize))
            .collect();
        sleep.place_near(&mut self.run.system);
    }
}
