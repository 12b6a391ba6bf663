//! Islands of a run: taken out of the passes over chunks, stepped side by side, and put back.

use crate::math::Scalar;
use crate::parallel::prelude::*;
use crate::simulate::bonded::system::System;
use crate::simulate::contact::chunk::COLLIDER;
use crate::simulate::contact::lists::Contacts;
use crate::simulate::contact::suspend::SuspendedContact;
use crate::simulate::scene::reactions::Wrench;
use crate::simulate::sleep::alarm::Alarm;
use crate::simulate::sleep::groups::Groups;
use crate::simulate::sleep::island::{Island, Outcome, Outside, Saved};
use crate::simulate::sleep::joint::Joint;
use crate::simulate::sleep::piece::Piece;
use crate::simulate::sleep::pieces::Sleep;
use crate::simulate::sleep::sides::{Partner, Place, Still};

/// Islands per task: fewer are not worth waking a thread for.
const SERIAL: usize = 8;

/// The islands of a run.
#[derive(Clone, Debug)]
pub struct Islands<S> {
    all: Vec<Island<S>>,
    saved: Vec<Saved>,
    /// Step in which they were taken out.
    start: u64,
    /// Pieces to wake or to set in motion in the step that they reached; a piece may appear twice.
    pub wakes: Vec<Alarm>,
    /// Steps in which loads of pieces were judged to be harmless.
    pub harmless: Vec<(u64, Alarm)>,
}

impl<S: Scalar> Islands<S> {
    /// Takes the islands out of the passes, with their contacts. `groups` are those of the present lists.
    pub fn take_out(
        sleep: &mut Sleep<S>,
        (system, contacts): (&System<S>, &mut Contacts<S>),
        groups: &Groups,
        start: u64,
    ) -> Self {
        let mut island_of = vec![None; sleep.pieces.len()];
        let mut members: Vec<Vec<usize>> = Vec::new();
        for (at, piece) in sleep.pieces.iter_mut().enumerate() {
            if piece.still || groups.meets_awake[at] {
                continue;
            }
            let root = groups.roots[at];
            if root == at {
                island_of[at] = Some(members.len());
                members.push(Vec::new());
            } else {
                island_of[at] = island_of[root];
            }
            if let Some(island) = island_of[at] {
                members[island].push(at);
                piece.apart = true;
            }
        }
        let piece_of = |element: u32| match element < COLLIDER {
            true => sleep.piece_of(element),
            false => None,
        };
        let apart = |element: u32| piece_of(element).is_some_and(|at| sleep.pieces[at].apart);
        let listed = contacts.suspend(system, |element, partner| apart(element) || apart(partner));
        let mut joints: Vec<Vec<Joint<S>>> = vec![Vec::new(); members.len()];
        for contact in listed {
            let sides = [contact.element, contact.partner];
            let islands = sides.map(|side| piece_of(side).and_then(|at| island_of[at]));
            let is_exchanged = islands[0].is_none();
            let Some(island) = islands[usize::from(is_exchanged)] else {
                continue;
            };
            let joint = sleep.joint((system, contact), is_exchanged, &members[island]);
            joints[island].extend(joint);
        }
        let bounds = |members: &Vec<usize>| members.iter().map(|&at| groups.bounds[at]).collect();
        let all = members.into_iter().zip(joints);
        let all = all.map(|(members, joints)| {
            let bounds = bounds(&members);
            Island::new(members, bounds, joints)
        });
        Islands {
            all: all.collect(),
            saved: Vec::new(),
            start,
            wakes: Vec::new(),
            harmless: Vec::new(),
        }
    }

    /// Steps all islands up to a step, or up to the first one in which a piece of any wakes or outruns its
    /// bound; returns the step reached.
    pub fn advance(&mut self, pieces: &mut [Piece], outside: &Outside<S>, to: u64) -> u64 {
        let (start, mut refs) = (self.start, sort_out(&self.all, pieces));
        let islands = self.all.par_iter_mut().zip(refs.par_iter_mut());
        let runs = islands.with_min_len(SERIAL).map(|(island, own)| {
            island.start(own, outside, start);
            let saved = island.save(own);
            (saved, island.advance(own, outside, (start, to), true))
        });
        let runs: Vec<(Saved, Outcome)> = runs.collect();
        let (saved, mut outcomes): (Vec<Saved>, Vec<Outcome>) = runs.into_iter().unzip();
        self.saved = saved;
        let reached = outcomes.iter().map(|one| one.step).min().unwrap_or(to);
        outcomes.retain(|one| one.step == reached);
        let wakes: Vec<Alarm> = outcomes.iter().flat_map(|one| one.wakes.clone()).collect();
        self.note(outcomes);
        if reached < to {
            self.go_back(pieces, outside, reached);
            self.wakes.extend(wakes);
        }
        reached
    }

    /// Goes back to an earlier step.
    pub fn go_back(&mut self, pieces: &mut [Piece], outside: &Outside<S>, to: u64) {
        let (start, mut refs) = (self.start, sort_out(&self.all, pieces));
        let islands = self
            .all
            .par_iter_mut()
            .zip(&self.saved)
            .zip(refs.par_iter_mut());
        let runs = islands.with_min_len(SERIAL).map(|((island, saved), own)| {
            island.go_back(saved, own);
            island.advance(own, outside, (start, to), false)
        });
        let outcomes: Vec<Outcome> = runs.collect();
        self.note(outcomes);
    }

    /// Collects what happened.
    fn note(&mut self, outcomes: Vec<Outcome>) {
        self.wakes.clear();
        self.harmless.clear();
        for outcome in outcomes {
            self.wakes.extend(outcome.wakes);
            self.harmless.extend(outcome.harmless);
        }
        self.harmless
            .sort_by_key(|(step, alarm)| (*step, alarm.piece));
    }

    /// Adds the forces and torques on colliders: to `sum` over all steps, to `now` those of the last step.
    pub fn add_reactions(&self, sum: &mut [Wrench], now: &mut [Wrench]) {
        for island in &self.all {
            for (collider, (last, total)) in island.on_colliders.iter().enumerate() {
                sum[collider] += *total;
                now[collider] += *last;
            }
        }
    }

    /// Calls `act` with each element that contacts dissipated energy at, and the energies (damping and
    /// friction), J.
    pub fn dissipated(&self, mut act: impl FnMut(u32, [f64; 2])) {
        for joint in self.all.iter().flat_map(|island| &island.joints) {
            let (lost, listed) = (joint.now.dissipated, &joint.listed);
            match listed.partner >= COLLIDER {
                true => act(listed.element, lost),
                false => {
                    let half = lost.map(|energy| 0.5 * energy);
                    act(listed.element, half);
                    act(listed.partner, half);
                }
            }
        }
    }

    /// Puts the islands back: their contacts into the lists, and the places of their elements with listed
    /// contacts into the system.
    pub fn put_back(
        self,
        sleep: &mut Sleep<S>,
        (system, contacts): (&mut System<S>, &mut Contacts<S>),
    ) {
        for island in &self.all {
            for joint in &island.joints {
                contacts.resume(&joint.listed, joint.memory());
                if joint.is_soft() {
                    let normal = S::from_f64(joint.stiffness());
                    contacts.soften([joint.listed.element, joint.listed.partner], normal);
                }
            }
            let touching = island.touching();
            for (member, &at) in island.members.iter().enumerate() {
                let piece = &mut sleep.pieces[at];
                piece.apart = false;
                piece.place_near(system);
                let loads = island.loads_on(member, &touching);
                piece.loaded = loads.iter().map(|one| one.element).collect();
            }
        }
    }
}

/// The pieces of each island.
fn sort_out<'a, S>(islands: &[Island<S>], pieces: &'a mut [Piece]) -> Vec<Vec<&'a mut Piece>> {
    let mut refs: Vec<Option<&mut Piece>> = pieces.iter_mut().map(Some).collect();
    let of = |island: &Island<S>| {
        let members = island.members.iter();
        members.filter_map(|&at| refs[at].take()).collect()
    };
    islands.iter().map(of).collect()
}

impl<S: Scalar> Sleep<S> {
    /// The contact as one of the island of these pieces.
    pub(super) fn joint(
        &self,
        (system, listed): (&System<S>, SuspendedContact<S>),
        is_exchanged: bool,
        members: &[usize],
    ) -> Option<Joint<S>> {
        let place = |element: u32| -> Option<Place> {
            let at = self.piece_of(element)?;
            let piece = &self.pieces[at];
            let k = piece.elements.binary_search(&element).ok()?;
            Some(Place {
                member: members.binary_search(&at).ok()?,
                arm: piece.rest[k] - piece.body.centre,
            })
        };
        let [own, other] = match is_exchanged {
            true => [listed.partner, listed.element],
            false => [listed.element, listed.partner],
        };
        let partner = match other.checked_sub(COLLIDER) {
            Some(collider) => Partner::Collider(collider as usize, Default::default()),
            None => match place(other) {
                Some(place) => Partner::Member(place),
                None => {
                    let piece = self.piece_of(other)?;
                    Partner::Still(Still {
                        place: system.position(other as usize),
                        piece,
                        inverse_mass: self.pieces[piece].body.inverse_mass,
                        strength: self.pieces[piece].strength,
                    })
                }
            },
        };
        Some(Joint::new(listed, is_exchanged, place(own)?, partner))
    }
}
