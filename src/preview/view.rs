//! Ways of seeing a scene.

use glam::Vec3;

/// A way of seeing: where points land, and how near they are.
pub trait View {
    /// Sample coordinates and nearness; nearness is linear over the picture, larger is nearer.
    fn project(&self, point: Vec3) -> Vec3;
    /// Distance from the viewer's plane; points at or behind it cannot be projected.
    fn distance(&self, point: Vec3) -> f32;
}
