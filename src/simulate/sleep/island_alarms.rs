//! What the loads of a step do to the pieces of an island.

use std::time::Instant;

use glam::DVec3;

use crate::columns::SleepReason;
use crate::math::Scalar;
use crate::simulate::sleep::alarm::{Alarm, WORTH_NOTING, alarm};
use crate::simulate::sleep::island::{Island, Outcome, Outside};
use crate::simulate::sleep::joint::Hit;
use crate::simulate::sleep::piece::{ElementLoad, Piece};
use crate::simulate::sleep::sides::Partner;
use crate::simulate::sleep::strength::Strength;

impl<S: Scalar> Island<S> {
    /// Judges the loads of a step: closing speeds of new touches, then forces. A soft contact counts with the largest
    /// force that it would have if it were stiff, at once when it touches.
    pub(super) fn judge(
        &self,
        pieces: &mut [&mut Piece],
        outside: &Outside<S>,
        outcome: &mut Outcome,
    ) {
        self.judge_touches(pieces, outside, outcome);
        let limit = outside.limits.wake;
        let mut touching = None;
        for (member, piece) in pieces.iter_mut().enumerate() {
            let is_woken = |one: &Alarm| one.piece == self.members[member];
            let hits = self.hits(member);
            let struck: f64 = hits.iter().map(|hit| hit.force.length()).sum();
            let Some(strength) = piece.doubtful(self.loads[member].force + struck, limit) else {
                continue;
            };
            if outcome.wakes.iter().any(is_woken) {
                continue;
            }
            let clock = Instant::now();
            let is_hit = !hits.is_empty();
            let touching = touching.get_or_insert_with(|| self.touching());
            let last = self.loads_on(member, touching);
            let loads = piece.in_own_frame(merged([last, hits].concat()));
            let judged = piece.alarm(&loads, strength, (outside.system, outside.rest), limit);
            outside.judging.add(clock, 1);
            let Some((reason, use_of_strength)) = judged else {
                continue;
            };
            let alarm = Alarm {
                is_hit,
                ..alarm(self.members[member], reason, use_of_strength)
            };
            match use_of_strength >= limit {
                true => outcome.wake(alarm),
                false => outcome.harmless.push((outcome.step, alarm)),
            }
        }
    }

    /// Judges new touches by their closing speeds.
    fn judge_touches(&self, pieces: &[&mut Piece], outside: &Outside<S>, outcome: &mut Outcome) {
        let limit = outside.limits.wake;
        for k in 0..self.touched.len() {
            let (at, Hit { closing, .. }) = self.touched[k];
            let joint = &self.joints[at];
            let mut ends = vec![self.end(joint.own.member, pieces)];
            match joint.partner {
                Partner::Member(other) => ends.push(self.end(other.member, pieces)),
                Partner::Still(still) => {
                    ends.push((still.piece, still.strength));
                    let used = still.strength.map_or(0.0, |one| one.impact * closing);
                    if used < limit {
                        outcome.wake(alarm(still.piece, SleepReason::Touched, 0.0));
                    }
                }
                Partner::Collider(..) => {}
            }
            for (piece, strength) in ends {
                let used = strength.map_or(0.0, |one| one.impact * closing);
                let alarm = Alarm {
                    is_hit: true,
                    ..alarm(piece, SleepReason::Impact, used)
                };
                if alarm.use_of_strength >= limit {
                    outcome.wake(alarm);
                } else if alarm.use_of_strength >= WORTH_NOTING * limit {
                    outcome.harmless.push((outcome.step, alarm));
                }
            }
        }
    }

    /// Index of a piece of the island in the run, and its strength.
    fn end(&self, member: usize, pieces: &[&mut Piece]) -> (usize, Option<Strength>) {
        (self.members[member], pieces[member].strength)
    }

    /// Largest forces on the elements of a piece that new soft touches would cause if they were stiff.
    fn hits(&self, member: usize) -> Vec<ElementLoad> {
        let mut all = Vec::new();
        for &(at, Hit { closing, normal }) in &self.touched {
            let joint = &self.joints[at];
            let force = normal * joint.peak(closing);
            if force == DVec3::ZERO {
                continue;
            }
            let [element, partner] = joint.ends();
            let load = |element: u32, force: DVec3| ElementLoad {
                element,
                force,
                torque: DVec3::ZERO,
            };
            if joint.own.member == member {
                all.push(load(element, force));
            }
            if joint.is_with(member) {
                all.push(load(partner, -force));
            }
        }
        all
    }

    /// The contacts that touched in the last step.
    pub fn touching(&self) -> Touching {
        let active = self.active.iter().copied();
        let all: Vec<usize> = active.filter(|&at| self.joints[at].now.touches).collect();
        let members = |at: usize| {
            let joint = &self.joints[at];
            let other = match joint.partner {
                Partner::Member(other) => Some(other.member).filter(|it| *it != joint.own.member),
                Partner::Collider(..) | Partner::Still(..) => None,
            };
            [Some(joint.own.member), other].into_iter().flatten()
        };
        let mut start = vec![0; self.members.len() + 1];
        for &at in &all {
            members(at).for_each(|member| start[member + 1] += 1);
        }
        for member in 0..self.members.len() {
            start[member + 1] += start[member];
        }
        let (mut next, mut contacts) = (start.clone(), vec![0; start[self.members.len()]]);
        for &at in &all {
            for member in members(at) {
                contacts[next[member]] = at;
                next[member] += 1;
            }
        }
        Touching { start, contacts }
    }

    /// Loads of the last step on the elements of a piece, ascending.
    pub fn loads_on(&self, member: usize, touching: &Touching) -> Vec<ElementLoad> {
        let mut all: Vec<ElementLoad> = Vec::new();
        for joint in touching.of(member).iter().map(|&at| &self.joints[at]) {
            let now = &joint.now;
            let [element, partner] = joint.ends();
            let mut push = |element: u32, force: DVec3, torque: DVec3| {
                all.push(ElementLoad {
                    element,
                    force,
                    torque,
                });
            };
            if joint.own.member == member {
                push(element, now.force, now.torques[0]);
            }
            if joint.is_with(member) {
                push(partner, -now.force, now.torques[1]);
            }
        }
        merged(all)
    }
}

/// Contacts of an island that touch, by piece.
pub struct Touching {
    /// Start of each piece's range in `contacts`; one more entry than pieces.
    start: Vec<usize>,
    /// Their places in the list of the island's contacts.
    contacts: Vec<usize>,
}

impl Touching {
    /// Contacts of a piece, ascending.
    fn of(&self, member: usize) -> &[usize] {
        &self.contacts[self.start[member]..self.start[member + 1]]
    }
}

/// One load per element, ascending.
fn merged(mut loads: Vec<ElementLoad>) -> Vec<ElementLoad> {
    loads.sort_by_key(|one| one.element);
    loads.dedup_by(|later, first| {
        let same = later.element == first.element;
        if same {
            first.force += later.force;
            first.torque += later.torque;
        }
        same
    });
    loads
}

impl Outcome {
    /// Adds an alarm, if there is none for its piece.
    fn wake(&mut self, alarm: Alarm) {
        if self.wakes.iter().all(|one| one.piece != alarm.piece) {
            self.wakes.push(alarm);
        }
    }
}
