//! How a fragment stands and moves in a frame, as the rigid body nearest to it.

use glam::{DMat3, DQuat, DVec3};

use super::rigid::Rigid;
use crate::geometry::mass;

/// A rigid body in a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// The frame.
    pub frame: u32,
    /// Its centre of mass, units of the file.
    pub at: DVec3,
    /// From rest.
    pub rotation: DQuat,
    /// Of the centre of mass, units of the file a second of the event.
    pub velocity: DVec3,
    /// Angular velocity, rad a second of the event.
    pub spin: DVec3,
}

impl Moment {
    /// The body nearest to vertices at `now` that move with `velocities`, by least squares; `motion` carries
    /// them from rest, where the centre of mass is at `centre`.
    pub fn fit(
        frame: u32,
        (motion, centre): (&Rigid, DVec3),
        now: &[[f32; 3]],
        velocities: &[[f32; 3]],
    ) -> Self {
        let vector = |v: &[f32; 3]| DVec3::from(v.map(f64::from));
        let mean = |values: &[[f32; 3]]| {
            values.iter().map(vector).sum::<DVec3>() / values.len().max(1) as f64
        };
        let (middle, velocity) = (mean(now), mean(velocities));
        // What turns: Σ (|r|² 1 − r rᵀ) ω = Σ r × v.
        let (mut inertia, mut momentum) = (DMat3::ZERO, DVec3::ZERO);
        for (p, v) in now.iter().zip(velocities) {
            let (r, v) = (vector(p) - middle, vector(v) - velocity);
            momentum += r.cross(v);
            inertia += mass::of_point(r);
        }
        let spin = inertia.inverse() * momentum;
        // Points in a line, or a single one.
        let spin = if spin.is_finite() { spin } else { DVec3::ZERO };
        let at = motion.rotation * centre + motion.shift;
        Moment {
            frame,
            at,
            rotation: motion.rotation,
            velocity: velocity + spin.cross(at - middle),
            spin,
        }
    }

    /// The same motion told of another point: what is at `centre` at rest.
    pub fn about(&self, motion: &Rigid, centre: DVec3) -> Self {
        let at = motion.rotation * centre + motion.shift;
        Moment {
            at,
            velocity: self.velocity + self.spin.cross(at - self.at),
            ..*self
        }
    }

    /// A place in the world as the body sees it, about its centre of mass.
    pub fn local(&self, place: [f32; 3]) -> DVec3 {
        self.rotation.inverse() * (DVec3::from(place.map(f64::from)) - self.at)
    }

    /// What a velocity in the world has beside the body's own motion, as the body sees it.
    pub fn local_velocity(&self, place: [f32; 3], velocity: [f32; 3]) -> DVec3 {
        let arm = DVec3::from(place.map(f64::from)) - self.at;
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
        let motion = Rigid {
            rotation: DQuat::from_rotation_y(0.7),
            shift: DVec3::new(3.0, -1.0, 2.0),
        };
        let (velocity, spin) = (DVec3::new(-4.0, 1.0, 0.5), DVec3::new(20.0, -30.0, 5.0));
        let centre = DVec3::new(0.3, 0.4, 0.5);
        let at = motion.rotation * centre + motion.shift;
        let now = rest.map(|p| motion.carry(p).as_vec3().to_array());
        let moving = now.map(|p| {
            let arm = DVec3::from(p.map(f64::from)) - at;
            (velocity + spin.cross(arm)).as_vec3().to_array()
        });
        let found = Moment::fit(7, (&motion, centre), &now, &moving);
        assert!(found.at.distance(at) < 1e-12 && found.frame == 7);
        assert!(found.spin.distance(spin) < 1e-4, "{found:?}");
        assert!(found.velocity.distance(velocity) < 1e-4, "{found:?}");
        for ((rest, now), moving) in rest.iter().zip(now).zip(moving) {
            let expected = DVec3::from(rest.map(f64::from)) - centre;
            assert!(found.local(now).distance(expected) < 1e-6);
            assert!(found.local_velocity(now, moving).length() < 1e-4);
        }
    }

    #[test]
    fn a_single_point_does_not_turn() {
        let motion = Rigid {
            rotation: DQuat::IDENTITY,
            shift: DVec3::ZERO,
        };
        let found = Moment::fit(0, (&motion, DVec3::ZERO), &[[0.0; 3]], &[[1.0, 2.0, 3.0]]);
        assert_eq!(found.spin, DVec3::ZERO);
        assert_eq!(found.velocity, DVec3::new(1.0, 2.0, 3.0));
    }
}
