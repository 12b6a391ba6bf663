//! Clamps that turn or go along key frames: where they have their elements at a time.
//!
//! Every place follows from the pose of the clamp and where the element was packed, never from the step
//! before, so nothing adds up. Clamps at rest or of constant velocity are not among them: their elements
//! drift like free ones.

use glam::{DQuat, DVec3};

use crate::geometry::solid::Pose;
use crate::math::quat::rotation_between;
use crate::math::{Quat, Scalar, Vec3};
use crate::simulate::bonded::rows::put;
use crate::simulate::bonded::system::{Motion, System, Tail, motion, set_position};
use crate::spec::{Action, Drive};

/// A clamp that turns or goes along key frames.
#[derive(Clone, Debug)]
struct Clamp {
    action: Action,
    /// What it turns about, at rest, m.
    pivot: DVec3,
    /// Middle of its elements at rest, m.
    middle: DVec3,
    /// Farthest of its elements from the pivot, m.
    reach: f64,
}

/// An element of such a clamp, or of a rigid body.
#[derive(Clone, Copy, Debug)]
pub struct Gripped {
    /// The element.
    pub element: u32,
    /// Index of the clamp among those that are driven, or of the rigid body.
    pub clamp: u32,
    /// Where it was packed, m.
    pub rest: DVec3,
}

/// All clamps of a run that turn or go along key frames.
#[derive(Clone, Debug, Default)]
pub struct Clamps {
    clamps: Vec<Clamp>,
    /// Ascending by element.
    gripped: Vec<Gripped>,
}

/// A clamp or a rigid body at a moment.
#[derive(Clone, Copy, Debug)]
pub struct Hold<S> {
    /// What it turns about, at rest, m.
    pub pivot: DVec3,
    /// Displacement and turn against rest, and how they change.
    pub pose: Pose,
    /// The turn in working precision.
    pub rotation: Quat<S>,
    /// What rounding kept out of that, a rotation vector.
    pub unapplied: Vec3<S>,
}

impl<S> Hold<S> {
    /// Bound on how far anything held has moved until `now`, m; `reach` is the farthest from the pivot.
    pub fn travel(&self, now: &Hold<S>, reach: f64) -> f64 {
        let (before, now) = (&self.pose, &now.pose);
        before.position.distance(now.position)
            + angle_between(before.rotation, now.rotation) * reach
    }
}

impl<S: Scalar> Hold<S> {
    /// Of what turns about `pivot`, m at rest, and is displaced and turned so.
    pub fn new(pivot: DVec3, pose: Pose) -> Self {
        let [x, y, z, w] = pose.rotation.to_array();
        let [a, b, c, d] = [x, y, z, w].map(S::from_f64);
        let kept = [a, b, c, d].map(Scalar::to_f64);
        let kept = Quat::new(kept[0], kept[1], kept[2], kept[3]);
        let left = rotation_between(kept, Quat::new(x, y, z, w));
        Hold {
            pivot,
            pose,
            rotation: Quat::new(a, b, c, d),
            unapplied: Vec3::from_f64(left.to_f64()),
        }
    }

    /// Where the clamp has what was packed at `rest`, m. Without turn and displacement it is `rest` to the bit.
    pub fn place(&self, rest: DVec3) -> DVec3 {
        rest + (self.pose.position + turned_on(self.pose.rotation, rest - self.pivot))
    }

    /// Velocity of what was packed at `rest`, m/s.
    fn velocity(&self, rest: DVec3) -> DVec3 {
        self.pose
            .velocity_at(self.pose.rotation * (rest - self.pivot))
    }
}

/// How far a rotation moves the end of an arm: exactly nowhere where there is no rotation.
fn turned_on(rotation: DQuat, arm: DVec3) -> DVec3 {
    let twice = 2.0 * rotation.xyz().cross(arm);
    twice * rotation.w + rotation.xyz().cross(twice)
}

/// Angle of the turn from one orientation to another, 0 to π.
pub fn angle_between(from: DQuat, to: DQuat) -> f64 {
    let turned = to * from.inverse();
    2.0 * turned.xyz().length().atan2(turned.w.abs())
}

/// Whether a drive is more than a constant velocity.
fn is_driven(drive: &Drive<'_>) -> bool {
    !drive.keys.is_empty() || drive.spin != [0.0; 3]
}

/// What a clamp or a spring turns about, at rest: its pivot, else the middle of its elements.
pub fn pivot_of(action: &Action, middle: DVec3) -> DVec3 {
    match action {
        Action::Clamp {
            pivot: Some(pivot), ..
        }
        | Action::Spring {
            pivot: Some(pivot), ..
        } => DVec3::from_array(*pivot),
        _ => middle,
    }
}

/// Each velocity that a clamp has in the course of time, and the speed that turning adds at its farthest
/// element. `elements` are where its elements were packed.
pub fn speeds(action: &Action, elements: &[DVec3]) -> Vec<(DVec3, f64)> {
    let middle = elements.iter().sum::<DVec3>() / elements.len().max(1) as f64;
    let reach = reach(elements.iter().copied(), pivot_of(action, middle));
    let drive = action.drive();
    let stretches = drive.iter().flat_map(Drive::stretches);
    stretches
        .map(|pose| (pose.velocity, pose.spin.length() * reach))
        .collect()
}

/// Farthest of some points from a pivot, m.
pub fn reach(elements: impl Iterator<Item = DVec3>, pivot: DVec3) -> f64 {
    elements.map(|p| p.distance(pivot)).fold(0.0, f64::max)
}

impl Clamps {
    /// Adds a clamp that holds these elements of a system at rest, if it is driven; its index. `middle` is theirs, m.
    pub fn add<S: Scalar>(
        &mut self,
        action: &Action,
        elements: &[u32],
        middle: DVec3,
        system: &System<S>,
    ) -> Option<u32> {
        action.drive().filter(is_driven)?;
        let clamp = self.clamps.len() as u32;
        let pivot = pivot_of(action, middle);
        let gripped = elements.iter().map(|&element| Gripped {
            element,
            clamp,
            rest: system.position(element as usize),
        });
        self.gripped.extend(gripped);
        self.gripped.sort_unstable_by_key(|gripped| gripped.element);
        let mine = elements.iter().map(|&i| system.position(i as usize));
        self.clamps.push(Clamp {
            action: action.clone(),
            pivot,
            middle,
            reach: reach(mine, pivot),
        });
        Some(clamp)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.clamps.len()
    }

    /// Middles of what they hold, at rest, m.
    pub fn middles(&self) -> impl Iterator<Item = DVec3> {
        self.clamps.iter().map(|clamp| clamp.middle)
    }

    /// Their elements, ascending.
    pub fn gripped(&self) -> &[Gripped] {
        &self.gripped
    }

    /// Displacement, turn and motion of a clamp against rest at time `t`, s.
    pub fn pose(&self, clamp: u32, t: f64) -> Pose {
        let drive = self.clamps[clamp as usize].action.drive();
        drive.expect("only clamps are added").pose(t)
    }

    /// All of them at time `t`, s.
    pub fn holds<S: Scalar>(&self, t: f64) -> Vec<Hold<S>> {
        let all = (0..).zip(&self.clamps);
        all.map(|(index, clamp)| Hold::new(clamp.pivot, self.pose(index, t)))
            .collect()
    }

    /// Bound on how far any of their elements has moved between two moments, m.
    pub fn travel<S>(&self, before: &[Hold<S>], now: &[Hold<S>]) -> f64 {
        let both = before.iter().zip(now).zip(&self.clamps);
        both.map(|((before, now), clamp)| before.travel(now, clamp.reach))
            .fold(0.0, f64::max)
    }

    /// Brings those elements that clamps have among the rows from element `first` on to where they are held.
    pub fn place<S: Scalar>(
        &self,
        holds: &[Hold<S>],
        first: usize,
        motion: &mut [Motion<S>],
        tail: &mut [Tail<S>],
    ) {
        place(&self.gripped, holds, first, motion, tail);
    }
}

/// Brings those of `gripped`, ascending, that are among the rows from element `first` on to where `holds` have them.
pub fn place<S: Scalar>(
    gripped: &[Gripped],
    holds: &[Hold<S>],
    first: usize,
    motion: &mut [Motion<S>],
    tail: &mut [Tail<S>],
) {
    let at = |element: usize| {
        let before = |one: &Gripped| (one.element as usize) < element;
        gripped.partition_point(before)
    };
    for one in &gripped[at(first)..at(first + motion.len())] {
        let hold = &holds[one.clamp as usize];
        let row = &mut motion[one.element as usize - first];
        set_position(row, hold.place(one.rest));
        put(&mut row.0, motion::Q, hold.rotation.v);
        row.0[motion::Q + 3] = hold.rotation.w;
        for (at, vector) in [
            (motion::V, hold.velocity(one.rest)),
            (motion::W, hold.pose.spin),
        ] {
            put(&mut row.0, at, Vec3::from_f64(vector.to_array()));
        }
        let left = &mut tail[one.element as usize - first];
        put(&mut left.0, 0, hold.unapplied);
    }
}
