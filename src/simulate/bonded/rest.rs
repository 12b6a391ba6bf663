//! What of packing and pipeline records ask for.

use glam::DVec3;

use crate::spec::Region;

/// What records ask of packing and pipeline; it stays as it is.
#[derive(Clone, Debug)]
pub struct Rest {
    /// Mass of each element, kg; held ones too.
    pub mass: Vec<f64>,
    /// Volume of each element, m³.
    pub volume: Vec<f64>,
    /// Body of each element.
    pub body: Vec<u32>,
    /// Inverse mass of each element as the run knows it, 1/kg; 0 where it is held.
    pub inverse_mass: Vec<f64>,
    /// Inverse inertia of each element as the run knows it, 1/(kg m²); 0 where it is held.
    pub inverse_inertia: Vec<f64>,
    /// Acceleration of gravity, m/s².
    pub gravity: DVec3,
    /// Where elements are meant to stay.
    pub bounds: Option<Region>,
}
