//! Settings that bonded elements do not support, whatever the integrator.

use crate::simulate::error::SimulateError;
use crate::spec::{Criterion, Pipeline};

/// An error for a toughness, which only bonds in explicit steps on the CPU have; `what` is the key and where it is
/// not supported.
pub fn toughness(pipeline: &Pipeline, what: &'static str) -> Option<SimulateError> {
    let mut materials = pipeline.materials.iter();
    if materials.any(|material| material.toughness.is_some()) {
        return SimulateError::unsupported(
            what,
            "set",
            "none; or explicit steps of bonded elements on backend cpu",
        );
    }
    None
}

/// An error for a criterion that needs the stress of cells, which bonds do not have.
pub fn criterion(pipeline: &Pipeline) -> Option<SimulateError> {
    let mut materials = pipeline.materials.iter();
    if materials.any(|material| material.criterion == Criterion::Rankine) {
        return SimulateError::unsupported(
            "material.criterion with bonds",
            "rankine",
            "tension, lu2021, rod; or packing.type = \"voronoi\" or \"cubic\"",
        );
    }
    None
}
