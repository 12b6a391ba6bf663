//! How long a shot is, and the world around it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::{Acceleration, Fraction, Length, PositiveRate, PositiveTime};

/// Simulated time and its division.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Time {
    /// End of the simulated time, s; at least one frame.
    #[schemars(with = "PositiveTime")]
    pub end: f64,
    /// Frames a second of simulated time.
    #[schemars(with = "PositiveRate")]
    pub frames_per_second: f64,
    /// Time step, s; absent: `fraction` of the critical step, found by Lanczos iteration.
    #[serde(default)]
    #[schemars(with = "PositiveTime")]
    pub step: Option<f64>,
    /// Fraction of the critical step.
    #[serde(default = "fraction")]
    #[schemars(with = "Fraction")]
    pub fraction: f64,
}

fn fraction() -> f64 {
    0.6
}

/// What acts on everything.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct World {
    /// Acceleration of gravity, m/s².
    #[schemars(with = "[Acceleration; 3]")]
    pub gravity: [f64; 3],
    /// Box that elements should stay in; those outside are counted in the history.
    #[schemars(with = "Region")]
    pub bounds: Option<Region>,
    /// Plane strain: bodies of one layer of cells across this axis are held on both sides by planes without
    /// friction. Cells alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Axis")]
    pub plane_strain: Option<Axis>,
    /// Sides of all bodies of cells together that waves leave through, flat and square to an axis (Lysmer and
    /// Kuhlemeyer 1969).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub absorbing: Vec<Side>,
}

/// An axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// x.
    X,
    /// y.
    Y,
    /// z.
    Z,
}

/// A side of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Side {
    /// Least x.
    #[serde(rename = "-x")]
    MinusX,
    /// Greatest x.
    #[serde(rename = "+x")]
    PlusX,
    /// Least y.
    #[serde(rename = "-y")]
    MinusY,
    /// Greatest y.
    #[serde(rename = "+y")]
    PlusY,
    /// Least z.
    #[serde(rename = "-z")]
    MinusZ,
    /// Greatest z.
    #[serde(rename = "+z")]
    PlusZ,
}

impl Side {
    /// Number of its axis, and whether it is the greater one.
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
            plane_strain: None,
            absorbing: Vec::new(),
        }
    }
}

/// Axis-aligned box, world coordinates, m.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// Corner of the least coordinates, m.
    #[schemars(with = "[Length; 3]")]
    pub min: [f64; 3],
    /// Corner of the greatest coordinates, m.
    #[schemars(with = "[Length; 3]")]
    pub max: [f64; 3],
}
