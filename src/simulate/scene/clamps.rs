//! Driven clamps, which rotate or follow key frames: positions and rotations of their elements over time.
//!
//! Each position follows from the pose of the clamp and the packed position of the element, never from the
//! previous step, so errors do not accumulate. Clamps that are at rest or move at constant velocity are not
//! driven: their elements drift like free ones.

use glam::{DQuat, DVec3};

use crate::geometry::solid::Pose;
use crate::math::quat::rotation_between;
use crate::math::{Quat, Scalar, Vec3};
use crate::simulate::bonded::rows::put;
use crate::simulate::bonded::system::{MotionRow, System, TailRow, motion, set_position};
use crate::spec::{Action, PrescribedMotion};

/// A driven clamp: one that rotates or follows key frames.
#[derive(Clone, Debug)]
struct Clamp {
    action: Action,
    /// Centre of rotation at rest, m.
    pivot: DVec3,
    /// Mean position of its elements at rest, m.
    middle: DVec3,
    /// Largest distance of its elements from the pivot, m.
    reach: f64,
}

/// An element that moves with a driven clamp or a rigid body.
#[derive(Clone, Copy, Debug)]
pub struct DrivenElement {
    /// The element.
    pub element: u32,
    /// Index among the driven clamps, or among the rigid bodies.
    pub clamp: u32,
    /// Packed position, m.
    pub rest: DVec3,
}

/// All driven clamps of a run, and their elements.
#[derive(Clone, Debug, Default)]
pub struct Clamps {
    clamps: Vec<Clamp>,
    /// Elements of all clamps, ascending.
    driven_elements: Vec<DrivenElement>,
}

/// Pose of a clamp or a rigid body at one time.
#[derive(Clone, Copy, Debug)]
pub struct RigidPose<S> {
    /// Centre of rotation at rest, m.
    pub pivot: DVec3,
    /// Displacement and rotation since rest, with velocity and spin.
    pub pose: Pose,
    /// The rotation in working precision.
    pub rotation: Quat<S>,
    /// Rounding error of `rotation`, as a rotation vector.
    pub unapplied: Vec3<S>,
}

impl<S> RigidPose<S> {
    /// Upper bound on the distance that any of its elements moves up to `now`, m; `reach` is their largest
    /// distance from the pivot.
    pub fn travel(&self, now: &RigidPose<S>, reach: f64) -> f64 {
        let (before, now) = (&self.pose, &now.pose);
        before.position.distance(now.position)
            + angle_between(before.rotation, now.rotation) * reach
    }
}

impl<S: Scalar> RigidPose<S> {
    /// Pose of a body with the given `pivot` (m, at rest), displacement and rotation.
    pub fn new(pivot: DVec3, pose: Pose) -> Self {
        let (rotation, unapplied) = rounded(pose.rotation);
        RigidPose {
            pivot,
            pose,
            rotation,
            unapplied,
        }
    }

    /// Present position of a point packed at `rest`, m. Without displacement and rotation it equals `rest` to
    /// the bit.
    pub fn place(&self, rest: DVec3) -> DVec3 {
        rest + (self.pose.position + turned_on(self.pose.rotation, rest - self.pivot))
    }

    /// Velocity of a point packed at `rest`, m/s.
    pub fn velocity(&self, rest: DVec3) -> DVec3 {
        self.pose
            .velocity_at(self.pose.rotation * (rest - self.pivot))
    }
}

/// A rotation in working precision, and its rounding error as a rotation vector.
pub fn rounded<S: Scalar>(rotation: DQuat) -> (Quat<S>, Vec3<S>) {
    let [x, y, z, w] = rotation.to_array();
    let [a, b, c, d] = [x, y, z, w].map(S::from_f64);
    let kept = [a, b, c, d].map(Scalar::to_f64);
    let kept = Quat::new(kept[0], kept[1], kept[2], kept[3]);
    let left = rotation_between(kept, Quat::new(x, y, z, w));
    (Quat::new(a, b, c, d), Vec3::from_f64(left.to_f64()))
}

/// Displacement of the end of an arm by a rotation; exactly zero for the identity.
fn turned_on(rotation: DQuat, arm: DVec3) -> DVec3 {
    let twice = 2.0 * rotation.xyz().cross(arm);
    twice * rotation.w + rotation.xyz().cross(twice)
}

/// Angle between two orientations, 0 to π.
pub fn angle_between(from: DQuat, to: DQuat) -> f64 {
    let turned = to * from.inverse();
    2.0 * turned.xyz().length().atan2(turned.w.abs())
}

/// Whether a drive is more than a constant velocity.
fn is_driven(drive: &PrescribedMotion<'_>) -> bool {
    !drive.keys.is_empty() || drive.spin != [0.0; 3]
}

/// Centre of rotation of a clamp or spring at rest: its pivot, else the mean position of its elements.
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

/// Velocity of a clamp in each stretch of its drive, and the speed that its rotation adds at the farthest
/// element. `elements` are the packed positions of its elements, m.
pub fn speeds(action: &Action, elements: &[DVec3]) -> Vec<(DVec3, f64)> {
    let middle = elements.iter().sum::<DVec3>() / elements.len().max(1) as f64;
    let reach = reach(elements.iter().copied(), pivot_of(action, middle));
    let drive = action.drive();
    let stretches = drive
        .iter()
        .flat_map(PrescribedMotion::poses_at_interval_starts);
    stretches
        .map(|pose| (pose.velocity, pose.spin.length() * reach))
        .collect()
}

/// Largest distance of the points from a pivot, m.
pub fn reach(elements: impl Iterator<Item = DVec3>, pivot: DVec3) -> f64 {
    elements.map(|p| p.distance(pivot)).fold(0.0, f64::max)
}

impl Clamps {
    /// Adds a clamp of these elements of a system at rest if it is driven, and returns its index. `middle` is
    /// the mean position of the elements, m.
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
        let driven_elements = elements.iter().map(|&element| DrivenElement {
            element,
            clamp,
            rest: system.position(element as usize),
        });
        self.driven_elements.extend(driven_elements);
        self.driven_elements.sort_unstable_by_key(|one| one.element);
        let mine = elements.iter().map(|&i| system.position(i as usize));
        self.clamps.push(Clamp {
            action: action.clone(),
            pivot,
            middle,
            reach: reach(mine, pivot),
        });
        Some(clamp)
    }

    /// Number of driven clamps.
    pub fn count(&self) -> usize {
        self.clamps.len()
    }

    /// Mean position of each clamp's elements at rest, m.
    pub fn middles(&self) -> impl Iterator<Item = DVec3> {
        self.clamps.iter().map(|clamp| clamp.middle)
    }

    /// Elements of all clamps, ascending.
    pub fn driven_elements(&self) -> &[DrivenElement] {
        &self.driven_elements
    }

    /// Displacement, rotation and motion of a clamp since rest, at time `t`, s.
    pub fn pose(&self, clamp: u32, t: f64) -> Pose {
        let drive = self.clamps[clamp as usize].action.drive();
        drive.expect("only clamps are added").pose(t)
    }

    /// Poses of all clamps at time `t`, s.
    pub fn poses<S: Scalar>(&self, t: f64) -> Vec<RigidPose<S>> {
        let all = (0..).zip(&self.clamps);
        all.map(|(index, clamp)| RigidPose::new(clamp.pivot, self.pose(index, t)))
            .collect()
    }

    /// Upper bound on the distance that any of their elements moves between two times, m.
    pub fn travel<S>(&self, before: &[RigidPose<S>], now: &[RigidPose<S>]) -> f64 {
        let both = before.iter().zip(now).zip(&self.clamps);
        both.map(|((before, now), clamp)| before.travel(now, clamp.reach))
            .fold(0.0, f64::max)
    }

    /// Sets the rows of clamped elements to their prescribed positions, rotations and velocities; row 0
    /// belongs to element `first`.
    pub fn place<S: Scalar>(
        &self,
        poses: &[RigidPose<S>],
        first: usize,
        motion: &mut [MotionRow<S>],
        tail: &mut [TailRow<S>],
    ) {
        place(&self.driven_elements, poses, first, motion, tail);
    }
}

/// Sets the rows of driven elements (ascending) to the positions, rotations and velocities that `poses`
/// prescribe; row 0 belongs to element `first`.
pub fn place<S: Scalar>(
    driven_elements: &[DrivenElement],
    poses: &[RigidPose<S>],
    first: usize,
    motion: &mut [MotionRow<S>],
    tail: &mut [TailRow<S>],
) {
    let at = |element: usize| {
        let before = |one: &DrivenElement| (one.element as usize) < element;
        driven_elements.partition_point(before)
    };
    for one in &driven_elements[at(first)..at(first + motion.len())] {
        let hold = &poses[one.clamp as usize];
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
