//! Keyframes of rigid motion, between which players interpolate linearly (positions) and by slerp
//! (rotations).

use glam::{DQuat, DVec3};

/// Duration of a jump, in frames: time between the last sample before it and the first after it.
pub const JUMP_DURATION: f64 = 1e-3;

/// The pose of a fragment at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Keyframe {
    /// Time, in frames.
    pub time: f64,
    /// Position of the centre of mass, units of the file.
    pub at: DVec3,
    /// Rotation from rest.
    pub rotation: DQuat,
    /// Largest error of a point, units of the file, that dropping this position or this rotation may cause:
    /// 0 in a frame; between frames, an error too small to be seen in motion blur.
    pub tolerance: [f64; 2],
}
