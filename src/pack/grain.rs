//! Bonds of a material with a grain: of their own, or such that the packing has the grain of the material.

use glam::{DQuat, DVec3};

use super::error::PackError;
use super::filled::{Calibration, RandomStatistics};
use super::inputs::{PackedGrain, PackedMaterial};
use crate::laws::grain::{Packing, Reach};
use crate::spec::{DEFAULT_POISSON, Grain, Strength};

/// Grain of bonds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct GrainOfBonds {
    /// Direction in world coordinates, a unit vector.
    pub direction: DVec3,
    /// λ of moduli.
    pub stiffness: f64,
    /// λ of strengths.
    pub strength: f64,
    /// What the packing has across the grain.
    pub across: AcrossGrain,
}

/// Young's modulus and strength of the packing across its grain, over those without a grain; 1 where the grain is that
/// of the bonds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AcrossGrain {
    /// Young's modulus.
    pub young: f64,
    /// Tensile strength.
    pub strength: f64,
}

/// The grain of the bonds of this material; `turn` turns the body into the world.
pub(super) fn of_bonds(
    material: &PackedMaterial,
    turn: DQuat,
    calibration: Calibration,
) -> Result<Option<GrainOfBonds>, PackError> {
    let Some(PackedGrain {
        entered: grain,
        of_solid,
    }) = material.grain
    else {
        return Ok(None);
    };
    let direction = DVec3::from_array(grain.direction).normalize_or_zero();
    let entered = [grain.stiffness, grain.strength.unwrap_or(grain.stiffness)];
    let mut bonds = GrainOfBonds {
        direction: turn * direction,
        stiffness: entered[0],
        strength: entered[1],
        across: AcrossGrain {
            young: 1.0,
            strength: 1.0,
        },
    };
    let packing = calibrated(material, direction, calibration);
    let Some(packing) = packing.filter(|_| of_solid) else {
        return Ok(Some(bonds));
    };
    let unreachable = |key: &'static str, value: f64| {
        move |Reach(range): Reach| PackError::GrainBeyondReach {
            material: material.name.to_owned(),
            key,
            value,
            // Whatever is entered is not below 0.
            reach: range.map(|ratio| (ratio - 1.0).max(0.0)),
        }
    };
    bonds.stiffness = packing
        .stiffness_of_bonds(1.0 + entered[0])
        .map_err(unreachable("grain.stiffness", entered[0]))?;
    bonds.across.young = packing.young(bonds.stiffness).across;
    let has_strength = material.tensile_strength.or(material.shear_strength);
    if material.strength == Strength::Material && has_strength.is_some() {
        let key = match grain {
            Grain {
                strength: Some(_), ..
            } => "grain.strength",
            _ => "grain.strength (absent, so grain.stiffness)",
        };
        bonds.strength = packing
            .strength_of_bonds(bonds.stiffness, 1.0 + entered[1])
            .map_err(unreachable(key, entered[1]))?;
        bonds.across.strength = packing.strength(bonds.stiffness, bonds.strength).across;
    }
    Ok(Some(bonds))
}

/// The packing whose bonds are to give the grain of the material; none where nothing is calibrated.
fn calibrated(
    material: &PackedMaterial,
    grain: DVec3,
    calibration: Calibration,
) -> Option<Packing> {
    let poisson = material.poisson.unwrap_or(DEFAULT_POISSON);
    match calibration {
        Calibration::Lattice => Some(Packing::Lattice { grain, poisson }),
        Calibration::Random(RandomStatistics { coordination, .. }) => Some(Packing::Random {
            bonds: coordination,
            poisson,
        }),
        Calibration::Shell { .. } | Calibration::Yarn | Calibration::Cells => None,
    }
}
