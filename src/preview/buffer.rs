//! Samples of a picture before it is shaded.

use glam::Vec3;

use super::scene::Material;

/// What each sample shows.
pub struct Buffer {
    pub width: usize,
    pub height: usize,
    /// Nearness: one over the distance along the camera's axis, 0 where nothing is.
    pub near: Vec<f32>,
    pub normals: Vec<Vec3>,
    pub materials: Vec<Material>,
}

impl Buffer {
    /// Keeps a hit when it is nearer than the one kept.
    pub fn put(&mut self, at: usize, near: f32, material: Material, normal: impl FnOnce() -> Vec3) {
        if near > self.near[at] {
            self.near[at] = near;
            self.normals[at] = normal();
            self.materials[at] = material;
        }
    }
}
