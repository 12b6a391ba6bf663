//! Steps of a run whose fragments sleep: which fall asleep, which wake, and long steps while all are asleep.

use std::time::Instant;

use super::Cpu;
use super::loads::bond_pass;
use super::long_steps::{INTERVAL, Reactions, surroundings};
use crate::columns::{SleepEvent, SleepReason};
use crate::math::{Lanes, Scalar};
use crate::simulate::bonded::border::Border;
use crate::simulate::bonded_run::run::BondedRun;
use crate::simulate::error::SimulateError;
use crate::simulate::scene::reactions::Wrench;
use crate::simulate::sleep::alarm::{Alarm, Alarms, alarm};
use crate::simulate::sleep::calm::{self, Verdict};
use crate::simulate::sleep::event::Event;
use crate::simulate::sleep::piece::Piece;
use crate::simulate::sleep::pieces::Sleep;
use crate::simulate::sleep::use_task::UseTask;
use crate::spec::{Action, Pipeline};

/// The pieces of a new run: its free rigid bodies that nothing holds. Every other fragment is awake.
pub(super) fn sleep<S: Scalar>(run: &mut BondedRun<S>, pipeline: &Pipeline) -> Option<Sleep<S>> {
    if !pipeline.simulate.sleep {
        return None;
    }
    let mut held = vec![false; run.system.count];
    for (index, attachment) in pipeline.attachments.iter().enumerate() {
        match attachment.action {
            Action::Gauge {} => {}
            Action::Clamp { .. }
            | Action::Force { .. }
            | Action::Spring { .. }
            | Action::Pressure { .. } => {
                for &element in run.supports.elements(index) {
                    held[element as usize] = true;
                }
            }
        }
    }
    let free = run.rigid.take(|element| held[element as usize]);
    for element in run.rigid.elements() {
        held[element as usize] = true;
    }
    let simulate = &pipeline.simulate;
    let mut sleep = Sleep::new(
        &simulate.sleep_limits,
        (&run.system, &run.rest),
        &held,
        pipeline.bodies.len(),
        simulate.drag,
    );
    run.contacts.set_skin(false);
    sleep.bounds = run.rest.bounds.filter(|_| pipeline.world.remove);
    for (elements, body) in free {
        let number = run.system.rigid().pieces()[elements[0] as usize];
        let carried = vec![Default::default(); elements.len()];
        let mut piece = Piece::new(number, elements, (&run.system, &run.rest), carried);
        piece.body.moving = body.moving;
        sleep.add(piece);
    }
    sleep.mask(&mut run.system, &mut run.load, &run.rest);
    Some(sleep)
}

impl<L: Lanes> Cpu<L> {
    /// Takes steps, in which sleeping fragments that touch nothing awake are stepped apart.
    pub(super) fn advance_with_sleep(&mut self, steps: u64) -> Result<(), SimulateError> {
        self.begin()?;
        self.remove_outside()?;
        let mut left = steps;
        let mut reactions = self.reactions();
        while left > 0 {
            if self.rests() {
                self.run.step += left;
                reactions.add(left, reactions.last.clone());
                reactions.add_resting(left, &self.resting);
                break;
            }
            let glide = self.glide(left, &mut reactions)?;
            let (count, alarms) = match glide {
                Some(glide) => (glide.count, glide.alarms),
                None => {
                    self.refresh_loads();
                    (1, self.step_once(&mut reactions)?)
                }
            };
            left -= count;
            reactions.add_resting(count, &self.resting);
            self.tend(count, alarms)?;
            if let Some(now) = self.renewed.take() {
                reactions.last = now;
            }
        }
        reactions.rest(&self.resting);
        self.run
            .means
            .add_sum(steps, &reactions.sum, reactions.last);
        self.finish_step()
    }

    /// Judges the loads of a step on the pieces that are stepped with what is awake; returns those that wake or are
    /// set in motion.
    pub(super) fn alarms(&mut self) -> Vec<Alarm> {
        let Some(sleep) = &mut self.sleep else {
            return Vec::new();
        };
        let around = surroundings(&self.run, &self.driven);
        let clock = Instant::now();
        let Alarms { wakes, harmless } = sleep.alarms(around, &self.run.rest, &self.run.load);
        self.costs.sleep.add(clock, rayon::current_num_threads());
        for alarm in harmless {
            self.record(SleepEvent::Judged, (self.run.step, alarm), 0.0);
        }
        wakes
    }

    /// Wakes pieces whose loads could break them, lets pieces at rest move that something touched, and looks
    /// for fragments that fall asleep or come to rest, after `count` steps.
    fn tend(&mut self, count: u64, alarms: Vec<Alarm>) -> Result<(), SimulateError> {
        if !alarms.is_empty() {
            self.answer(alarms)?;
        }
        if self.run.step % INTERVAL < count {
            self.agree_on_sleep()?;
            let clock = Instant::now();
            self.calm_down(SleepReason::Calm)?;
            self.remove_outside()?;
            self.come_to_rest()?;
            self.costs.sleep.add(clock, rayon::current_num_threads());
        }
        Ok(())
    }

    /// Wakes the pieces of alarms, or lets them move if they were at rest.
    fn answer(&mut self, alarms: Vec<Alarm>) -> Result<(), SimulateError> {
        self.finish_step()?;
        let Some(sleep) = &mut self.sleep else {
            return Ok(());
        };
        let step = self.run.step;
        let (touched, woken): (Vec<Alarm>, Vec<Alarm>) = alarms
            .into_iter()
            .partition(|alarm| alarm.reason == SleepReason::Touched);
        let all = touched.iter().chain(&woken);
        let moved = sleep.groups_of(all.map(|alarm| alarm.piece));
        sleep.release(&moved);
        self.record_moving(moved);
        for alarm in &woken {
            let sleep = self.sleep.as_ref();
            let held = sleep.map_or(0.0, |sleep| sleep.pieces[alarm.piece].held.energy);
            self.record(SleepEvent::Awake, (step, *alarm), 0.0 - held);
        }
        let Some(sleep) = &mut self.sleep else {
            return Ok(());
        };
        let wakes: Vec<usize> = woken.iter().map(|alarm| alarm.piece).collect();
        for &piece in &wakes {
            sleep.pieces[piece].place_all(&mut self.run.system);
            sleep.pieces[piece].give_back(&mut self.run.system);
        }
        sleep.turn_springs(&wakes);
        sleep.wake(&wakes, step);
        sleep.index(&self.run.system);
        let released = sleep.take_listed();
        self.restructure();
        released.restore(&mut self.run.contacts);
        self.start_again();
        Ok(())
    }

    /// Makes pieces of the fragments that are calm.
    pub(super) fn calm_down(&mut self, reason: SleepReason) -> Result<(), SimulateError> {
        if self.sleep.as_ref().is_none_or(|sleep| sleep.awake() == 0) {
            return Ok(());
        }
        self.finish_step()?;
        self.share_awake();
        let uses = self.uses();
        self.run.label_fragments();
        let time = (self.run.step, self.run.dt);
        let Some(sleep) = &mut self.sleep else {
            return Ok(());
        };
        let (system, rest) = (&self.run.system, &self.run.rest);
        let labels = self.run.fragment_labels();
        sleep.watch(&uses);
        sleep.note_kinetic(system, rest);
        let found = calm::fragments(sleep, (system, rest), labels, time);
        let starts = reason == SleepReason::Start;
        let mut asleep = Vec::new();
        for fragment in found {
            match fragment.verdict {
                Verdict::Restless => sleep.disturb(&fragment.elements, time.0),
                Verdict::Vibrates => {}
                Verdict::Waits if !starts || fragment.holds => {}
                Verdict::Waits | Verdict::Sleeps | Verdict::Leaves => asleep.push(fragment),
            }
        }
        if asleep.is_empty() {
            return Ok(());
        }
        let mut carried = self.carried();
        self.share_elements(
            asleep.iter().flat_map(|one| &one.elements).copied(),
            &mut carried,
        );
        self.share_springs();
        let Some(sleep) = &mut self.sleep else {
            return Ok(());
        };
        let count = asleep.len();
        for fragment in asleep {
            let of = fragment.elements.iter().map(|&i| carried[i as usize]);
            let (of, number) = (of.collect(), sleep.next_number);
            let reason = match fragment.verdict {
                Verdict::Leaves => SleepReason::Outside,
                _ => reason,
            };
            let elements = fragment.elements;
            self.sleep_events.push(Event {
                step: time.0,
                element: elements[0],
                elements: elements.len() as u32,
                what: SleepEvent::Asleep,
                reason,
                use_of_strength: fragment.use_of_strength,
                energy: fragment.vibration,
            });
            let around = (&self.run.system, &self.run.rest);
            let mut piece = Piece::new(number, elements, around, of);
            match fragment.verdict {
                Verdict::Leaves => sleep.removed_energy += fragment.vibration,
                _ if fragment.holds => piece.hold(around, fragment.vibration),
                _ => sleep.rigidified += fragment.vibration,
            }
            piece.strength = sleep.strength(&piece.elements, piece.reach);
            sleep.add(piece);
        }
        sleep.index(&self.run.system);
        sleep.keep_contacts(&self.run.contacts);
        self.restructure();
        self.start_again();
        if let Some(sleep) = &mut self.sleep {
            sleep.note_balance(count, &self.run.load);
        }
        Ok(())
    }

    /// Stops pieces that have come to rest.
    fn come_to_rest(&mut self) -> Result<(), SimulateError> {
        let time = (self.run.step, self.run.dt);
        let Some(sleep) = &mut self.sleep else {
            return Ok(());
        };
        if !sleep.note_slow(self.run.contacts.largest(), time) {
            return Ok(());
        }
        self.share_awake();
        let Some(sleep) = &mut self.sleep else {
            return Ok(());
        };
        let around = surroundings(&self.run, &self.driven);
        let resting = sleep.resting(around, time);
        if resting.is_empty() {
            return Ok(());
        }
        self.finish_step()?;
        self.share_springs();
        let Some(sleep) = &mut self.sleep else {
            return Ok(());
        };
        let lost = sleep.stop(&resting, &self.run.contacts);
        for &at in &resting {
            sleep.pieces[at].place_all(&mut self.run.system);
        }
        let around = (&self.run.system, &mut self.run.contacts);
        sleep.keep_resting_loads(&resting, around, &self.driven.colliders);
        for (piece, energy) in resting.into_iter().zip(lost) {
            let alarm = alarm(piece, SleepReason::Calm, 0.0);
            self.record(SleepEvent::Still, (time.0, alarm), energy);
        }
        self.restructure();
        self.start_again();
        Ok(())
    }

    /// Removes sleeping fragments that have left the bounds of the world.
    fn remove_outside(&mut self) -> Result<(), SimulateError> {
        let sleep = self.sleep.as_ref();
        let leaving = sleep.map(|sleep| sleep.leaving(&self.run.system));
        let leaving = leaving.unwrap_or_default();
        if leaving.is_empty() {
            return Ok(());
        }
        self.finish_step()?;
        let Some(sleep) = &mut self.sleep else {
            return Ok(());
        };
        // Pieces at rest on removed ones fall.
        let mut moving = sleep.groups_of(leaving.iter().copied());
        moving.retain(|at| leaving.binary_search(at).is_err());
        let lost = sleep.remove(&leaving);
        sleep.release(&moving);
        let released = sleep.take_listed();
        for &at in &leaving {
            sleep.pieces[at].place_all(&mut self.run.system);
        }
        self.record_moving(moving);
        for (at, energy) in leaving.into_iter().zip(lost) {
            let alarm = alarm(at, SleepReason::Outside, 0.0);
            self.record(SleepEvent::Removed, (self.run.step, alarm), energy);
        }
        self.restructure();
        released.restore(&mut self.run.contacts);
        self.start_again();
        Ok(())
    }

    /// Recomputes what depends on which elements are asleep.
    pub(super) fn restructure(&mut self) {
        self.share_awake();
        let Some(sleep) = &mut self.sleep else {
            return;
        };
        sleep.place_all(&mut self.run.system);
        sleep.mask(&mut self.run.system, &mut self.run.load, &self.run.rest);
        self.borders = Border::all(&self.run.system, &self.run.ranks.owned());
        self.run.contacts.set_skin(false);
        let candidates = sleep.candidates(surroundings(&self.run, &self.driven));
        let (system, colliders) = (&self.run.system, &self.driven.colliders);
        let contacts = &mut self.run.contacts;
        contacts.rebuild_among(system, colliders, candidates.as_ref());
        self.plan_shared_sleep();
        self.find_near();
        self.set_horizon();
        self.resting = self.resting_loads();
    }

    /// Loads of pieces at rest on supports.
    pub(super) fn resting_loads(&self) -> Vec<Wrench> {
        let mut loads = vec![Wrench::default(); self.run.supports.count()];
        if let Some(sleep) = &self.sleep {
            sleep.add_resting_loads(&mut loads);
        }
        loads
    }

    /// Loads on supports at the start of an interval of steps.
    fn reactions(&mut self) -> Reactions {
        let all = self.run.means.last().iter().zip(&self.resting);
        let last = all.map(|(last, resting)| *last - *resting).collect();
        Reactions {
            sum: vec![Wrench::default(); self.resting.len()],
            last: self.renewed.take().unwrap_or(last),
        }
    }

    /// Computes the loads again after elements fell asleep or woke. Nothing slides or breaks meanwhile.
    fn start_again(&mut self) {
        self.renewed = Some(self.compute_loads());
        if let Some(sleep) = &mut self.sleep {
            sleep.note_loaded(&self.run.load);
        }
    }

    /// Computes the present loads, in which nothing slides or breaks; returns those on supports.
    pub(super) fn compute_loads(&mut self) -> Vec<Wrench> {
        self.add_loads(L::Scalar::default());
        self.chunk_breaks.iter_mut().for_each(Vec::clear);
        self.loads_due = false;
        self.run.take_sums()
    }

    /// Computes the loads if those of fragments that were stepped apart are missing.
    pub(super) fn refresh_loads(&mut self) {
        if self.loads_due {
            self.compute_loads();
        }
    }

    /// Lets fragments fall asleep that are calm at the start of the run.
    pub(super) fn begin(&mut self) -> Result<(), SimulateError> {
        match std::mem::take(&mut self.begins) {
            true => self.calm_down(SleepReason::Start),
            false => Ok(()),
        }
    }

    /// Largest stress over strength of the bonds of each element that is awake.
    fn uses(&self) -> Vec<f64> {
        let mut uses = vec![0.0; self.run.system.count];
        self.for_awake_chunks(&mut uses, |uses, border, place| {
            bond_pass::<L, _>(&self.run.system, border, place, UseTask { uses });
        });
        self.share_elements(self.awake_elements(), &mut uses);
        uses
    }
}
