//! What bodies of bonded elements lack, whatever the steps.

use crate::simulate::error::SimulateError;
use crate::spec::{Criterion, Pipeline};

/// A criterion that asks for the stress of cells, which bonds do not have.
pub fn criterion(pipeline: &Pipeline) -> Option<SimulateError> {
    let mut materials = pipeline.materials.iter();
    if materials.any(|material| material.criterion == Criterion::Rankine) {
        return SimulateError::lack(
            "material.criterion with bonds",
            "rankine",
            "tension, lu2021, rod; or packing.type = \"voronoi\" or \"cubic\"",
        );
    }
    None
}
