//! Settings that bonded elements do not support, whatever the integrator.

use crate::simulate::error::SimulateError;
use crate::spec::{Criterion, Material, Pipeline};

/// An error for a toughness with a criterion that counts compression: a damaged bond bears compression in full,
/// and the use of strength by both cannot be told apart.
pub fn toughness(pipeline: &Pipeline) -> Option<SimulateError> {
    let counts = |one: &Material| one.toughness.is_some() && one.criterion == Criterion::Lu2021;
    if pipeline.materials.iter().any(counts) {
        return SimulateError::unsupported(
            "material.toughness with material.criterion",
            "lu2021",
            "tension, rod",
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
