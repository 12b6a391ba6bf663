//! Settings that do not work together, whatever the integrator.

use crate::simulate::error::SimulateError;
use crate::spec::{CellContact, ContactLaw, Criterion, Material, MethodName, Pipeline};

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

/// An error for a coefficient of restitution with contacts that would rebound otherwise: the damping that follows from
/// it is that of a force in proportion to the overlap, which neither a barrier nor polyhedra that overlap have.
pub fn restitution(pipeline: &Pipeline) -> Option<SimulateError> {
    let of_materials = pipeline.materials.iter().any(|m| m.restitution.is_some());
    if !of_materials && pipeline.pairs.iter().all(|pair| pair.restitution.is_none()) {
        return None;
    }
    let simulate = &pipeline.simulate;
    let has_polyhedra =
        pipeline.method() == MethodName::Voronoi && simulate.cell_contact == CellContact::Polyhedra;
    let (options, value, allowed) = match (simulate.contact, has_polyhedra) {
        (ContactLaw::Barrier, _) => (
            [
                "material.restitution with simulate.contact",
                "pair.restitution with simulate.contact",
            ],
            "barrier",
            "penalty; or contact_damping in place of restitution",
        ),
        (ContactLaw::Penalty, true) => (
            [
                "material.restitution with simulate.cell_contact",
                "pair.restitution with simulate.cell_contact",
            ],
            "polyhedra",
            "balls; or contact_damping in place of restitution",
        ),
        (ContactLaw::Penalty, false) => return None,
    };
    let option = options[usize::from(!of_materials)];
    SimulateError::unsupported(option, value, allowed)
}

/// Whether contacts of some material or pair have a static friction of their own.
pub fn uses_static_friction(pipeline: &Pipeline) -> bool {
    let materials = pipeline.materials.iter().map(|one| one.static_friction);
    let pairs = pipeline.pairs.iter().map(|pair| pair.static_friction);
    materials.chain(pairs).any(|given| given.is_some())
}

/// Whether bonds of some material break by Rankine's criterion.
pub fn uses_rankine(pipeline: &Pipeline) -> bool {
    pipeline.materials.iter().any(breaks_by_rankine)
}

fn breaks_by_rankine(material: &Material) -> bool {
    material.criterion == Criterion::Rankine && material.tensile_strength.is_some()
}

/// An error for Rankine's criterion with what bonds do not support together with it: a hydrostatic strength, as a step
/// computes either the bound of the principal stresses of an element or its mean stress; and a grain, as the strength
/// of a bond then depends on its direction, the stress of the solid does not.
pub fn rankine(pipeline: &Pipeline) -> Option<SimulateError> {
    if !uses_rankine(pipeline) {
        return None;
    }
    let mut materials = pipeline.materials.iter();
    if materials.any(|one| one.hydrostatic_strength.is_some()) {
        return SimulateError::unsupported(
            "material.criterion with material.hydrostatic_strength",
            "rankine",
            "tension, lu2021, rod; or no hydrostatic strength",
        );
    }
    let mut materials = pipeline.materials.iter();
    if materials.any(|one| breaks_by_rankine(one) && one.grain.is_some()) {
        return SimulateError::unsupported(
            "material.criterion with material.grain",
            "rankine",
            "tension, lu2021, rod; or no grain",
        );
    }
    None
}
