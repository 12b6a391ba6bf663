//! Loads that follow a body through fracture.

use glam::DVec3;

/// Traction, Pa, at a place, m, of the surface with this normal.
pub type Traction<'a> = dyn Fn(DVec3, DVec3) -> DVec3 + 'a;

/// What loads a body and its pieces. What does not balance is met by inertia.
#[derive(Clone, Copy)]
pub struct Forces<'a> {
    /// On the surface that the body had in the beginning; faces of cracks are free.
    pub traction: &'a Traction<'a>,
    /// Density, kg/m³.
    pub density: f64,
    /// Gravity, m/s².
    pub gravity: DVec3,
    /// Angular velocity, rad/s.
    pub spin: DVec3,
}
