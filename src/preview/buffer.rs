//! Samples of a picture before shading (a G-buffer).

use glam::Vec3;

use super::scene::SceneMaterial;

/// What each sample shows.
pub struct SampleBuffer {
    pub width: usize,
    pub height: usize,
    /// Nearness: one over the distance along the camera's axis; 0 where there is nothing.
    pub near: Vec<f32>,
    pub normals: Vec<Vec3>,
    pub materials: Vec<SceneMaterial>,
}

impl SampleBuffer {
    /// Stores a hit if it is nearer than the stored one.
    pub fn put(
        &mut self,
        at: usize,
        near: f32,
        material: SceneMaterial,
        normal: impl FnOnce() -> Vec3,
    ) {
        if near > self.near[at] {
            self.near[at] = near;
            self.normals[at] = normal();
            self.materials[at] = material;
        }
    }
}
