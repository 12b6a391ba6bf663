//! Simulated time of a shot, and the world around it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::{Acceleration, Fraction, Length, PositiveRate, PositiveTime};

/// Simulated time, its frames and steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Time {
    /// End of the simulated time, s; at least the time of one frame.
    #[schemars(with = "PositiveTime")]
    pub end: f64,
    /// Number of frames per second of simulated time.
    #[schemars(with = "PositiveRate")]
    pub frames_per_second: f64,
    /// Time step, s, at most a frame; absent: `fraction` of the critical step, which is found by Lanczos
    /// iteration.
    #[serde(default)]
    #[schemars(with = "PositiveTime")]
    pub step: Option<f64>,
    /// Time step of explicit integration as a fraction of the critical step, if `step` is absent.
    #[serde(default = "default_fraction")]
    #[schemars(with = "Fraction")]
    pub fraction: f64,
}

impl Time {
    /// Number of frames after the first, at time 0: `end` rounded down to a whole frame, at least 1.
    pub fn last_frame(&self) -> u32 {
        let interval = 1.0 / self.frames_per_second;
        ((self.end / interval + 1e-9).floor() as u32).max(1)
    }
}

fn default_fraction() -> f64 {
    0.6
}

/// Gravity and bounds of the world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct World {
    /// Acceleration of gravity, m/s².
    #[schemars(with = "[Acceleration; 3]")]
    pub gravity: [f64; 3],
    /// Box in which elements are expected to stay: the history counts those outside. Absent: none are counted.
    #[schemars(with = "Region")]
    pub bounds: Option<Region>,
    /// Whether fragments wholly outside the bounds, also at the start, freeze within a frame or 128 steps, whichever is
    /// longer: frames keep them, nothing touches them. Needs `bounds` and `simulate.sleep`; fragments that never sleep
    /// move on.
    pub remove: bool,
    /// Axis of plane strain: bodies of one layer of cells across it are held on both sides by planes without
    /// friction. For bodies of cells only. Absent: no plane strain.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Axis")]
    pub plane_strain: Option<Axis>,
    /// Absorbing sides of the bounding box of all cells, through which waves leave; the bodies must be flat there
    /// and at right angles to the axis (Lysmer and Kuhlemeyer 1969).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub absorbing: Vec<Side>,
}

/// Coordinate axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// The x axis.
    X,
    /// The y axis.
    Y,
    /// The z axis.
    Z,
}

/// Side of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Side {
    /// Side of least x.
    #[serde(rename = "-x")]
    MinusX,
    /// Side of greatest x.
    #[serde(rename = "+x")]
    PlusX,
    /// Side of least y.
    #[serde(rename = "-y")]
    MinusY,
    /// Side of greatest y.
    #[serde(rename = "+y")]
    PlusY,
    /// Side of least z.
    #[serde(rename = "-z")]
    MinusZ,
    /// Side of greatest z.
    #[serde(rename = "+z")]
    PlusZ,
}

impl Side {
    /// Number of the axis (0 to 2), and whether this is the side of greatest coordinate.
    pub fn axis(self) -> (usize, bool) {
        match self {
            Side::MinusX => (0, false),
            Side::PlusX => (0, true),
            Side::MinusY => (1, false),
            Side::PlusY => (1, true),
            Side::MinusZ => (2, false),
            Side::PlusZ => (2, true),
        }
    }
}

impl Default for World {
    fn default() -> Self {
        World {
            gravity: [0.0, -9.81, 0.0],
            bounds: None,
            remove: false,
            plane_strain: None,
            absorbing: Vec::new(),
        }
    }
}

/// Axis-aligned box in world coordinates, m.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// Corner of least coordinates, m.
    #[schemars(with = "[Length; 3]")]
    pub min: [f64; 3],
    /// Corner of greatest coordinates, m.
    #[schemars(with = "[Length; 3]")]
    pub max: [f64; 3],
}
