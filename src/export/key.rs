//! Poses between which players join straight lines and even turns.

use glam::{DQuat, DVec3};

/// A pose on the way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// When, frames.
    pub time: f64,
    /// Centre of mass, units of the file.
    pub at: DVec3,
    /// From rest.
    pub rotation: DQuat,
    /// How far a point may be off by leaving its place out, or its rotation, units of the file: nothing in a
    /// frame, and between frames what no blur shows.
    pub slack: [f64; 2],
}
