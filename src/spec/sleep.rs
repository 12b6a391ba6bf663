//! Limits by which fragments fall asleep and wake.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::PositiveNumber;

/// Limits by which fragments fall asleep and wake with `simulate.sleep`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SleepLimits {
    /// Largest stress over strength of the bonds of a fragment that may fall asleep, whatever causes it: bonds
    /// keep their stresses.
    #[schemars(with = "PositiveNumber")]
    pub calm: f64,
    /// Largest stress over strength that the vibration of such a fragment causes: √(E ρ) times the largest
    /// speed of an element in the frame of the fragment.
    #[schemars(with = "PositiveNumber")]
    pub vibration: f64,
    /// Stress over strength from which a load wakes a fragment.
    #[schemars(with = "PositiveNumber")]
    pub wake: f64,
}

impl Default for SleepLimits {
    fn default() -> Self {
        SleepLimits {
            calm: 0.4,
            vibration: 0.3,
            wake: 0.5,
        }
    }
}
