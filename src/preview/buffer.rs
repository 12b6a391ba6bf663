//! Samples of a picture before shading (a G-buffer).

use glam::Vec3;

use super::scene::Material;

/// What each sample shows.
pub struct Buffer {
    pub width: usize,
    pub height: usize,
    /// Nearness: one over the distance along the camera's axis; 0 where there is nothing.
    pub near: Vec<f32>,
    pub normals: Vec<Vec3>,
    pub materials: Vec<Material>,
}

impl Buffer {
    /// Stores a hit if it is nearer than the stored one.
    pub fn put(&mut self, at: usize, near: f32, material: Material, normal: impl FnOnce() -> Vec3) {
        if near > self.near[at] {
            self.near[at] = near;
            self.normals[at] = normal();
            self.materials[at] = material;
        }
    }
}
