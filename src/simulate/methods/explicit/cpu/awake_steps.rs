//! Steps of what is awake, and of fragments that sleep and may touch it.

use super::Cpu;
use super::long_steps::Reactions;
use crate::columns::SleepReason;
use crate::math::{Lanes, Scalar};
use crate::simulate::error::SimulateError;
use crate::simulate::scene::reactions::Wrench;
use crate::simulate::sleep::alarm::Alarm;

impl<L: Lanes> Cpu<L> {
    /// Takes one step of everything that is not stepped apart; returns what wakes.
    pub(super) fn step_once(
        &mut self,
        reactions: &mut Reactions,
    ) -> Result<Vec<Alarm>, SimulateError> {
        self.motion(true)?;
        self.run.step += 1;
        self.add_loads(self.parameters.dt);
        let now = self.run.take_sums();
        let alarms = self.alarms();
        reactions.add(1, self.lighten(&alarms).unwrap_or(now));
        self.break_bonds();
        Ok(alarms)
    }

    /// Computes the loads of a step again if pieces wake in it, with the masses of single elements instead of whole
    /// pieces in their contacts. The damping of a contact grows with the mass: without this, the end of the step would
    /// give an elastic fragment the blow of a rigid body. Returns the loads on supports.
    fn lighten(&mut self, alarms: &[Alarm]) -> Option<Vec<Wrench>> {
        let sleep = self.sleep.as_ref()?;
        let woken = alarms.iter();
        let woken = woken.filter(|alarm| alarm.reason != SleepReason::Touched);
        let near = woken.flat_map(|alarm| {
            let piece = &sleep.pieces[alarm.piece];
            piece.near.iter().map(|&k| piece.elements[k as usize])
        });
        let mut near: Vec<u32> = near.collect();
        if near.is_empty() {
            return None;
        }
        near.sort_unstable();
        let (system, rest) = (&mut self.run.system, &self.run.rest);
        for &element in &near {
            let i = element as usize;
            system.inverse_mass[i] = Scalar::from_f64(rest.inverse_mass[i]);
        }
        let contacts = &mut self.run.contacts;
        contacts.renew(system, &self.driven.colliders, |element| {
            near.binary_search(&element).is_ok()
        });
        let breaks = self.chunk_breaks.clone();
        let now = self.compute_loads();
        self.chunk_breaks = breaks;
        Some(now)
    }

    /// Steps what is awake and what touches it up to a step, or until a piece wakes or the contact lists may miss
    /// a pair. Returns the alarms of the last step.
    pub(super) fn step_awake(
        &mut self,
        to: u64,
        reactions: &mut Reactions,
    ) -> Result<Vec<Alarm>, SimulateError> {
        // Loads on supports from here on are those of what is awake.
        reactions.last = self.compute_loads();
        self.is_gliding = true;
        let mut alarms = Vec::new();
        while self.run.step < to && alarms.is_empty() {
            alarms = self.step_once(reactions)?;
            // A step that is twice as long may follow.
            let (elements, colliders) = self.travelled;
            if self
                .run
                .contacts
                .reads_places((2.0 * elements, 2.0 * colliders))
            {
                break;
            }
        }
        self.is_gliding = false;
        self.finish_step()?;
        Ok(alarms)
    }
}
