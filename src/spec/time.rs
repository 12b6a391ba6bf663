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
}

impl Default for World {
    fn default() -> Self {
        World {
            gravity: [0.0, -9.81, 0.0],
            bounds: None,
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
