//! Features that implicit steps do not support.

use crate::columns::Named;
use crate::simulate::bonded_run::refuse;
use crate::simulate::error::SimulateError;
use crate::spec::{Backend, ContactLaw, Friction, Integrator, Law, Pipeline, Precision};

/// The first feature of a pipeline that implicit steps do not support on this backend.
pub fn unsupported(pipeline: &Pipeline, backend: Backend) -> Option<SimulateError> {
    let lack = SimulateError::unsupported;
    if pipeline.simulate.sleep {
        return lack("simulate.sleep in implicit steps", "true", "false");
    }
    if let Some(refused) = refuse::toughness(pipeline) {
        return Some(refused);
    }
    if let Some(refused) = refuse::restitution(pipeline) {
        return Some(refused);
    }
    let settings = &pipeline.simulate;
    let integrator = settings.integrator;
    if backend == Backend::Gpu && settings.precision == Precision::F64 {
        return lack(
            "simulate.precision on backend gpu",
            "f64",
            "f32; or --backend cpu",
        );
    }
    if pipeline
        .attachments
        .iter()
        .any(|one| one.action.has_torque_or_signal())
    {
        return lack(
            "attach.action.signal or torque in implicit steps",
            "a load that changes with time or a torque",
            "a constant force; or simulate.integrator = \"explicit\"",
        );
    }
    if pipeline.output.convergence.is_some() && !integrator.minimises_energy() {
        return lack(
            "output.convergence with simulate.integrator",
            integrator.name(),
            &format!(
                "{} (steps that minimise an energy)",
                Integrator::names(Integrator::minimises_energy)
            ),
        );
    }
    if pipeline.output.convergence.is_some() && settings.contact == ContactLaw::Barrier {
        return lack(
            "output.convergence with simulate.contact",
            "barrier",
            "penalty",
        );
    }
    if let Some(refused) = refuse::rankine(pipeline) {
        return Some(refused);
    }
    let law = settings.bond_law();
    if !law.has_energy() {
        return lack(
            "simulate.law in implicit steps",
            law.name(),
            &format!("{} (laws with an energy)", Law::names(Law::has_energy)),
        );
    }
    if backend == Backend::Gpu {
        return lack("backend of implicit steps", "gpu", "cpu, auto");
    }
    if pipeline.bodies.iter().any(|body| body.rigid) {
        return lack("body.rigid in implicit steps", "true", "false");
    }
    if pipeline.output.work {
        return lack("output.work in implicit steps", "true", "false");
    }
    let materials = pipeline.materials.iter().map(|one| one.rolling_friction);
    let pairs = pipeline
        .pairs
        .iter()
        .filter_map(|pair| pair.rolling_friction);
    let rolling = materials.chain(pairs).any(|friction| friction > 0.0);
    if rolling && settings.implicit.friction == Friction::Lagged {
        return lack(
            "rolling_friction in implicit steps",
            "above 0",
            "0; or simulate.implicit.friction = \"projected\"",
        );
    }
    if refuse::uses_static_friction(pipeline) {
        return lack(
            "static_friction in implicit steps",
            "set",
            "none; or simulate.integrator = \"explicit\"",
        );
    }
    None
}
