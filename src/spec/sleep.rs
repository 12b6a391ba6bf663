//! Limits by which fragments fall asleep and wake.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::{PositiveNumber, ProperFraction};

/// Limits by which fragments fall asleep and wake with `simulate.sleep`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SleepLimits {
    /// Stress over strength of the bonds of a fragment, whatever causes it, from which on the fragment has to be calm
    /// for five times as long: bonds keep their stresses.
    #[schemars(with = "ProperFraction")]
    pub calm: f64,
    /// Largest stress that the vibration of such a fragment may cause, over the strength that other stresses leave.
    #[schemars(with = "PositiveNumber")]
    pub vibration: f64,
    /// Energy that vibration may lose in all, over the largest kinetic energy that all elements had together so far. A
    /// fragment loses at most half of its share by mass of what is left, and holds a larger vibration until it wakes.
    #[schemars(with = "PositiveNumber")]
    pub loss: f64,
    /// Stress that a load adds, over the strength that earlier stresses leave, from which it wakes a fragment.
    #[schemars(with = "PositiveNumber")]
    pub wake: f64,
}

impl Default for SleepLimits {
    fn default() -> Self {
        SleepLimits {
            calm: 0.8,
            vibration: 0.3,
            loss: 0.02,
            wake: 0.5,
        }
    }
}
