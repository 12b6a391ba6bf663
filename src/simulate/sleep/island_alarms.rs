//! What the loads of a step do to the pieces of an island.

use std::time::Instant;

use glam::DVec3;

use crate::columns::SleepReason;
use crate::math::Scalar;
use crate::simulate::bonded::rest::RestData;
use crate::simulate::contact::chunk::COLLIDER;
use crate::simulate::sleep::alarm::{Alarm, WORTH_NOTING, alarm};
use crate::simulate::sleep::chips::is_light;
use crate::simulate::sleep::course::Hit;
use crate::simulate::sleep::island::{Island, Outcome, Outside};
use crate::simulate::sleep::joint::Joint;
use crate::simulate::sleep::loads::{Blow, ElementLoad, merged};
use crate::simulate::sleep::piece::Piece;
use crate::simulate::sleep::sides::Partner;
use crate::simulate::sleep::strength::Strength;

impl<S: Scalar> Island<S> {
    /// Judges the loads of a step: closing speeds of new touches, except of chips with larger pieces that move, then
    /// forces. A soft contact, and one with a chip, counts with the largest force that it would have if it were stiff,
    /// at once when it touches.
    pub(super) fn judge(
        &self,
        pieces: &mut [&mut Piece],
        outside: &Outside<S>,
        outcome: &mut Outcome,
    ) {
        self.judge_touches(pieces, outside, outcome);
        let limit = outside.limits.wake;
        let (mut touching, all_blows) = (None, self.blows(pieces, outside.rest));
        for (member, piece) in pieces.iter_mut().enumerate() {
            let is_woken = |one: &Alarm| one.piece == self.members[member];
            let blows = all_blows.iter().filter(|(on, _)| *on == member);
            let blows: Vec<Blow> = blows.map(|(_, blow)| *blow).collect();
            let struck: f64 = blows.iter().map(|blow| blow.force.length()).sum();
            let Some(strength) = piece.doubtful(self.loads[member].force + struck, limit) else {
                continue;
            };
            if outcome.wakes.iter().any(is_woken) {
                continue;
            }
            let clock = Instant::now();
            let is_hit = !blows.is_empty();
            let touching = touching.get_or_insert_with(|| self.touching());
            let loads = self.loads_on(member, touching);
            let around = (outside.system, outside.rest);
            let judged = piece.alarm((loads, blows), strength, around, limit);
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

    /// Judges new touches by their closing speeds, except those of moving pieces with chips.
    fn judge_touches(&self, pieces: &[&mut Piece], outside: &Outside<S>, outcome: &mut Outcome) {
        let limit = outside.limits.wake;
        for &(at, Hit { closing, .. }) in &self.touched {
            let joint = &self.joints[at];
            let [element, partner] = joint.ends();
            let use_of = |strength: Option<Strength>, element: u32| {
                let bound = strength.map_or(0.0, |one| one.impact * closing);
                match bound >= WORTH_NOTING * limit {
                    true => outside.strength.impact(outside.system, element) * closing,
                    false => bound,
                }
            };
            let of_member = |member: usize, element: u32| {
                let used = use_of(pieces[member].strength, element);
                (self.members[member], used)
            };
            let own = of_member(joint.own.member, element);
            let other = match joint.partner {
                Partner::Member(other) => Some(of_member(other.member, partner)),
                Partner::Still(still) => {
                    // Its force is not judged as it touches, so the whole piece counts.
                    let used = still.strength.map_or(0.0, |one| one.impact * closing);
                    if used < limit {
                        outcome.wake(alarm(still.piece, SleepReason::Touched, 0.0));
                    }
                    Some((still.piece, used))
                }
                Partner::Collider(..) => None,
            };
            let sides = [Some(own), other].into_iter().flatten();
            let is_struck = self.struck_by_chips(joint, pieces, outside.rest);
            for ((piece, used), _) in sides.zip(is_struck).filter(|(_, by_chip)| !by_chip) {
                let alarm = Alarm {
                    is_hit: true,
                    ..alarm(piece, SleepReason::Impact, used)
                };
                if used >= limit {
                    outcome.wake(alarm);
                } else if used >= WORTH_NOTING * limit {
                    outcome.harmless.push((outcome.step, alarm));
                }
            }
        }
    }

    /// Whether the sides of a contact belong to pieces that move and are struck by a chip.
    fn struck_by_chips(
        &self,
        joint: &Joint<S>,
        pieces: &[&mut Piece],
        rest: &RestData,
    ) -> [bool; 2] {
        let inverse = |member: usize| pieces[member].body.inverse_mass;
        let (other, other_moves) = match joint.partner {
            Partner::Member(other) => (inverse(other.member), true),
            Partner::Still(still) => (still.inverse_mass, false),
            Partner::Collider(..) => return [false; 2],
        };
        let masses = joint.ends().map(|element| rest.mass[element as usize]);
        let own = is_light(inverse(joint.own.member), masses[1]);
        let other = is_light(other, masses[0]);
        [other && !own, own && !other && other_moves]
    }

    /// The forces of new touches with chips and of new soft touches, as large as they may become if they were stiff,
    /// and as they are now, with the piece of each element.
    fn blows(&self, pieces: &[&mut Piece], rest: &RestData) -> Vec<(usize, Blow)> {
        let mut all = Vec::new();
        for &(at, Hit { closing, normal }) in &self.touched {
            let joint = &self.joints[at];
            let by_chip = self.struck_by_chips(joint, pieces, rest);
            let elements = joint.ends().into_iter().filter(|&one| one < COLLIDER);
            let inverse = elements.map(|one| rest.inverse_mass[one as usize]).sum();
            let (peak, energy) = joint.peak(closing, inverse);
            if peak <= 0.0 {
                continue;
            }
            let now = joint.undamped_force().dot(normal);
            let partner = match joint.partner {
                Partner::Member(other) => Some(other.member),
                Partner::Collider(..) | Partner::Still(..) => None,
            };
            let members = [Some(joint.own.member), partner];
            let sides = members.into_iter().zip(joint.ends()).zip([normal, -normal]);
            for (((member, element), along), by_chip) in sides.zip(by_chip) {
                if let Some(member) = member.filter(|_| joint.is_soft() || by_chip) {
                    let blow = Blow {
                        element,
                        force: along * peak,
                        now: along * now,
                        energy,
                    };
                    all.push((member, blow));
                }
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

    /// Loads of the last step on the elements of a piece, ascending, without what damping adds to them.
    pub fn loads_on(&self, member: usize, touching: &Touching) -> Vec<ElementLoad> {
        let mut all: Vec<ElementLoad> = Vec::new();
        for joint in touching.of(member).iter().map(|&at| &self.joints[at]) {
            let (now, force) = (&joint.now, joint.undamped_force());
            let [element, partner] = joint.ends();
            let mut push = |element: u32, force: DVec3, torque: DVec3| {
                all.push(ElementLoad {
                    element,
                    force,
                    torque,
                });
            };
            if joint.own.member == member {
                push(element, force, now.torques[0]);
            }
            if joint.is_with(member) {
                push(partner, -force, now.torques[1]);
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

impl Outcome {
    /// Adds an alarm, if there is none for its piece but that it was touched.
    fn wake(&mut self, alarm: Alarm) {
        let known = self.wakes.iter_mut();
        match known.into_iter().find(|one| one.piece == alarm.piece) {
            Some(known) if known.reason == SleepReason::Touched => *known = alarm,
            Some(_) => {}
            None => self.wakes.push(alarm),
        }
    }
}
