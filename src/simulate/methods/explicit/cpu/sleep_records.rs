//! What frames and states record of fragments that sleep.

use super::Cpu;
use crate::columns::{self, SleepEvent, SleepReason};
use crate::math::Lanes;
use crate::simulate::error::{SimulateError, StateError};
use crate::simulate::run_state::snapshot::SleepTotals;
use crate::simulate::run_state::state::State;
use crate::simulate::sleep::alarm::{Alarm, alarm};
use crate::simulate::sleep::event::{self, Event};
use crate::simulate::sleep::state as sleep_state;

impl<L: Lanes> Cpu<L> {
    /// Records an event of a piece.
    pub(super) fn record(&mut self, what: SleepEvent, (step, alarm): (u64, Alarm), energy: f64) {
        let Some(sleep) = &self.sleep else {
            return;
        };
        let piece = &sleep.pieces[alarm.piece];
        self.sleep_events.push(Event {
            step,
            element: piece.elements[0],
            elements: piece.elements.len() as u32,
            what,
            reason: alarm.reason,
            use_of_strength: alarm.use_of_strength,
            energy,
        });
    }

    /// Records that pieces which were at rest move.
    pub(super) fn record_moving(&mut self, pieces: Vec<usize>) {
        for piece in pieces {
            let alarm = alarm(piece, SleepReason::Touched, 0.0);
            self.record(SleepEvent::Moving, (self.run.step, alarm), 0.0);
        }
    }

    /// Brings the rows of elements that are asleep up to date. Where fragments may be stepped apart, it also rebuilds
    /// the contact lists: they decide which and how long, and a resumed run starts with new lists.
    pub(super) fn bring_up_to_date(&mut self) -> Result<(), SimulateError> {
        self.begin()?;
        if self.allows_islands() {
            self.build_lists();
        }
        let Some(sleep) = &self.sleep else {
            return Ok(());
        };
        sleep.place_all(&mut self.run.system);
        if !self.allows_islands() {
            self.list_colliders();
        }
        self.refresh_loads();
        Ok(())
    }

    /// Lists the elements near colliders as a resumed run does: a contact is soft as long as it is listed.
    fn list_colliders(&mut self) {
        self.share_awake();
        let Some(sleep) = &self.sleep else {
            return;
        };
        let wide = sleep.awake() == 0 && self.allows_islands();
        self.run.contacts.set_skin(wide);
        let among = sleep.all_but_removed(self.run.system.motion.len());
        let (system, colliders) = (&self.run.system, &self.driven.colliders);
        let contacts = &mut self.run.contacts;
        contacts.rebuild_near_among(system, colliders, among.as_ref());
        self.find_near();
    }

    /// Brings the contacts to what they were in a state, from which all else was restored.
    pub(super) fn restore_contacts(&mut self, state: &State) -> Result<(), StateError> {
        let rows = self.run.system.motion.len();
        let sleep = self.sleep.as_ref();
        if let Some(among) = sleep.and_then(|sleep| sleep.all_but_removed(rows)) {
            let (system, colliders) = (&self.run.system, &self.driven.colliders);
            let contacts = &mut self.run.contacts;
            contacts.rebuild_among(system, colliders, Some(&among));
        }
        self.list_colliders();
        match &mut self.sleep {
            Some(sleep) => sleep_state::restore_soft(state, sleep, &mut self.run),
            None => Ok(()),
        }
    }

    /// The present state.
    pub(super) fn pack(&mut self, frame: u32) -> State {
        let mut state = self.run.pack(frame);
        self.put_sleep(&mut state);
        state
    }

    /// Adds what is asleep to a state.
    pub(super) fn put_sleep(&self, state: &mut State) {
        if let Some(sleep) = &self.sleep {
            sleep_state::put(state, sleep, &self.run.contacts);
        }
    }

    /// What the history records about sleep.
    pub(super) fn sleep_totals(&self) -> Option<SleepTotals> {
        self.sleep.as_ref().map(|sleep| SleepTotals {
            awake: sleep.awake() as u32,
            rigidified: sleep.rigidified + sleep.removed_energy,
            held: sleep.held(),
        })
    }

    /// The table of what fell asleep or woke since the last frame; fragments must be labelled.
    pub(super) fn sleep_table(&mut self, frame: u32) -> columns::Sleep {
        let events = std::mem::take(&mut self.sleep_events);
        let dt = self.run.dt;
        event::table(&events, frame, self.run.fragment_labels(), dt)
    }
}
