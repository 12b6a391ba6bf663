//! Settings that bonded elements do not support, whatever the integrator.

use crate::simulate::error::SimulateError;
use crate::spec::{Criterion, Pipeline};

/// An error for a toughness with a criterion by which bonds cannot soften. `lu2021` counts compression: a damaged bond
/// bears compression in full, and the use of strength by both cannot be told apart. With `rankine` the load on a bond
/// does not decide.
pub fn toughness(pipeline: &Pipeline) -> Option<SimulateError> {
    for material in &pipeline.materials {
        let criterion = match material.criterion {
            Criterion::Lu2021 => "lu2021",
            Criterion::Rankine => "rankine",
            Criterion::Tension | Criterion::Rod => continue,
        };
        if material.toughness.is_some() {
            return SimulateError::unsupported(
                "material.toughness with material.criterion",
                criterion,
                "tension, rod",
            );
        }
    }
    None
}

/// Whether bonds of some material break by Rankine's criterion.
pub fn uses_rankine(pipeline: &Pipeline) -> bool {
    let mut materials = pipeline.materials.iter();
    materials.any(|material| material.criterion == Criterion::Rankine)
}

/// An error for Rankine's criterion together with a hydrostatic strength: a step has one number for each element, the
/// bound of its principal stresses or its mean stress.
pub fn rankine(pipeline: &Pipeline) -> Option<SimulateError> {
    let mut materials = pipeline.materials.iter();
    if uses_rankine(pipeline) && materials.any(|one| one.hydrostatic_strength.is_some()) {
        return SimulateError::unsupported(
            "material.criterion with material.hydrostatic_strength",
            "rankine",
            "tension, lu2021, rod; or no hydrostatic strength",
        );
    }
    None
}
