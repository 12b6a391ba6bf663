//! What bodies are made of, element by element and bond by bond: grains of other materials, pairs of
//! materials, directions.

use crate::parallel::prelude::*;
use glam::{DQuat, DVec3};

use super::body::PackedBody;
use super::error::PackError;
use super::filled::Calibration;
use super::inputs::{Inputs, PackedMaterial};
use super::mesh;
use crate::laws::contact::series_modulus;
use crate::laws::elasticity::{self, grain_factor};
use crate::laws::weibull;
use crate::spec::{Body, DEFAULT_POISSON, Elasticity, Grain, Grains};

/// The material of this name, with its number.
pub(super) fn find_material<'a>(
    materials: &'a [PackedMaterial<'a>],
    name: &str,
) -> Option<(usize, &'a PackedMaterial<'a>)> {
    materials.iter().enumerate().find(|(_, m)| m.name == name)
}

/// Index of each element's material: the body's own, numbered `own`, or that of the grain that the element lies in.
pub(super) fn of_elements(
    inputs: &Inputs,
    body: &Body,
    packed: &PackedBody,
    own: usize,
) -> Result<Vec<u32>, PackError> {
    let mut found = vec![own as u32; packed.centres.len()];
    // What the grains before have left of the body.
    let mut left = 1.0;
    // Later grains fill what earlier ones leave, so they are drawn first.
    let mut drawn = Vec::new();
    for (layer, grains) in (0..).zip(&body.grains) {
        let (number, _) = find_material(&inputs.materials, &grains.material)
            .ok_or_else(|| PackError::unknown_material(inputs, body, &grains.material))?;
        drawn.push((layer, grains, number as u32, (grains.part / left).min(1.0)));
        left = f64::max(left - grains.part, f64::MIN_POSITIVE);
    }
    let turn = body.rotation.quaternion().inverse();
    let place = DVec3::from_array(body.position);
    for (layer, grains, number, chance) in drawn.into_iter().rev() {
        let seed = inputs.settings.seed.wrapping_add(layer);
        found
            .par_iter_mut()
            .zip(&packed.centres)
            .for_each(|(material, p)| {
                if chosen(turn * (*p - place), grains, chance, seed) {
                    *material = number;
                }
            });
    }
    Ok(found)
}

/// Whether a point (m, frame of the shape) lies in a grain: the cell of the nearest of points of which one is
/// scattered in each cube of the grains' size, and the cell is one of the chosen.
fn chosen(p: DVec3, grains: &Grains, chance: f64, seed: u64) -> bool {
    let cell = (p / grains.size).floor();
    let draw = |at: DVec3, k: u32| {
        let [x, y, z] = at.to_array().map(|c| c as i64 as u64);
        let key = x.wrapping_mul(0x8DA6_B343) ^ y.wrapping_mul(0xD816_3841_0001) ^ z << 42;
        weibull::uniform(seed ^ key, k)
    };
    let around = -1..=1;
    let cells = around.clone().flat_map(|i| {
        let around = around.clone();
        around.clone().flat_map(move |j| {
            let around = around.clone();
            around.map(move |k| cell + DVec3::new(f64::from(i), f64::from(j), f64::from(k)))
        })
    });
    let middle = |at: DVec3| (at + DVec3::new(draw(at, 0), draw(at, 1), draw(at, 2))) * grains.size;
    let nearest = cells.min_by(|a, b| {
        let [a, b] = [a, b].map(|at| middle(*at).distance_squared(p));
        a.total_cmp(&b)
    });
    nearest.is_some_and(|at| draw(at, 3) < chance)
}

/// Bonds between elements of two materials.
#[derive(Clone, Copy, Debug)]
pub(super) struct BondKind {
    /// Young's modulus across any grain, Pa.
    young: f64,
    /// Shear modulus across any grain, Pa.
    shear: f64,
    /// Mean tensile strength across any grain, Pa.
    sigma: f64,
    /// Mean shear strength across any grain, Pa.
    tau: f64,
    weibull: Option<f64>,
    /// Direction in the world, λ of moduli and of strengths.
    grain: Option<(DVec3, f64, f64)>,
}

/// A bond's own numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BondNumbers {
    /// Young's modulus, Pa.
    pub young: f64,
    /// Shear modulus, Pa.
    pub shear: f64,
    /// Tensile strength, Pa.
    pub sigma_c: f64,
    /// Shear strength, Pa.
    pub tau_c: f64,
}

impl BondKind {
    /// Of a bond along the unit vector `direction`, with a stable `id`.
    pub fn bond(&self, direction: DVec3, seed: u64, id: u32) -> BondNumbers {
        let scatter = self.weibull.map_or(1.0, |modulus| {
            weibull::factor(weibull::uniform(seed, id), modulus)
        });
        let (stiff, strong) = self
            .grain
            .map_or((1.0, 1.0), |(along, stiffness, strength)| {
                let cosine = along.dot(direction);
                (
                    grain_factor(stiffness, cosine),
                    grain_factor(strength, cosine),
                )
            });
        BondNumbers {
            young: stiff * self.young,
            shear: stiff * self.shear,
            sigma_c: strong * scatter * self.sigma,
            tau_c: strong * scatter * self.tau,
        }
    }
}

/// Kinds of the bonds of one body.
pub(super) struct Kinds {
    /// Index of each material of the body among `kinds`, by its number in the pipeline.
    place: Vec<usize>,
    count: usize,
    kinds: Vec<BondKind>,
}

impl Kinds {
    /// Of a body whose elements are of these `materials`; `fabric` = Σ S l0 / (3V).
    pub fn new(
        inputs: &Inputs,
        body: &Body,
        materials: &[u32],
        fabric: f64,
        calibration: Calibration,
    ) -> Result<Self, PackError> {
        let turn = body.rotation.quaternion();
        let mut place = vec![usize::MAX; inputs.materials.len()];
        let mut own = Vec::new();
        for &number in materials {
            let place = &mut place[number as usize];
            if *place == usize::MAX {
                *place = own.len();
                let material = &inputs.materials[number as usize];
                own.push((material, kind(material, turn, fabric, calibration)?));
            }
        }
        let kinds = own
            .iter()
            .flat_map(|a| own.iter().map(|b| between(inputs, *a, *b)))
            .collect();
        Ok(Kinds {
            place,
            count: own.len(),
            kinds,
        })
    }

    /// Of bonds between two materials, by their numbers in the pipeline.
    pub fn of(&self, a: u32, b: u32) -> &BondKind {
        let [a, b] = [a, b].map(|number| self.place[number as usize]);
        &self.kinds[a * self.count + b]
    }
}

/// Bonds within a material.
fn kind(
    material: &PackedMaterial,
    turn: DQuat,
    fabric: f64,
    calibration: Calibration,
) -> Result<BondKind, PackError> {
    let (young, shear) = moduli(material, fabric, calibration)?;
    let mean = |key, strength: Option<f64>| {
        strength.map_or(Ok(f64::INFINITY), |value| positive(material, key, value))
    };
    if let Some(modulus) = material.weibull_modulus {
        positive(material, "weibull_modulus", modulus)?;
    }
    let grain = material.grain.map(|grain: Grain| {
        let along = turn * DVec3::from_array(grain.direction).normalize_or_zero();
        let strength = grain.strength.unwrap_or(grain.stiffness);
        (along, grain.stiffness, strength)
    });
    Ok(BondKind {
        young,
        shear,
        sigma: mean("tensile_strength", material.tensile_strength)?,
        tau: mean("shear_strength", material.shear_strength)?,
        weibull: material.weibull_modulus,
        grain,
    })
}

/// Bonds between two materials: moduli in series, the smaller strengths, the wider scatter, no grain, unless
/// the pipeline says otherwise.
fn between(
    inputs: &Inputs,
    a: (&PackedMaterial, BondKind),
    b: (&PackedMaterial, BondKind),
) -> BondKind {
    let names = [a.0.name, b.0.name];
    let pair = inputs.pair(names[0], names[1]);
    let (stiffer, stronger) =
        pair.map_or((1.0, 1.0), |pair| (pair.bond_stiffness, pair.bond_strength));
    let (a, b) = (a.1, b.1);
    let mut kind = a;
    if names[0] != names[1] {
        kind = BondKind {
            young: series_modulus(a.young, b.young),
            shear: series_modulus(a.shear, b.shear),
            sigma: a.sigma.min(b.sigma),
            tau: a.tau.min(b.tau),
            weibull: match (a.weibull, b.weibull) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            },
            grain: None,
        };
    }
    kind.young *= stiffer;
    kind.shear *= stiffer;
    kind.sigma *= stronger;
    kind.tau *= stronger;
    kind
}

pub(super) fn positive(
    material: &PackedMaterial,
    key: &'static str,
    value: f64,
) -> Result<f64, PackError> {
    mesh::positive(&format!("material {:?}", material.name), key, value)
}

/// Young's and shear modulus of the bonds, Pa; `fabric` = Σ S l0 / (3V).
fn moduli(
    material: &PackedMaterial,
    fabric: f64,
    calibration: Calibration,
) -> Result<(f64, f64), PackError> {
    let young = positive(material, "young", material.young)?;
    match material.elasticity {
        Elasticity::Bond => {
            let shear = material.shear.ok_or_else(|| PackError::NoShear {
                material: material.name.to_owned(),
            })?;
            Ok((young, positive(material, "shear", shear)?))
        }
        Elasticity::Material => {
            let poisson = material.poisson.unwrap_or(DEFAULT_POISSON);
            let name = || material.name.to_owned();
            if calibration == Calibration::Cells && !(poisson > -1.0 && poisson < 0.5) {
                return Err(PackError::PoissonOfCells {
                    material: name(),
                    value: poisson,
                });
            }
            if calibration != Calibration::Cells
                && !(poisson > -1.0 && poisson <= elasticity::POISSON_LIMIT)
            {
                return Err(PackError::Poisson {
                    material: name(),
                    value: poisson,
                });
            }
            let (stiffening, ratio) = match calibration {
                Calibration::Lattice => {
                    let ratio = elasticity::shear_ratio(poisson);
                    (elasticity::stiffening(fabric, ratio), ratio)
                }
                Calibration::Random { coordination } => {
                    elasticity::random(fabric, coordination, poisson)
                }
                Calibration::Shell { moments } => elasticity::shell(fabric, moments, poisson),
                Calibration::Yarn | Calibration::Cells => {
                    (1.0, elasticity::rod_shear_ratio(poisson))
                }
            };
            let bond = young / stiffening;
            Ok((bond, ratio * bond))
        }
    }
}
