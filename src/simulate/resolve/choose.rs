//! `simulate.integrator = "auto"`: estimates the costs of explicit and implicit steps, and chooses the cheaper kind.

use crate::simulate::bonded_run::refuse;
use crate::simulate::error::SimulateError;
use crate::simulate::resolve::prepared::{PreparedScene, Schedule};
use crate::simulate::source::Source;
use crate::spec::{ContactLaw, Integrator, MethodName, Pipeline};

/// Cost of a Newton iteration in explicit steps of the same elements: its gradient, tangents and about six iterations
/// of conjugate gradients.
pub const NEWTON_ITERATION_COST: f64 = 70.0;
/// Newton iterations per implicit step.
pub const NEWTON_ITERATIONS: f64 = 4.0;
/// Fraction of the time that is integrated with the shortest steps if bonds can break.
const SHORT_STEP_FRACTION: f64 = 0.25;

/// Costs of explicit and implicit integration per frame, in units of one explicit step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepCosts {
    /// Cost of explicit steps, per frame.
    pub explicit: f64,
    /// Cost of implicit steps, per frame.
    pub implicit: f64,
    /// Whether bonds can break.
    pub breakable: bool,
}

impl StepCosts {
    /// The cheaper integrator. Backward Euler steps would damp the waves that breaking bonds release: with
    /// bonds that can break, the implicit integrator is the midpoint rule.
    fn cheaper(&self) -> Integrator {
        match self.implicit < self.explicit {
            false => Integrator::Explicit,
            true => self.best_implicit(),
        }
    }

    fn best_implicit(&self) -> Integrator {
        match self.breakable {
            true => Integrator::Midpoint,
            false => Integrator::BackwardEuler,
        }
    }
}

/// The pipeline with `simulate.integrator` resolved, and the costs from which it was chosen, if it was `auto`. The
/// estimate depends only on packing and pipeline, so that a run is the same on every machine.
pub fn choose(
    source: &dyn Source,
    pipeline: &Pipeline,
) -> Result<(Pipeline, Option<StepCosts>), SimulateError> {
    choose_by(pipeline, |explicit| {
        Ok(PreparedScene::new(source, explicit)?.schedule(explicit))
    })
}

/// As [`choose`]; `schedule` computes the schedule of a pipeline with explicit steps.
pub fn choose_by(
    pipeline: &Pipeline,
    schedule: impl FnOnce(&Pipeline) -> Result<Schedule, SimulateError>,
) -> Result<(Pipeline, Option<StepCosts>), SimulateError> {
    let mut resolved = pipeline.clone();
    if pipeline.simulate.integrator != Integrator::Auto {
        return Ok((resolved, None));
    }
    resolved.simulate.integrator = Integrator::Explicit;
    // Cells, sleep and static friction support explicit steps only.
    if pipeline.method() == MethodName::Voronoi
        || pipeline.simulate.sleep
        || refuse::uses_static_friction(pipeline)
    {
        return Ok((resolved, None));
    }
    resolved.time.step = None;
    let explicit = schedule(&resolved)?;
    let settings = &pipeline.simulate.implicit;
    let interval = 1.0 / pipeline.time.frames_per_second;
    let longest = pipeline
        .time
        .step
        .unwrap_or(settings.periods * explicit.critical);
    let breakable = pipeline.materials.iter().any(|material| {
        material.tensile_strength.is_some()
            || material.shear_strength.is_some()
            || material.hydrostatic_strength.is_some()
    });
    let shortest = f64::from(settings.halvings(longest / explicit.critical)).exp2();
    let shortened = if breakable {
        1.0 + SHORT_STEP_FRACTION * (shortest - 1.0)
    } else {
        1.0
    };
    let costs = StepCosts {
        explicit: explicit.steps_per_frame as f64,
        implicit: (interval / longest).ceil().max(1.0)
            * shortened
            * NEWTON_ITERATION_COST
            * NEWTON_ITERATIONS,
        breakable,
    };
    // Bond laws without an energy need explicit steps; only in implicit ones is the barrier without bound.
    resolved.simulate.integrator = match (pipeline.simulate.law, pipeline.simulate.contact) {
        (Some(law), _) if !law.has_energy() => Integrator::Explicit,
        (_, ContactLaw::Barrier) => costs.best_implicit(),
        _ => costs.cheaper(),
    };
    if resolved.simulate.integrator.is_implicit() {
        resolved.time.step = pipeline.time.step;
    }
    Ok((resolved, Some(costs)))
}
