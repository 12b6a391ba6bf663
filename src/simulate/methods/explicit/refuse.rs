//! Features that explicit steps, or graphics processors, do not support.

use crate::simulate::bonded_run::refuse;
use crate::simulate::error::SimulateError;
use crate::spec::{Action, Backend, ColliderShape, ContactLaw, Integrator, Pipeline, Precision};

/// The first feature of a pipeline that explicit steps do not support on this backend.
pub fn unsupported(pipeline: &Pipeline, backend: Backend) -> Option<SimulateError> {
    let lack = SimulateError::unsupported;
    if backend == Backend::Gpu && pipeline.simulate.precision == Precision::F64 {
        return lack(
            "simulate.precision on backend gpu",
            "f64",
            "f32; or --backend cpu",
        );
    }
    if pipeline.output.convergence.is_some() {
        return lack(
            "output.convergence with simulate.integrator",
            pipeline.simulate.integrator.name(),
            &format!(
                "{} (steps that minimise an energy)",
                Integrator::names(Integrator::minimises_energy)
            ),
        );
    }
    if let Some(refused) = refuse::rankine(pipeline) {
        return Some(refused);
    }
    if let Some(refused) = refuse::toughness(pipeline) {
        return Some(refused);
    }
    if let Some(refused) = refuse::restitution(pipeline) {
        return Some(refused);
    }
    let mut materials = pipeline.materials.iter();
    if pipeline.simulate.sleep && materials.any(|one| one.hydrostatic_strength.is_some()) {
        return lack(
            "material.hydrostatic_strength with simulate.sleep",
            "set",
            "none; or simulate.sleep = false",
        );
    }
    if pipeline.simulate.sleep && refuse::uses_rankine(pipeline) {
        return lack(
            "material.criterion with simulate.sleep",
            "rankine",
            "tension, lu2021, rod; or simulate.sleep = false",
        );
    }
    if pipeline.simulate.sleep && pipeline.simulate.contact == ContactLaw::Barrier {
        return lack(
            "simulate.contact with simulate.sleep",
            "barrier",
            "penalty; or simulate.sleep = false",
        );
    }
    match backend {
        Backend::Gpu => unsupported_on_gpu(pipeline),
        Backend::Auto | Backend::Cpu => None,
    }
}

/// The first feature of a pipeline that graphics processors do not support; with `auto` the run then uses the
/// CPU.
pub fn unsupported_on_gpu(pipeline: &Pipeline) -> Option<SimulateError> {
    let lack = SimulateError::unsupported;
    if pipeline.simulate.sleep {
        return lack(
            "simulate.sleep on backend gpu",
            "true",
            "false; or --backend cpu",
        );
    }
    if pipeline.simulate.contact == ContactLaw::Barrier {
        return lack(
            "simulate.contact on backend gpu",
            "barrier",
            "penalty; or --backend cpu",
        );
    }
    if pipeline.bodies.iter().any(|body| body.rigid) {
        return lack(
            "body.rigid on backend gpu",
            "true",
            "false; or --backend cpu",
        );
    }
    if pipeline.output.work {
        return lack(
            "output.work on backend gpu",
            "true",
            "false; or --backend cpu",
        );
    }
    // Kernels support the solids that `device::solids` lists.
    let shapes = pipeline.colliders.iter().map(|collider| &collider.shape);
    let mut cpu_only = shapes.filter_map(|shape| match shape {
        ColliderShape::Mesh { .. } => Some("mesh"),
        ColliderShape::HalfSpace { .. }
        | ColliderShape::Box { .. }
        | ColliderShape::Sphere { .. }
        | ColliderShape::Cylinder { .. } => None,
    });
    if let Some(name) = cpu_only.next() {
        return lack(
            "collider.shape.type on backend gpu",
            name,
            "half_space, box, sphere, cylinder; or --backend cpu",
        );
    }
    if pipeline
        .attachments
        .iter()
        .any(|one| one.action.has_torque_or_signal())
    {
        return lack(
            "attach.action.signal or torque on backend gpu",
            "a load that changes with time or a torque",
            "a constant force; or --backend cpu",
        );
    }
    let actions = pipeline.attachments.iter().map(|one| &one.action);
    let mut cpu_only = actions.filter_map(|action| match action {
        Action::Spring { .. } => Some("spring"),
        Action::Pressure { .. } => Some("pressure"),
        Action::Clamp { .. } | Action::Force { .. } | Action::Gauge {} => None,
    });
    if let Some(name) = cpu_only.next() {
        return lack(
            "attach.action.type on backend gpu",
            name,
            "clamp, force, gauge; or --backend cpu",
        );
    }
    let mut materials = pipeline.materials.iter();
    if materials.any(|material| material.hydrostatic_strength.is_some()) {
        return lack(
            "material.hydrostatic_strength on backend gpu",
            "set",
            "none; or --backend cpu",
        );
    }
    let materials = pipeline.materials.iter().map(|one| one.rolling_friction);
    let pairs = pipeline
        .pairs
        .iter()
        .filter_map(|pair| pair.rolling_friction);
    if materials.chain(pairs).any(|friction| friction > 0.0) {
        return lack(
            "rolling_friction on backend gpu",
            "above 0",
            "0; or --backend cpu",
        );
    }
    if refuse::uses_static_friction(pipeline) {
        return lack(
            "static_friction on backend gpu",
            "set",
            "none; or --backend cpu",
        );
    }
    None
}
