//! What implicit steps lack.

use crate::simulate::error::SimulateError;
use crate::spec::{Backend, ContactLaw, Friction, Integrator, Pipeline, Precision};

/// What of a pipeline implicit steps lack on this backend.
pub fn combination(pipeline: &Pipeline, backend: Backend) -> Option<SimulateError> {
    let lack = |option, value, allowed| {
        Some(SimulateError::Unsupported {
            option,
            value,
            allowed,
        })
    };
    let settings = &pipeline.simulate;
    let integrator = settings.integrator;
    let minimises = matches!(integrator, Integrator::BackwardEuler | Integrator::Midpoint);
    if backend == Backend::Gpu && settings.precision == Precision::F64 {
        return lack(
            "simulate.precision on backend gpu",
            "f64",
            "f32; or --backend cpu",
        );
    }
    if pipeline.output.convergence.is_some() && !minimises {
        return lack(
            "output.convergence with simulate.integrator",
            integrator.name(),
            "backward_euler, midpoint: steps that find a minimum",
        );
    }
    if pipeline.output.convergence.is_some() && settings.contact == ContactLaw::Barrier {
        return lack(
            "output.convergence with simulate.contact",
            "barrier",
            "penalty",
        );
    }
    if !settings.bond_law().has_energy() {
        return lack(
            "simulate.law in implicit steps",
            "bdem",
            "manifold, cosserat: laws with an energy",
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
    None
}
