//! Features that steps of cells do not support.

use crate::simulate::bonded_run::refuse;
use crate::simulate::error::SimulateError;
use crate::simulate::methods::explicit;
use crate::spec::{
    Backend, CellContact, ContactLaw, Criterion, Integrator, Law, Pipeline, Precision,
};

/// Error for the first feature of a pipeline that the method of Voronoi cells does not support on this backend.
pub fn unsupported(pipeline: &Pipeline, backend: Backend) -> Option<SimulateError> {
    let lack = SimulateError::unsupported;
    if pipeline.simulate.sleep {
        return lack("simulate.sleep with cells", "true", "false");
    }
    let simulate = &pipeline.simulate;
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
            "a bond law",
            "none (cells have their own law)",
        );
    }
    if simulate.contact == ContactLaw::Barrier {
        return lack("simulate.contact with cells", "barrier", "penalty");
    }
    if let Some(refused) = refuse::restitution(pipeline) {
        return Some(refused);
    }
    if pipeline.output.convergence.is_some() {
        return lack("output.convergence with cells", "set", "none");
    }
    let mut materials = pipeline.materials.iter();
    if materials.clone().any(|one| one.toughness.is_some()) {
        return lack(
            "material.toughness with cells",
            "set",
            "none; or a packing of bonded elements",
        );
    }
    if materials.any(|material| material.hydrostatic_strength.is_some()) {
        return lack("material.hydrostatic_strength with cells", "set", "none");
    }
    match backend {
        Backend::Gpu => unsupported_on_gpu(pipeline),
        Backend::Auto | Backend::Cpu => None,
    }
}

/// The first feature of a pipeline with cells that graphics processors do not support; with `auto` the run
/// then uses the CPU.
pub fn unsupported_on_gpu(pipeline: &Pipeline) -> Option<SimulateError> {
    let lack = SimulateError::unsupported;
    if pipeline.simulate.precision == Precision::F64 {
        return lack(
            "simulate.precision on backend gpu",
            "f64",
            "f32; or --backend cpu",
        );
    }
    if pipeline.simulate.cell_contact != CellContact::Balls {
        return lack(
            "simulate.cell_contact on backend gpu",
            "polyhedra",
            "balls; or --backend cpu",
        );
    }
    let mut materials = pipeline.materials.iter();
    if materials.any(|material| material.criterion == Criterion::Rankine) {
        return lack(
            "material.criterion on backend gpu",
            "rankine",
            "tension, lu2021, rod; or --backend cpu",
        );
    }
    explicit::unsupported_on_gpu(pipeline)
}
