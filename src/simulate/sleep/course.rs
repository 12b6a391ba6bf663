//! What is found about a contact of an island from step to step.

use glam::DVec3;

use crate::laws::contact::ContactParameters;
use crate::math::Vec3;

/// What changes in a contact from step to step.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    /// Tangential spring, m.
    pub spring: Vec3<f64>,
    /// Rolling spring, rad.
    pub roll: Vec3<f64>,
    /// Whether it slides; only with static friction.
    pub slides: bool,
    /// Whether it touches.
    pub touches: bool,
    /// Overlap, m, while it touches.
    pub overlap: f64,
    /// Whether it has become soft.
    pub soft: bool,
    /// Parameters of its law.
    pub k: ContactParameters<f64>,
    /// Largest normal stiffness that it soon may have, N/m.
    pub stiffest: f64,
    /// Step until which it certainly does not touch.
    pub clear_until: u64,
    /// Step until which it does not touch either, as long as the change of the velocities of its pieces since the start
    /// of the island is at most `calm`.
    pub calm_until: u64,
    /// See `calm_until`, m/s.
    pub calm: f64,
    /// Speed of its sides relative to each other when it was last looked at, m/s.
    pub speed: f64,
    /// Square of the frequency that it would have if it touched, 1/s², when it was last found apart.
    pub onset: f64,
    /// Direction of the force on the element when it was last looked at.
    pub normal: DVec3,
    /// Energy dissipated by damping and by friction, J.
    pub dissipated: [f64; 2],
    /// Force on the element, N; the opposite acts on the partner.
    pub force: DVec3,
    /// Torques on the element and on its partner, N m.
    pub torques: [DVec3; 2],
    /// From the centre of mass of the element's piece to the element, and the same for its partner, m.
    pub arms: [DVec3; 2],
}

/// A new touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Closing speed, m/s.
    pub closing: f64,
    /// Direction of the force on the element.
    pub normal: DVec3,
}

/// What was found about a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Touch {
    /// The gap is this wide, m.
    Apart(f64),
    /// It begins to touch.
    New(Hit),
    /// It goes on.
    Lasting,
}
