//! Data of packing and pipeline that frames and states need.

use glam::{DQuat, DVec3};

use crate::spec::Region;

/// Data of packing and pipeline for frames and states; constant during a run.
#[derive(Clone, Debug)]
pub struct RestData {
    /// Mass of each element, kg; that of clamped ones too.
    pub mass: Vec<f64>,
    /// Volume of each element, m³.
    pub volume: Vec<f64>,
    /// Body of each element.
    pub body: Vec<u32>,
    /// Inverse mass of each element in the run, 1/kg; 0 if clamped.
    pub inverse_mass: Vec<f64>,
    /// Inverse inertia of each element in the run, 1/(kg m²); 0 if clamped.
    pub inverse_inertia: Vec<f64>,
    /// Principal moments and axes of each element; empty if all elements are balls.
    pub principal: Vec<Principal>,
    /// Acceleration of gravity, m/s².
    pub gravity: DVec3,
    /// Region that elements are expected to stay in.
    pub bounds: Option<Region>,
}

/// Principal moments and axes of an element.
#[derive(Clone, Copy, Debug)]
pub struct Principal {
    /// Principal moments, kg m².
    pub moments: DVec3,
    /// Rotation of x, y, z to the principal axes at rest.
    pub axes: DQuat,
}

impl Principal {
    /// Moments and axes of a ball.
    pub fn round(inertia: f64) -> Self {
        Principal {
            moments: DVec3::splat(inertia),
            axes: DQuat::IDENTITY,
        }
    }

    /// Angular momentum of an element rotated by `rotation` since rest, kg m²/s; `spin` = ω, rad/s.
    pub fn momentum(&self, rotation: DQuat, spin: DVec3) -> DVec3 {
        let turned = rotation * self.axes;
        turned * (self.moments * (turned.inverse() * spin))
    }
}

impl RestData {
    /// Angular momentum of a free element about its centre, kg m²/s.
    pub fn momentum(&self, element: usize, rotation: DQuat, spin: DVec3) -> DVec3 {
        match self.principal.get(element) {
            Some(principal) => principal.momentum(rotation, spin),
            None => spin / self.inverse_inertia[element],
        }
    }
}
