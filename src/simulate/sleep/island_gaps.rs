//! When the contacts of an island that are apart have to be looked at again.

use glam::DVec3;

use crate::math::Scalar;
use crate::simulate::sleep::island::{Island, Outside, SOON};
use crate::simulate::sleep::piece::Piece;
use crate::simulate::sleep::sides::{Partner, Stance};
use crate::simulate::sleep::stride::closing_time;

/// Part of the bound on the speed at which a contact closes. A contact that is apart is looked at again once the
/// velocities of its pieces changed by twice this and its speed when it was last looked at.
const CALM: f64 = 0.05;

impl<S: Scalar> Island<S> {
    /// Chooses the contacts to look at from a step on.
    pub(super) fn choose_active(&mut self, step: u64) {
        self.active.clear();
        self.quiet_until = u64::MAX;
        for (at, joint) in self.joints.iter().enumerate() {
            // Those that may touch soon limit the length of a step.
            match step + SOON < joint.now.clear_until {
                true => {
                    let until = joint.now.clear_until - SOON;
                    self.quiet_until = self.quiet_until.min(until);
                }
                false => self.active.push(at),
            }
        }
    }

    /// Notes where the pieces are and how they move at the start.
    pub(super) fn meet(&mut self, pieces: &[&mut Piece]) {
        self.stances.clear();
        self.stances
            .extend(pieces.iter().map(|piece| Stance::of(piece)));
    }

    /// Follows the motion of the pieces over a step of `h` seconds.
    pub(super) fn follow(&mut self, pieces: &[&mut Piece], gravity: DVec3, h: f64) {
        if h == 0.0 {
            return self.meet(pieces);
        }
        for (stance, piece) in self.stances.iter_mut().zip(pieces) {
            stance.follow(piece, gravity, h);
        }
    }

    /// Bound on the change of the relative velocity of the sides of a contact since the start but for gravity, m/s.
    pub(super) fn changed(&self, at: usize) -> f64 {
        let joint = &self.joints[at];
        let own = self.stances[joint.own.member].change;
        match joint.partner {
            Partner::Member(other) => own + self.stances[other.member].change,
            Partner::Still(..) | Partner::Collider(..) => own,
        }
    }

    /// Notes until which steps a contact that has a gap (m) stays apart: by the bounds on the motion of its pieces, and
    /// by their present motion as long as it changes little. Returns the later one.
    pub(super) fn stay_apart(
        &mut self,
        at: usize,
        gap: f64,
        (step, outside): (u64, &Outside<S>),
    ) -> u64 {
        let joint = &self.joints[at];
        let own = &self.bounds[joint.own.member];
        let (speed, pull) = match joint.partner {
            Partner::Member(other) if own.falls => (self.bounds[other.member].speed, 0.0),
            Partner::Member(other) => (self.bounds[other.member].speed, 2.0),
            Partner::Still(..) | Partner::Collider(..) => (0.0, 1.0),
        };
        let gravity = outside.fields.gravity.length();
        let after = |time: f64| step + (time / outside.dt).clamp(0.0, 1e15) as u64;
        // The bounds are those of when the lists were built.
        let since = (step - outside.since) as f64 * outside.dt;
        let bound = own.speed + speed + pull * gravity * since;
        let clear_until = after(closing_time(gap, bound, pull * gravity));
        // The gap is longer than the way at the present speed and at the largest change of it together. Gravity moves
        // both sides alike unless one is held.
        let pull = match joint.partner {
            Partner::Member(..) => 0.0,
            Partner::Still(..) | Partner::Collider(..) => gravity,
        };
        let (now, slack) = (joint.now.speed, 2.0 * CALM * bound);
        let calm_until = after(closing_time(gap, 2.0 * now + slack, pull));
        let calm = self.changed(at) + now + slack;
        let now = &mut self.joints[at].now;
        now.clear_until = clear_until;
        (now.calm_until, now.calm) = match calm_until > clear_until {
            true => (calm_until, calm),
            false => (clear_until, 0.0),
        };
        now.calm_until
    }

    /// Square of the frequency that a contact would have if it touched, 1/s².
    pub(super) fn onset_rate(&self, at: usize, pieces: &[&mut Piece]) -> f64 {
        let joint = &self.joints[at];
        let own = joint.rate(joint.own.member, joint.now.arms[0], pieces);
        own + match joint.partner {
            Partner::Member(other) => joint.rate(other.member, joint.now.arms[1], pieces),
            Partner::Still(..) | Partner::Collider(..) => 0.0,
        }
    }

    /// Notes that a contact does not touch until a step.
    pub(super) fn wait(&mut self, at: usize, (step, until): (u64, u64)) {
        self.clear_until = self.clear_until.min(until);
        if until < step + SOON {
            self.onset = self.onset.max(self.joints[at].now.onset);
        }
    }
}
