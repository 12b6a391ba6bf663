//! Numbers from JSON.

use serde_json::Value;

/// The number that a JSON value holds, NaN if it holds none.
pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}
