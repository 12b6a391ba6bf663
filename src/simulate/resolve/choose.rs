//! `simulate.integrator = "auto"`: what both kinds of steps would cost, and which is cheaper.

use crate::simulate::error::SimulateError;
use crate::simulate::resolve::prepared::Prepared;
use crate::simulate::source::Source;
use crate::spec::{ContactLaw, Integrator, MethodName, Pipeline};

/// What a Newton iteration costs in explicit steps of the same elements: its gradient, tangents and some six
/// iterations of conjugate gradients.
pub const NEWTON: f64 = 70.0;
/// Newton iterations that a step takes.
pub const ITERATIONS: f64 = 4.0;
/// Part of the time that is spent in the shortest steps where bonds can break.
const BREAKING: f64 = 0.25;

/// Costs of both kinds, in explicit steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// Of explicit steps, per frame.
    pub explicit: f64,
    /// Of implicit steps, per frame.
    pub implicit: f64,
    /// Whether bonds can break.
    pub breakable: bool,
}

impl Choice {
    /// The cheaper. Euler steps would damp the waves that breaking bonds let go.
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

/// The pipeline with its integrator settled, and what that follows from where it was not. The estimate
/// depends on packing and pipeline alone, so that a run is the same on every machine.
pub fn choose(
    source: &dyn Source,
    pipeline: &Pipeline,
) -> Result<(Pipeline, Option<Choice>), SimulateError> {
    let mut settled = pipeline.clone();
    if pipeline.simulate.integrator != Integrator::Auto {
        return Ok((settled, None));
    }
    settled.simulate.integrator = Integrator::Explicit;
    // Cells have explicit steps alone.
    if pipeline.method() == MethodName::Voronoi {
        return Ok((settled, None));
    }
    settled.time.step = None;
    let prepared = Prepared::new(source, &settled)?;
    let explicit = prepared.schedule(&settled);
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
        1.0 + BREAKING * (shortest - 1.0)
    } else {
        1.0
    };
    let choice = Choice {
        explicit: explicit.steps_per_frame as f64,
        implicit: (interval / longest).ceil().max(1.0) * shortened * NEWTON * ITERATIONS,
        breakable,
    };
    // A law of bonds without an energy leaves no choice, nor does one of contacts without a bound.
    settled.simulate.integrator = match (pipeline.simulate.law, pipeline.simulate.contact) {
        (Some(law), _) if !law.has_energy() => Integrator::Explicit,
        (_, ContactLaw::Barrier) => choice.best_implicit(),
        _ => choice.cheaper(),
    };
    if settled.simulate.integrator.is_implicit() {
        settled.time.step = pipeline.time.step;
    }
    Ok((settled, Some(choice)))
}
