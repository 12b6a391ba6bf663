//! Projections of a scene.

use glam::Vec3;

/// A projection to sample coordinates and nearness.
pub trait Projection {
    /// Sample coordinates and nearness of a point. Nearness is linear over the picture; larger is nearer.
    fn project(&self, point: Vec3) -> Vec3;
    /// Distance from the viewer's plane; points at or behind it cannot be projected.
    fn distance(&self, point: Vec3) -> f32;
}
