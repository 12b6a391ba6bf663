//! Settings of implicit steps.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::PositiveNumber;

/// What conjugate gradients are preconditioned with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Preconditioner {
    /// Algebraic multigrid by smoothed aggregation: few iterations, whatever the size.
    #[default]
    Multigrid,
    /// The blocks on the diagonal.
    Jacobi,
}

/// Friction of contacts in implicit steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Friction {
    /// That of explicit steps, a spring that gives way, solved with all else; its limit is lagged within an iteration.
    #[default]
    Lagged,
    /// Velocities and spins lose what friction takes after each step (Lu et al. 2025, eq. 34, 35): centres
    /// slide, nothing holds at rest, and rolling friction is had. For Euler steps: in long midpoint steps
    /// elements ring, and one that stands still for a moment is not braked.
    Projected,
}

/// Implicit steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Implicit {
    /// Length of a step over the critical one of explicit steps, where `time.step` is absent; a frame is at
    /// least one step.
    #[schemars(with = "PositiveNumber")]
    pub periods: f64,
    /// Times that a step may be halved where bonds break or Newton's method fails; absent: until it is no
    /// longer than two critical steps of explicit ones.
    #[schemars(with = "u32", range(min = 0, max = 24))]
    pub halvings: Option<u32>,
    /// Forces that may be out of balance at the end of a step, over those at work (root mean squares).
    #[schemars(with = "PositiveNumber")]
    pub tolerance: f64,
    /// Newton iterations of a step at most; one that can still be halved is after 16.
    #[schemars(range(min = 1))]
    pub iterations: u32,
    /// Residual of conjugate gradients over what they began with, at the finest.
    #[schemars(with = "PositiveNumber")]
    pub gradients_tolerance: f64,
    /// Their preconditioner.
    pub preconditioner: Preconditioner,
    /// Friction of contacts.
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

/// Critical steps that the shortest of implicit ones is long unless `halvings` says otherwise: waves that
/// breaking bonds let go are seen then.
const SHORTEST: f64 = 2.0;

impl Implicit {
    /// Times that a step of so many critical steps may be halved.
    pub fn halvings(&self, critical_steps: f64) -> u32 {
        let enough = (critical_steps / SHORTEST).log2().ceil().clamp(0.0, 24.0);
        self.halvings.unwrap_or(enough as u32)
    }
}
