//! Vibration that a piece holds while it sleeps, where its energy is more than may be lost: its elements get it back
//! when they wake.

use glam::DVec3;

/// Vibration of the elements of a piece.
#[derive(Clone, Debug, Default)]
pub struct HeldVibration {
    /// Velocity, m/s, and spin, rad/s, of each element less those of the rigid motion, in the piece's frame; empty if
    /// it holds none.
    pub motions: Vec<[DVec3; 2]>,
    /// Their kinetic energy, J.
    pub energy: f64,
}
