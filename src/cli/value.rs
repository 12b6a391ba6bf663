//! Numbers out of JSON.

use serde_json::Value;

/// A number that must be there; not a number where it is not.
pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}
