//! An island: pieces that listed contacts connect and that touch nothing that is awake. Until the contact lists
//! are built again nothing else pushes them, so each island takes steps of its own, as long as its contacts allow.

use glam::DVec3;

use crate::math::Scalar;
use crate::simulate::bonded::rest::RestData;
use crate::simulate::bonded::system::System;
use crate::simulate::bonded_run::costs::Timer;
use crate::simulate::scene::colliders::PosedCollider;
use crate::simulate::scene::reactions::Wrench;
use crate::simulate::scene::rigid_body::{BodyMotion, Fields};
use crate::simulate::sleep::alarm::Alarm;
use crate::simulate::sleep::course::{Course, Hit, Touch};
use crate::simulate::sleep::groups::Bounds;
use crate::simulate::sleep::joint::Joint;
use crate::simulate::sleep::piece::{JudgedLoad, Piece};
use crate::simulate::sleep::sides::{Partner, Stance};
use crate::simulate::sleep::strength::LocalStrength;
use crate::spec::SleepLimits;

/// Part of the critical step of the contacts of rigid bodies that a step takes.
const FRACTION: f64 = 0.2;
/// The same for a contact in the step in which it begins to touch, at an unknown moment: the energy of its bounce is
/// accurate to the square of this.
const ONSET: f64 = 0.05;
/// Part of the step from which on the damping of its contacts would throw a piece back and forth, as their forces
/// follow the velocity of half a step before.
const DAMPED: f64 = 0.4;
/// Number of steps before a contact may touch from which on its critical step is looked at.
pub(super) const SOON: u64 = 1024;

/// Pieces that are stepped together, apart from all others.
#[derive(Clone, Debug)]
pub struct Island<S> {
    /// Indices of its pieces in the run, ascending.
    pub members: Vec<usize>,
    /// Its contacts, by element and partner.
    pub joints: Vec<Joint<S>>,
    /// Bounds on the motion of each piece.
    pub bounds: Vec<Bounds>,
    /// Forces and torques on each collider: those of the last step, and the sum over all steps.
    pub on_colliders: Vec<(Wrench, Wrench)>,
    pub(super) stances: Vec<Stance>,
    /// Loads on each piece.
    pub(super) loads: Vec<Load>,
    /// Largest square of the frequency of a contact that may touch soon, 1/s².
    pub(super) onset: f64,
    /// New touches of the last step, by contact.
    pub(super) touched: Vec<(usize, Hit)>,
    /// Step until which no contact that is apart can touch while the velocities of the pieces change little.
    pub(super) clear_until: u64,
    /// Contacts to look at, ascending: the others touch at [`SOON`] steps after `quiet_until` at the earliest.
    pub(super) active: Vec<usize>,
    /// Step until which no other contact has to be looked at.
    pub(super) quiet_until: u64,
}

/// Loads on a piece of an island.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Load {
    wrench: Wrench,
    /// Sum of the squares of the frequencies of its contacts, 1/s².
    rate: f64,
    /// Sum of the rates at which its contacts damp its motion, 1/s.
    damping: f64,
    /// Sum of the lengths of the forces on it, N.
    pub force: f64,
}

/// What an island needs to know of the run.
#[derive(Clone, Copy)]
pub struct Outside<'a, S> {
    /// Elements and bonds.
    pub system: &'a System<S>,
    /// Their constant data.
    pub rest: &'a RestData,
    /// Colliders; none moves.
    pub colliders: &'a [PosedCollider],
    /// Gravity and drag.
    pub fields: Fields,
    /// Limits by which fragments wake.
    pub limits: &'a SleepLimits,
    /// Strength of the bonds of all elements.
    pub strength: LocalStrength<'a>,
    /// Time step, s.
    pub dt: f64,
    /// Step in which the contact lists were built.
    pub since: u64,
    /// Time spent on judging loads.
    pub judging: &'a Timer,
    /// Whether dissipated energy is summed.
    pub account: bool,
}

/// How far an island came.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Step in which it ended, earlier than asked if a piece wakes or outruns its bound.
    pub step: u64,
    /// Pieces to wake or to set in motion.
    pub wakes: Vec<Alarm>,
    /// Steps in which loads of pieces were judged to be harmless.
    pub harmless: Vec<(u64, Alarm)>,
}

/// State of an island, to go back to.
#[derive(Clone, Debug)]
pub struct Saved {
    motions: Vec<BodyMotion>,
    judged: Vec<Option<JudgedLoad>>,
    courses: Vec<Course>,
    loads: Vec<Load>,
    onset: f64,
    on_colliders: Vec<(Wrench, Wrench)>,
    clear_until: u64,
}

impl<S: Scalar> Island<S> {
    /// An island of these pieces with their contacts.
    pub fn new(members: Vec<usize>, bounds: Vec<Bounds>, joints: Vec<Joint<S>>) -> Self {
        let count = members.len();
        Island {
            members,
            joints,
            bounds,
            on_colliders: Vec::new(),
            stances: Vec::with_capacity(count),
            loads: vec![Load::default(); count],
            onset: 0.0,
            touched: Vec::new(),
            clear_until: 0,
            active: Vec::new(),
            quiet_until: 0,
        }
    }

    /// Its state.
    pub fn save(&self, pieces: &[&mut Piece]) -> Saved {
        Saved {
            motions: pieces.iter().map(|piece| piece.body.moving).collect(),
            judged: pieces.iter().map(|piece| piece.judged.clone()).collect(),
            courses: self.joints.iter().map(|joint| joint.now).collect(),
            loads: self.loads.clone(),
            onset: self.onset,
            on_colliders: self.on_colliders.clone(),
            clear_until: self.clear_until,
        }
    }

    /// Goes back to a state.
    pub fn go_back(&mut self, to: &Saved, pieces: &mut [&mut Piece]) {
        for (k, piece) in pieces.iter_mut().enumerate() {
            piece.body.moving = to.motions[k];
            piece.judged.clone_from(&to.judged[k]);
        }
        for (joint, course) in self.joints.iter_mut().zip(&to.courses) {
            joint.now = *course;
        }
        self.loads.clone_from(&to.loads);
        self.onset = to.onset;
        self.on_colliders.clone_from(&to.on_colliders);
        self.clear_until = to.clear_until;
        self.quiet_until = 0;
        self.meet(pieces);
    }

    /// Computes the loads before the first step, in which nothing slides and no touch is new.
    pub fn start(&mut self, pieces: &[&mut Piece], outside: &Outside<S>, step: u64) {
        let touches_collider = |joint: &Joint<S>| matches!(joint.partner, Partner::Collider(..));
        if self.joints.iter().any(touches_collider) {
            self.on_colliders = vec![Default::default(); outside.colliders.len()];
        }
        self.evaluate(pieces, outside, (step, 0));
        self.touched.clear();
    }

    /// Takes steps from one step to another. With `heed` it ends early if a piece wakes or outruns its bound: for a
    /// new touch that wakes a piece in the step before, so that what is awake meets it.
    pub fn advance(
        &mut self,
        pieces: &mut [&mut Piece],
        outside: &Outside<S>,
        (from, to): (u64, u64),
        heed: bool,
    ) -> Outcome {
        let mut outcome = Outcome {
            step: from,
            ..Outcome::default()
        };
        while outcome.step < to {
            let count = self.steps_at_once(outside, outcome.step, to);
            let h = count as f64 * outside.dt;
            for (piece, load) in pieces.iter_mut().zip(&self.loads) {
                piece.body.kick(load.wrench, &outside.fields, h);
                piece.body.drift_long(h);
            }
            outcome.step += count;
            self.evaluate(pieces, outside, (outcome.step, count));
            for (piece, load) in pieces.iter_mut().zip(&self.loads) {
                piece.body.kick(load.wrench, &outside.fields, h);
            }
            self.judge(pieces, outside, &mut outcome);
            if !heed {
                continue;
            }
            if outcome.wakes.iter().any(|alarm| alarm.is_hit) {
                outcome.step -= count;
                outcome.wakes.retain(|alarm| alarm.is_hit);
                break;
            }
            if !outcome.wakes.is_empty() || self.outruns(pieces, outside, outcome.step) {
                break;
            }
        }
        outcome
    }

    /// Number of steps to take at once: a part of the critical step of the contacts that touch, and no more than until
    /// others may touch, or a smaller part of the critical step of those.
    fn steps_at_once(&self, outside: &Outside<S>, step: u64, to: u64) -> u64 {
        let part = |fraction: f64, rate: f64| match rate > 0.0 {
            true => (2.0 * fraction / (rate.sqrt() * outside.dt)) as u64,
            false => u64::MAX,
        };
        let clear = self.clear_until.saturating_sub(step);
        let clear = match clear < SOON {
            true => clear.max(part(ONSET, self.onset)),
            false => clear,
        };
        let most_of = |of: fn(&Load) -> f64| self.loads.iter().map(of).fold(0.0, f64::max);
        let damping = most_of(|load| load.damping);
        let damped = match damping > 0.0 {
            true => (2.0 * DAMPED / (damping * outside.dt)) as u64,
            false => u64::MAX,
        };
        let most = (to - step).min(clear).max(1);
        part(FRACTION, most_of(|load| load.rate))
            .min(damped)
            .clamp(1, most)
    }

    /// Computes the loads after `count` steps at once.
    fn evaluate(&mut self, pieces: &[&mut Piece], outside: &Outside<S>, (step, count): (u64, u64)) {
        let h = count as f64 * outside.dt;
        self.follow(pieces, outside.fields.gravity, h);
        self.loads.fill(Load::default());
        self.touched.clear();
        for (last, sum) in &mut self.on_colliders {
            *sum += *last * (0.5 * count as f64);
            *last = Wrench::default();
        }
        if step >= self.quiet_until {
            self.choose_active(step);
        }
        self.clear_until = self.quiet_until.saturating_add(SOON);
        self.onset = 0.0;
        let mut apart = 0;
        for k in 0..self.active.len() {
            let at = self.active[k];
            let now = &self.joints[at].now;
            if step < now.clear_until {
                let until = now.clear_until;
                self.wait(at, (step, until));
                apart += usize::from(step + SOON < until);
                continue;
            }
            if step < now.calm_until && self.changed(at) <= now.calm {
                self.wait(at, (step, now.calm_until));
                continue;
            }
            let around = (&self.stances[..], outside.colliders);
            match self.joints[at].evaluate(around, h, outside.account) {
                Touch::Apart(gap) => {
                    self.joints[at].now.onset = self.onset_rate(at, pieces);
                    let until = self.stay_apart(at, gap, (step, outside));
                    self.wait(at, (step, until));
                }
                Touch::New(hit) => {
                    self.touched.push((at, hit));
                    self.add(at, pieces);
                }
                Touch::Lasting => self.add(at, pieces),
            }
        }
        if 2 * apart > self.active.len() {
            self.quiet_until = 0;
        }
        for (last, sum) in &mut self.on_colliders {
            *sum += *last * (0.5 * count as f64);
        }
    }

    /// Adds the loads of a contact.
    fn add(&mut self, at: usize, pieces: &[&mut Piece]) {
        let joint = &self.joints[at];
        let now = &joint.now;
        let size = now.force.length();
        let mut load = |member: usize, wrench: Wrench, arm: DVec3| {
            let of = &mut self.loads[member];
            of.wrench += wrench;
            of.force += size;
            of.rate += joint.rate(member, arm, pieces);
            of.damping += joint.damping_rate(member, arm, pieces);
        };
        let [arm, other_arm] = now.arms;
        load(
            joint.own.member,
            Wrench::at(arm, now.force, now.torques[0]),
            arm,
        );
        match &joint.partner {
            Partner::Member(other) => {
                let wrench = Wrench::at(other_arm, -now.force, now.torques[1]);
                load(other.member, wrench, other_arm);
            }
            Partner::Collider(collider, _) => {
                self.on_colliders[*collider].0 += joint.on_collider();
            }
            Partner::Still(..) => {}
        }
    }

    /// Whether a piece is faster than its bound.
    fn outruns(&self, pieces: &[&mut Piece], outside: &Outside<S>, step: u64) -> bool {
        let gained = outside.fields.gravity * ((step - outside.since) as f64 * outside.dt);
        !self.joints.is_empty()
            && pieces
                .iter()
                .zip(&self.bounds)
                .any(|(piece, bounds)| bounds.is_outrun(piece, gained))
    }
}
