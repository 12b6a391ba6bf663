//! Settings of implicit steps.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::PositiveNumber;

/// Preconditioner of conjugate gradients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Preconditioner {
    /// Algebraic multigrid by smoothed aggregation: few iterations for any problem size.
    #[default]
    Multigrid,
    /// Block Jacobi: the diagonal blocks only.
    Jacobi,
}

/// How friction of contacts is solved in implicit steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Friction {
    /// Friction of explicit steps, a spring that slips, solved together with all other forces; the slip limit
    /// lags within an iteration.
    #[default]
    Lagged,
    /// Friction is subtracted from velocities and spins after each step (Lu et al. 2025, eq. 34, 35), by the
    /// sliding velocity of the centres: rolling bodies are braked as if they slid, nothing sticks at rest, and
    /// there is rolling friction. For Euler steps: in long midpoint steps elements ring, and one that is at
    /// rest for a moment is not braked.
    Projected,
}

/// Settings of implicit steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Implicit {
    /// Length of a step in critical steps of explicit integration, at most a frame; used if `time.step` is
    /// absent.
    #[schemars(with = "PositiveNumber")]
    pub periods: f64,
    /// How often a step may be halved when bonds break or Newton's method fails; absent: until it is no longer
    /// than two critical steps of explicit integration.
    #[schemars(with = "u32", range(min = 0, max = 24))]
    pub halvings: Option<u32>,
    /// Convergence tolerance of Newton's method: unbalanced forces at the end of a step relative to all acting
    /// forces, root mean squares.
    #[schemars(with = "PositiveNumber")]
    pub tolerance: f64,
    /// Greatest number of Newton iterations in a step that cannot be halved any more; others are halved after
    /// 16.
    #[schemars(range(min = 1))]
    pub iterations: u32,
    /// Finest tolerance of conjugate gradients: residual relative to the initial one.
    #[schemars(with = "PositiveNumber")]
    pub gradients_tolerance: f64,
    /// Preconditioner of conjugate gradients.
    pub preconditioner: Preconditioner,
    /// How friction of contacts is solved.
    pub friction: Friction,
}
impl Default for Implicit {
    fn default() -> Self {
        Implicit {
            periods: 100.0,
            halvings: None,
            tolerance: 1e-3,
            iterations: 40,
            gradients_tolerance: 1e-4,
            preconditioner: Preconditioner::Multigrid,
            friction: Friction::Lagged,
        }
    }
}

/// Length of the shortest implicit step in critical steps, unless `halvings` is given: it resolves the waves that
/// breaking bonds release.
const SHORTEST_STEP: f64 = 2.0;

impl Implicit {
    /// How often a step of length `critical_steps`, in critical steps, may be halved.
    pub fn halvings(&self, critical_steps: f64) -> u32 {
        let enough = (critical_steps / SHORTEST_STEP)
            .log2()
            .ceil()
            .clamp(0.0, 24.0);
        self.halvings.unwrap_or(enough as u32)
    }
}
