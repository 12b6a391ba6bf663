//! Motion of one free rigid body. It takes the kicks and the drift of velocity Verlet like a free element; its
//! mass and inertia are those of its elements plus the Steiner terms of their distances from the centre of
//! mass.

use glam::{DQuat, DVec3};

use crate::geometry::solid::Pose;
use crate::laws::motion::kick;
use crate::laws::rigid::RigidInertia;
use crate::math::Vec3;
use crate::simulate::scene::reactions::Wrench;

/// An element as a part of a rigid body.
#[derive(Clone, Copy, Debug)]
pub struct BodyPart {
    /// Mass, kg.
    pub mass: f64,
    /// Moment of inertia about its own centre, kg m².
    pub inertia: f64,
    /// Position, m.
    pub place: DVec3,
    /// Velocity, m/s.
    pub velocity: DVec3,
    /// Angular velocity, rad/s.
    pub spin: DVec3,
}

impl BodyPart {
    /// Its kinetic energy at a velocity (m/s) and an angular velocity (rad/s), J.
    pub fn kinetic(&self, v: DVec3, w: DVec3) -> f64 {
        0.5 * (self.mass * v.length_squared() + self.inertia * w.length_squared())
    }
}

/// Displacement, rotation and motion of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyMotion {
    /// Displacement of the centre of mass since the body was made, m.
    pub displacement: DVec3,
    /// Rotation since then.
    pub rotation: DQuat,
    /// Velocity of the centre of mass, m/s.
    pub velocity: DVec3,
    /// Angular momentum about the centre of mass, kg m²/s.
    pub momentum: DVec3,
}

/// Numbers that a state stores for the motion of each body.
pub const BODY_NUMBERS: usize = 13;

/// Largest rotation in a step of a long drift, rad.
const TURN: f64 = 0.05;

/// Uniform fields that act on a body.
#[derive(Clone, Copy, Debug)]
pub struct Fields {
    /// Acceleration of gravity, m/s².
    pub gravity: DVec3,
    /// Drag, 1/s.
    pub drag: f64,
}

/// A free rigid body.
#[derive(Clone, Copy, Debug)]
pub struct RigidBody {
    /// Centre of mass when the body was made, m.
    pub centre: DVec3,
    /// Inverse of its mass, 1/kg.
    pub inverse_mass: f64,
    /// Moments and axes of inertia when the body was made.
    pub top: RigidInertia,
    /// Its motion since then.
    pub moving: BodyMotion,
}

impl RigidBody {
    /// Body of these parts, with their total momentum and angular momentum.
    pub fn new(parts: &[BodyPart]) -> Self {
        let sum = |f: &dyn Fn(&BodyPart) -> DVec3| -> DVec3 { parts.iter().map(f).sum() };
        let mass: f64 = parts.iter().map(|part| part.mass).sum();
        let centre = sum(&|part| part.mass * part.place) / mass;
        let mut tensor = [[0.0; 3]; 3];
        for part in parts {
            let arm = part.place - centre;
            let (m, own, r) = (part.mass, part.inertia, arm.to_array());
            for (j, row) in tensor.iter_mut().enumerate() {
                for (k, entry) in row.iter_mut().enumerate() {
                    // Steiner: m (r² 1 − r rᵀ) on top of the element's own.
                    let unit = f64::from(u8::from(j == k));
                    *entry += (own + m * arm.length_squared()) * unit - m * r[j] * r[k];
                }
            }
        }
        let moving = BodyMotion {
            displacement: DVec3::ZERO,
            rotation: DQuat::IDENTITY,
            velocity: sum(&|part| part.mass * part.velocity) / mass,
            momentum: sum(&|part| {
                part.mass * (part.place - centre).cross(part.velocity) + part.inertia * part.spin
            }),
        };
        RigidBody {
            centre,
            inverse_mass: 1.0 / mass,
            top: RigidInertia::new(tensor),
            moving,
        }
    }

    /// Displacement and rotation since the body was made, with velocity and spin.
    pub fn pose(&self) -> Pose {
        let BodyMotion {
            displacement,
            rotation,
            velocity,
            momentum,
        } = self.moving;
        Pose {
            position: displacement,
            rotation,
            velocity,
            spin: self.top.spin(rotation, momentum),
        }
    }

    /// Kick by half a step of `dt`, s, by the same law as for elements, of velocity and angular momentum.
    pub fn kick(&mut self, wrench: Wrench, fields: &Fields, dt: f64) {
        let half = 0.5 * dt;
        let kicked = |from: DVec3, load: DVec3, inverse: f64, field: DVec3| {
            let [from, load, field] = [from, load, field].map(|v| Vec3::from_f64(v.to_array()));
            DVec3::from_array(kick(from, load, inverse, field, fields.drag, half).to_f64())
        };
        let moving = &mut self.moving;
        moving.velocity = kicked(
            moving.velocity,
            wrench.force,
            self.inverse_mass,
            fields.gravity,
        );
        moving.momentum = kicked(moving.momentum, wrench.torque, 1.0, DVec3::ZERO);
    }

    /// Drift and rotation over a time `dt`, s.
    pub fn drift(&mut self, dt: f64) {
        let moving = &mut self.moving;
        moving.displacement += moving.velocity * dt;
        moving.rotation = self.top.turn(moving.rotation, moving.momentum, dt);
    }

    /// As [`drift`](Self::drift), over any time: the rotation takes as many steps as it needs.
    pub fn drift_long(&mut self, dt: f64) {
        let spin = self.pose().spin;
        if self.top.is_round() {
            let moving = &mut self.moving;
            moving.displacement += moving.velocity * dt;
            moving.rotation = (DQuat::from_scaled_axis(spin * dt) * moving.rotation).normalize();
            return;
        }
        let turned = spin.length() * dt;
        let parts = (turned / TURN).ceil().clamp(1.0, 1e9);
        let moving = &mut self.moving;
        moving.displacement += moving.velocity * dt;
        for _ in 0..parts as u32 {
            moving.rotation = self.top.turn(moving.rotation, moving.momentum, dt / parts);
        }
    }
}

impl BodyMotion {
    /// Its numbers, for a state.
    pub fn to_numbers(self) -> [f64; BODY_NUMBERS] {
        let ([x, y, z], [a, b, c, d]) = (self.displacement.to_array(), self.rotation.to_array());
        let ([u, v, w], [l, m, n]) = (self.velocity.to_array(), self.momentum.to_array());
        [x, y, z, a, b, c, d, u, v, w, l, m, n]
    }

    /// From the numbers of a state.
    pub fn from_numbers(&[x, y, z, a, b, c, d, u, v, w, l, m, n]: &[f64; BODY_NUMBERS]) -> Self {
        BodyMotion {
            displacement: DVec3::new(x, y, z),
            rotation: DQuat::from_xyzw(a, b, c, d),
            velocity: DVec3::new(u, v, w),
            momentum: DVec3::new(l, m, n),
        }
    }
}
