//! What steps of cells lack.

use crate::simulate::error::SimulateError;
use crate::spec::{Backend, ContactLaw, Integrator, Law, Pipeline};

/// What of a pipeline steps of cells lack on this backend.
pub fn combination(pipeline: &Pipeline, backend: Backend) -> Option<SimulateError> {
    let lack = SimulateError::lack;
    let simulate = &pipeline.simulate;
    if backend == Backend::Gpu {
        return lack("backend with cells", "gpu", "auto, cpu");
    }
    if simulate.integrator != Integrator::Explicit && simulate.integrator != Integrator::Auto {
        return lack(
            "simulate.integrator with cells",
            simulate.integrator.name(),
            "explicit",
        );
    }
    if simulate.law.is_some_and(|law| law != Law::default()) {
        return lack(
            "simulate.law with cells",
            "a law of bonds",
            "none: cells have a law of their own",
        );
    }
    if simulate.contact == ContactLaw::Barrier {
        return lack("simulate.contact with cells", "barrier", "penalty");
    }
    if pipeline.output.convergence.is_some() {
        return lack("output.convergence with cells", "a step", "none");
    }
    let mut materials = pipeline.materials.iter();
    if materials.any(|material| material.hydrostatic_strength.is_some()) {
        return lack(
            "material.hydrostatic_strength with cells",
            "a strength",
            "none",
        );
    }
    None
}
