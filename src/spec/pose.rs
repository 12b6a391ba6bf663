//! Poses of colliders and clamps in time: at rest, with constant velocity, or along key frames.

use glam::{DQuat, DVec3};

use super::body::Rotation;
use super::collider::{Action, Collider, ColliderShape, Key};
use crate::geometry::solid::{Pose, Solid};

impl Rotation {
    /// The rotation as a quaternion; the identity if the axis has no length.
    pub fn quaternion(&self) -> DQuat {
        DVec3::from_array(self.axis)
            .try_normalize()
            .map_or(DQuat::IDENTITY, |axis| {
                DQuat::from_axis_angle(axis, self.angle)
            })
    }
}

/// Prescribed motion: with constant velocity from a pose at the start, or along key frames.
#[derive(Clone, Copy, Debug)]
pub struct PrescribedMotion<'a> {
    /// Position at the start, m.
    pub position: [f64; 3],
    /// Rotation at the start.
    pub rotation: DQuat,
    /// Velocity, m/s.
    pub velocity: [f64; 3],
    /// Angular velocity, rad/s.
    pub spin: [f64; 3],
    /// Key frames, which replace all of these.
    pub keys: &'a [Key],
}

impl PrescribedMotion<'_> {
    /// Pose and velocity at time `t`, s: linear between key frames, constant before and after them.
    pub fn pose(&self, t: f64) -> Pose {
        let keys = self.keys;
        let Some(last) = keys.last() else {
            return self.uniform_motion(t);
        };
        let at_rest = |position: [f64; 3], rotation: DQuat| Pose {
            position: DVec3::from_array(position),
            rotation,
            velocity: DVec3::ZERO,
            spin: DVec3::ZERO,
        };
        let next = keys.partition_point(|key| key.time <= t);
        if next == 0 {
            return at_rest(keys[0].position, keys[0].rotation.quaternion());
        }
        if next == keys.len() {
            return at_rest(last.position, last.rotation.quaternion());
        }
        let (a, b) = (&keys[next - 1], &keys[next]);
        let span = b.time - a.time;
        let part = (t - a.time) / span;
        let (from, to) = (DVec3::from_array(a.position), DVec3::from_array(b.position));
        let (q_from, q_to) = (a.rotation.quaternion(), b.rotation.quaternion());
        let shortest = if q_from.dot(q_to) < 0.0 { -q_to } else { q_to };
        let (axis, angle) = (shortest * q_from.inverse()).to_axis_angle();
        Pose {
            position: from.lerp(to, part),
            rotation: DQuat::from_axis_angle(axis, angle * part) * q_from,
            velocity: (to - from) / span,
            spin: axis * (angle / span),
        }
    }

    fn uniform_motion(&self, t: f64) -> Pose {
        let velocity = DVec3::from_array(self.velocity);
        let spin = DVec3::from_array(self.spin);
        Pose {
            position: DVec3::from_array(self.position) + velocity * t,
            rotation: DQuat::from_scaled_axis(spin * t) * self.rotation,
            velocity,
            spin,
        }
    }

    /// Poses at the starts of the intervals in which velocity and spin are constant.
    pub fn poses_at_interval_starts(&self) -> impl Iterator<Item = Pose> {
        let keys = self.keys.iter().map(|key| key.time);
        std::iter::once(0.0).chain(keys).map(|t| self.pose(t))
    }
}

impl ColliderShape {
    /// The solid in its own frame; none for a mesh, which is in the store.
    pub fn solid(&self) -> Option<Solid> {
        Some(match *self {
            ColliderShape::HalfSpace { normal } => Solid::HalfSpace {
                normal: DVec3::from_array(normal).normalize_or(DVec3::Y),
            },
            ColliderShape::Box { size } => Solid::Box {
                half: DVec3::from_array(size) / 2.0,
            },
            ColliderShape::Sphere { radius } => Solid::Sphere { radius },
            ColliderShape::Cylinder { radius, height } => Solid::Cylinder {
                radius,
                half_height: height / 2.0,
            },
            ColliderShape::Mesh { .. } => return None,
        })
    }
}

impl Collider {
    /// Prescribed motion of the collider.
    pub fn drive(&self) -> PrescribedMotion<'_> {
        PrescribedMotion {
            position: self.position,
            rotation: self.rotation.quaternion(),
            velocity: self.velocity,
            spin: self.spin,
            keys: &self.keys,
        }
    }

    /// Pose and velocity at time `t`, s.
    pub fn pose(&self, t: f64) -> Pose {
        self.drive().pose(t)
    }
}

impl Action {
    /// Prescribed motion of a clamp or a spring, as displacement and rotation from where its elements were
    /// packed; none for other actions.
    pub fn drive(&self) -> Option<PrescribedMotion<'_>> {
        match self {
            Action::Clamp {
                velocity,
                spin,
                keys,
                ..
            }
            | Action::Spring {
                velocity,
                spin,
                keys,
                ..
            } => Some(PrescribedMotion {
                position: [0.0; 3],
                rotation: DQuat::IDENTITY,
                velocity: *velocity,
                spin: *spin,
                keys,
            }),
            Action::Force { .. } | Action::Pressure { .. } | Action::Gauge {} => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{ColliderShape, Key};

    #[test]
    fn key_frames_move_linearly_and_hold_outside() {
        let key = |time: f64, x: f64, angle: f64| Key {
            time,
            position: [x, 0.0, 0.0],
            rotation: Rotation {
                axis: [0.0, 0.0, 1.0],
                angle,
            },
        };
        let collider = Collider {
            name: "press".into(),
            shape: ColliderShape::Sphere { radius: 1.0 },
            position: [0.0; 3],
            rotation: Rotation::default(),
            velocity: [0.0; 3],
            spin: [0.0; 3],
            keys: vec![key(1.0, 0.0, 0.0), key(3.0, 4.0, 1.0)],
            friction: 0.5,
            young: None,
        };
        let middle = collider.pose(2.0);
        assert!((middle.position.x - 2.0).abs() < 1e-12);
        assert!((middle.velocity.x - 2.0).abs() < 1e-12);
        assert!((middle.spin - DVec3::Z * 0.5).length() < 1e-12);
        assert_eq!(collider.pose(0.0).position, DVec3::ZERO);
        let after = collider.pose(9.0);
        assert_eq!((after.position.x, after.velocity), (4.0, DVec3::ZERO));
    }
}
