//! Pose and velocity of a fragment in a frame, as those of the best-fitting rigid body.

use glam::{DMat3, DQuat, DVec3};

use super::rigid_transform::RigidTransform;
use crate::geometry::mass;

/// State of a rigid body in a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidState {
    /// The frame.
    pub frame: u32,
    /// Position of the centre of mass, units of the file.
    pub at: DVec3,
    /// Rotation from rest.
    pub rotation: DQuat,
    /// Velocity of the centre of mass, units of the file per second of the event.
    pub velocity: DVec3,
    /// Angular velocity, rad per second of the event.
    pub spin: DVec3,
}

impl RigidState {
    /// Least-squares fit of a rigid body to vertices at `now` that move with `velocities`. `motion` is their
    /// transform from rest, where the centre of mass is at `centre`.
    pub fn fit(
        frame: u32,
        (motion, centre): (&RigidTransform, DVec3),
        now: &[[f32; 3]],
        velocities: &[[f32; 3]],
    ) -> Self {
        let vector = |v: &[f32; 3]| DVec3::from(v.map(f64::from));
        let mean = |values: &[[f32; 3]]| {
            values.iter().map(vector).sum::<DVec3>() / values.len().max(1) as f64
        };
        let (middle, velocity) = (mean(now), mean(velocities));
        // Spin: Σ (|r|² 1 − r rᵀ) ω = Σ r × v.
        let (mut inertia, mut momentum) = (DMat3::ZERO, DVec3::ZERO);
        for (p, v) in now.iter().zip(velocities) {
            let (r, v) = (vector(p) - middle, vector(v) - velocity);
            momentum += r.cross(v);
            inertia += mass::point_inertia(r);
        }
        let spin = inertia.inverse() * momentum;
        // Collinear points, or a single point, leave the spin undefined.
        let spin = if spin.is_finite() { spin } else { DVec3::ZERO };
        let at = motion.rotation * centre + motion.shift;
        RigidState {
            frame,
            at,
            rotation: motion.rotation,
            velocity: velocity + spin.cross(at - middle),
            spin,
        }
    }

    /// The same motion with another reference point: the one at `centre` at rest.
    pub fn at_point(&self, motion: &RigidTransform, centre: DVec3) -> Self {
        let at = motion.rotation * centre + motion.shift;
        RigidState {
            at,
            velocity: self.velocity + self.spin.cross(at - self.at),
            ..*self
        }
    }

    /// A world position in the body frame, whose origin is the centre of mass.
    pub fn body_position(&self, position: [f32; 3]) -> DVec3 {
        self.rotation.inverse() * (DVec3::from(position.map(f64::from)) - self.at)
    }

    /// A world velocity at `position` minus that of the rigid motion, in the axes of the body frame.
    pub fn relative_velocity(&self, position: [f32; 3], velocity: [f32; 3]) -> DVec3 {
        let arm = DVec3::from(position.map(f64::from)) - self.at;
        let own = self.velocity + self.spin.cross(arm);
        self.rotation.inverse() * (DVec3::from(velocity.map(f64::from)) - own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn velocity_and_spin_of_a_rigid_motion_are_found() {
        let rest = [
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 2.0, 0.0],
            [0.0, 0.0, 3.0],
        ];
        let motion = RigidTransform {
            rotation: DQuat::from_rotation_y(0.7),
            shift: DVec3::new(3.0, -1.0, 2.0),
        };
        let (velocity, spin) = (DVec3::new(-4.0, 1.0, 0.5), DVec3::new(20.0, -30.0, 5.0));
        let centre = DVec3::new(0.3, 0.4, 0.5);
        let at = motion.rotation * centre + motion.shift;
        let now = rest.map(|p| motion.apply(p).as_vec3().to_array());
        let moving = now.map(|p| {
            let arm = DVec3::from(p.map(f64::from)) - at;
            (velocity + spin.cross(arm)).as_vec3().to_array()
        });
        let found = RigidState::fit(7, (&motion, centre), &now, &moving);
        assert!(found.at.distance(at) < 1e-12 && found.frame == 7);
        assert!(found.spin.distance(spin) < 1e-4, "{found:?}");
        assert!(found.velocity.distance(velocity) < 1e-4, "{found:?}");
        for ((rest, now), moving) in rest.iter().zip(now).zip(moving) {
            let expected = DVec3::from(rest.map(f64::from)) - centre;
            assert!(found.body_position(now).distance(expected) < 1e-6);
            assert!(found.relative_velocity(now, moving).length() < 1e-4);
        }
    }

    #[test]
    fn a_single_point_does_not_turn() {
        let motion = RigidTransform {
            rotation: DQuat::IDENTITY,
            shift: DVec3::ZERO,
        };
        let found = RigidState::fit(0, (&motion, DVec3::ZERO), &[[0.0; 3]], &[[1.0, 2.0, 3.0]]);
        assert_eq!(found.spin, DVec3::ZERO);
        assert_eq!(found.velocity, DVec3::new(1.0, 2.0, 3.0));
    }
}
