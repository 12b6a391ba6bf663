//! Motion of sleeping fragments: apart from what is awake until something else may touch them, or with it.

use std::time::Instant;

use super::Cpu;
use crate::columns::{SleepEvent, SleepReason};
use crate::math::Lanes;
use crate::simulate::bonded_run::advance::DrivenPoses;
use crate::simulate::bonded_run::run::BondedRun;
use crate::simulate::contact::lists::Contacts;
use crate::simulate::error::SimulateError;
use crate::simulate::scene::colliders::SolidCollider;
use crate::simulate::scene::reactions::Wrench;
use crate::simulate::sleep::alarm::Alarm;
use crate::simulate::sleep::island::Outside;
use crate::simulate::sleep::islands::Islands;
use crate::simulate::sleep::piece::Piece;
use crate::simulate::sleep::surroundings::Surroundings;

/// Steps from one search for calm fragments to the next.
pub(super) const INTERVAL: u64 = 128;

/// Number of steps from which stepping sleeping fragments apart is worth new contact lists, while elements are
/// awake.
const WORTHWHILE: u64 = 64;

/// Loads on supports over several steps.
pub(super) struct Reactions {
    /// Weighted sum, by the trapezoidal rule.
    pub sum: Vec<Wrench>,
    /// In the last step, without those of pieces at rest.
    pub last: Vec<Wrench>,
}

impl Reactions {
    /// Adds `count` steps whose loads go from those of the last step to these.
    pub fn add(&mut self, count: u64, now: Vec<Wrench>) {
        for ((sum, before), now) in self.sum.iter_mut().zip(&self.last).zip(&now) {
            *sum += (*before + *now) * (0.5 * count as f64);
        }
        self.last = now;
    }

    /// Adds the loads of pieces at rest over `count` steps.
    pub fn add_resting(&mut self, count: u64, loads: &[Wrench]) {
        for (sum, load) in self.sum.iter_mut().zip(loads) {
            *sum += *load * count as f64;
        }
    }

    /// Adds the loads of pieces at rest to those of the last step.
    pub fn rest(&mut self, loads: &[Wrench]) {
        for (last, load) in self.last.iter_mut().zip(loads) {
            *last += *load;
        }
    }
}

/// What ended steps in which sleeping fragments were stepped apart.
pub(super) struct Glide {
    /// Number of steps taken.
    pub count: u64,
    /// Pieces to wake or to set in motion.
    pub alarms: Vec<Alarm>,
}

/// What surrounds the pieces of a run.
pub(super) fn surroundings<'a, S>(
    run: &'a BondedRun<S>,
    driven: &'a DrivenPoses<S>,
) -> Surroundings<'a, S> {
    Surroundings {
        system: &run.system,
        contacts: &run.contacts,
        colliders: &driven.colliders,
    }
}

impl<L: Lanes> Cpu<L> {
    /// Whether sleeping fragments can be stepped apart from what is awake: no collider moves and nothing drags.
    pub(super) fn allows_islands(&self) -> bool {
        let mut colliders = self.run.supports.colliders().iter();
        self.sleep.as_ref().is_some_and(|sleep| {
            let is_plain = sleep.anything_moves() && sleep.fields().drag == 0.0;
            is_plain && !colliders.any(SolidCollider::moves)
        })
    }

    /// Whether nothing moves at all: neither elements nor colliders.
    pub(super) fn rests(&self) -> bool {
        let mut colliders = self.run.supports.colliders().iter();
        self.sleep.as_ref().is_some_and(|sleep| {
            let rests = sleep.awake() == 0 && !sleep.anything_moves();
            rests && !colliders.any(SolidCollider::moves)
        })
    }

    /// Takes at most `left` steps in which sleeping fragments are stepped apart; `None` if none can be.
    pub(super) fn glide(
        &mut self,
        left: u64,
        reactions: &mut Reactions,
    ) -> Result<Option<Glide>, SimulateError> {
        if !self.allows_islands() || self.run.step < self.together_until {
            return Ok(None);
        }
        self.finish_step()?;
        if self.lists_hold_until <= self.run.step {
            self.build_lists();
            if self.run.step < self.together_until {
                return Ok(None);
            }
        }
        self.share_springs();
        let start = self.run.step;
        let (contacts, groups) = (&mut self.run.contacts, &self.groups.1);
        let Some(sleep) = &mut self.sleep else {
            return Ok(None);
        };
        let is_any_awake = sleep.awake() > 0;
        let around = (&self.run.system, contacts);
        let mut islands = Islands::take_out(sleep, around, groups, start);
        let mut end = self.lists_hold_until.min(start + left);
        if is_any_awake {
            end = end.min((start / INTERVAL + 1) * INTERVAL);
        }
        let clock = Instant::now();
        let mut reached: u64 =
            self.on_pieces(|pieces, outside| islands.advance(pieces, outside, end));
        self.costs.contacts.add(clock, rayon::current_num_threads());
        let mut alarms = Vec::new();
        if is_any_awake {
            let own = self.step_awake(reached, reactions)?;
            if self.run.step < reached {
                reached = self.run.step;
                self.on_pieces(|pieces, outside| islands.go_back(pieces, outside, reached));
            }
            alarms = own;
        } else {
            reactions.last.fill(Wrench::default());
        }
        alarms.append(&mut islands.wakes);
        // Several contacts may set the same piece at rest in motion; a blow counts more.
        alarms.sort_by_key(|alarm| (alarm.piece, alarm.reason == SleepReason::Touched));
        alarms.dedup_by_key(|alarm| alarm.piece);
        self.run.step = reached;
        if reached < end {
            self.lists_hold_until = reached;
        }
        self.put_back(islands, reactions)?;
        let count = reached - start;
        Ok(Some(Glide { count, alarms }))
    }

    /// Calls `act` with the pieces and what surrounds them.
    fn on_pieces<T>(&mut self, act: impl FnOnce(&mut [Piece], &Outside<L::Scalar>) -> T) -> T
    where
        T: Default,
    {
        let Some(sleep) = &mut self.sleep else {
            return T::default();
        };
        let fields = *sleep.fields();
        let (pieces, limits, strength) = sleep.split();
        let outside = Outside {
            system: &self.run.system,
            rest: &self.run.rest,
            colliders: &self.driven.colliders,
            fields,
            limits,
            strength,
            dt: self.run.dt,
            since: self.groups.0,
            account: self.run.work.is_some(),
            judging: &self.costs.sleep,
        };
        act(pieces, &outside)
    }

    /// Puts islands back into the run, with what happened to them.
    fn put_back(
        &mut self,
        islands: Islands<L::Scalar>,
        reactions: &mut Reactions,
    ) -> Result<(), SimulateError> {
        islands.add_reactions(&mut reactions.sum, &mut reactions.last);
        if self.run.work.is_some() {
            let (chunk, rows) = (self.run.system.chunk, &mut self.dissipation);
            islands.dissipated(|element, energies| {
                let i = element as usize;
                rows[i / chunk][i % chunk].add(1.0, energies);
            });
        }
        for (step, alarm) in &islands.harmless {
            self.record(SleepEvent::Judged, (*step, *alarm), 0.0);
        }
        if let Some(sleep) = &mut self.sleep {
            islands.put_back(sleep, (&mut self.run.system, &mut self.run.contacts));
        }
        self.loads_due = true;
        match self.sleep.as_ref().and_then(|sleep| sleep.not_finite()) {
            Some(piece) => Err(self.not_finite(piece.elements[0])),
            None => Ok(()),
        }
    }

    fn not_finite(&self, element: u32) -> SimulateError {
        SimulateError::NotFinite {
            step: self.run.step,
            time: self.run.time(),
            element,
        }
    }

    /// Rebuilds the contact lists, and computes up to which step they hold every pair that can touch. While nothing is
    /// awake, only the elements that the search visits get their present places.
    pub(super) fn build_lists(&mut self) {
        let clock = Instant::now();
        self.share_awake();
        let Some(sleep) = &self.sleep else {
            return;
        };
        let nothing_awake = sleep.awake() == 0;
        self.run.contacts.set_skin(nothing_awake);
        let candidates = sleep.candidates(surroundings(&self.run, &self.driven));
        match &candidates {
            // Nobody reads the places of the others before something wakes.
            Some(some) if nothing_awake => sleep.place_candidates(some, &mut self.run.system),
            _ => sleep.place_all(&mut self.run.system),
        }
        let (system, colliders) = (&self.run.system, &self.driven.colliders);
        let contacts = &mut self.run.contacts;
        contacts.rebuild_among(system, colliders, candidates.as_ref());
        self.rebalance_with_sleep();
        self.find_near();
        self.set_horizon();
        self.costs.lists.add(clock, rayon::current_num_threads());
    }

    /// Computes up to which step the contact lists, which were just built, hold every pair that can touch.
    pub(super) fn set_horizon(&mut self) {
        let allowed = self.allows_islands();
        let Some(sleep) = self.sleep.as_ref().filter(|_| allowed) else {
            self.lists_hold_until = self.run.step;
            return;
        };
        let around = surroundings(&self.run, &self.driven);
        let groups = sleep.groups(around);
        let time = match sleep.awake() > 0 {
            true => sleep.lists_hold_beside_awake(around, &groups),
            false => sleep.lists_hold(around, &groups.bounds),
        };
        let steps = (time / self.run.dt).floor().clamp(1.0, 1e15) as u64;
        let step = self.run.step;
        let mut pieces = sleep.pieces.iter().zip(&groups.meets_awake);
        let is_any_apart = pieces.any(|(piece, meets_awake)| !piece.still && !meets_awake);
        let together = sleep.awake() > 0 && (steps < WORTHWHILE || !is_any_apart);
        self.groups = (step, groups);
        (self.lists_hold_until, self.together_until) = match together {
            true => (step, (step / INTERVAL + 1) * INTERVAL),
            false => (step + steps, step),
        };
    }

    /// Gives the kicks and the drift of a step of `dt` seconds to all pieces that are not stepped apart; returns
    /// the largest distance that an element moved, m.
    pub(super) fn advance_pieces(&mut self, open: bool, dt: f64) -> Result<f64, SimulateError> {
        let Some(sleep) = &mut self.sleep else {
            return Ok(0.0);
        };
        let travel = sleep.advance((self.kick_due, open), &self.run.load, dt);
        match sleep.not_finite().map(|piece| piece.elements[0]) {
            Some(element) => Err(self.not_finite(element)),
            None => Ok(travel),
        }
    }

    /// Sets the places of elements that are asleep, and accounts in the contact lists for the distances (m)
    /// that elements and colliders moved.
    pub(super) fn follow_lists(&mut self, distances: (f64, f64)) {
        let clock = Instant::now();
        self.travelled = distances;
        if self.is_gliding {
            if let Some(sleep) = &self.sleep {
                sleep.place_near(&mut self.run.system);
            }
            self.run.contacts.follow(distances);
            self.costs.lists.add(clock, rayon::current_num_threads());
            return;
        }
        if !self.run.ranks.is_alone() && self.sleep.is_none() {
            self.follow_lists_on_ranks(distances);
            self.costs.lists.add(clock, rayon::current_num_threads());
            return;
        }
        let reads_places = self.run.contacts.reads_places(distances);
        if reads_places {
            self.share_awake();
        }
        if let Some(sleep) = &self.sleep {
            match reads_places {
                true => sleep.place_all(&mut self.run.system),
                false => sleep.place_near(&mut self.run.system),
            }
        }
        let (system, colliders) = (&self.run.system, &self.driven.colliders);
        let sleep = self.sleep.as_ref();
        let candidates = |contacts: &Contacts<L::Scalar>| {
            let around = Surroundings {
                system,
                contacts,
                colliders,
            };
            sleep.and_then(|sleep| sleep.candidates(around))
        };
        let contacts = &mut self.run.contacts;
        if contacts.advance_among(distances, system, colliders, candidates) {
            self.find_near();
            self.lists_hold_until = self.run.step;
            self.rebalance_with_sleep();
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
        self.near.clear();
        for (i, load) in (0..).zip(&mut self.run.load[..self.run.system.count]) {
            match (sleep.is_asleep(i as usize), marks[i as usize]) {
                (false, _) => {}
                (true, true) => self.near.push(i),
                // No later pass clears these rows in a chunk that sleeps as a whole.
                (true, false) => load.clear_loads(),
            }
        }
        sleep.place_near(&mut self.run.system);
    }
}
