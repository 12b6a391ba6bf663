//! Material of each element and properties of each bond: grains of other materials, pairs of materials, fibre
//! direction.

use crate::parallel::prelude::*;
use glam::{DQuat, DVec3};

use super::body::PackedBody;
use super::error::PackError;
use super::filled::{Calibration, RandomStatistics};
use super::grain::{self, GrainOfBonds};
use super::inputs::{Inputs, PackedMaterial};
use super::mesh;
use super::scatter::{DrawnBond, Scatter};
use crate::laws::contact::series_modulus;
use crate::laws::elasticity::{self, grain_factor};
use crate::laws::{strength, weibull};
use crate::spec::{Body, DEFAULT_POISSON, Elasticity, Grains, Strength};

/// Number and properties of the material with this name.
pub(super) fn find_material<'a>(
    materials: &'a [PackedMaterial<'a>],
    name: &str,
) -> Option<(usize, &'a PackedMaterial<'a>)> {
    materials.iter().enumerate().find(|(_, m)| m.name == name)
}

/// Index of each element's material: `own`, the material of the body, or the material of the grain that
/// contains the element.
pub(super) fn element_materials(
    inputs: &Inputs,
    body: &Body,
    packed: &PackedBody,
    own: usize,
) -> Result<Vec<u32>, PackError> {
    let mut found = vec![own as u32; packed.centres.len()];
    // Fraction of the body that earlier grains leave.
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
    let position = DVec3::from_array(body.position);
    for (layer, grains, number, chance) in drawn.into_iter().rev() {
        let seed = inputs.settings.seed.wrapping_add(layer);
        found
            .par_iter_mut()
            .zip(&packed.centres)
            .for_each(|(material, p)| {
                if is_in_grain(turn * (*p - position), grains, chance, seed) {
                    *material = number;
                }
            });
    }
    Ok(found)
}

/// Whether a point (m, frame of the shape) lies in a grain. One point is scattered in each cube of the
/// grains' size; grains are the Voronoi cells of a random choice of these points.
fn is_in_grain(p: DVec3, grains: &Grains, chance: f64, seed: u64) -> bool {
    let cell = (p / grains.size).floor();
    let draw = |at: DVec3, k| weibull::uniform_on(at.to_array().map(|c| c as i64), seed, k);
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

/// Properties of bonds between elements of two materials.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairProperties {
    /// Young's modulus across any grain, Pa.
    young: f64,
    /// Shear modulus across any grain, Pa.
    shear: f64,
    /// Mean tensile strength across any grain, Pa: of a bond that breaks by its own stress, and of one that breaks by
    /// the stress of the solid.
    sigma: [f64; 2],
    /// Whether the bonds break by the stress of the solid.
    rankine: bool,
    /// Mean shear strength across any grain, Pa.
    tau: f64,
    scatter: Option<Scatter>,
    grain: Option<GrainOfBonds>,
}

/// Moduli and strengths of one bond.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BondProperties {
    /// Young's modulus, Pa.
    pub young: f64,
    /// Shear modulus, Pa.
    pub shear: f64,
    /// Tensile strength, Pa.
    pub sigma_c: f64,
    /// Shear strength, Pa.
    pub tau_c: f64,
}

impl PairProperties {
    /// Factors on tensile and shear strength of a bond whose ends have few bonds, so that it bears more than its part:
    /// `factor` for both. The stress of the solid does not depend on how many bonds bear it.
    pub fn factors(&self, factor: f64) -> [f64; 2] {
        [if self.rankine { 1.0 } else { factor }, factor]
    }

    /// Properties of a bond along the unit vector `direction`.
    pub fn bond_properties(&self, direction: DVec3, seed: u64, bond: DrawnBond) -> BondProperties {
        let factors = |scatter: Scatter| scatter.factors(bond, seed);
        let [tensile, tangential] = self.scatter.map_or([1.0; 2], factors);
        let (stiff, strong) = self.grain.map_or((1.0, 1.0), |grain| {
            let cosine = grain.direction.dot(direction);
            (
                grain_factor(grain.stiffness, cosine),
                grain_factor(grain.strength, cosine),
            )
        });
        BondProperties {
            young: stiff * self.young,
            shear: stiff * self.shear,
            sigma_c: strong * tensile * self.sigma[usize::from(self.rankine)],
            tau_c: strong * tangential * self.tau,
        }
    }
}

/// Properties of the bonds of one body, one entry for each pair of materials.
#[derive(Clone, Debug)]
pub(super) struct PairTable {
    /// Index of each material among the `count` materials of the body, by its number in the pipeline.
    index: Vec<usize>,
    count: usize,
    /// Properties of bonds between the materials of indices a and b, at `a * count + b`.
    pairs: Vec<PairProperties>,
}

impl PairTable {
    /// The entries of a body whose elements have these `materials` and this mean diameter, m; `fabric` = Σ S l0 / (3V).
    pub fn new(
        inputs: &Inputs,
        body: &Body,
        materials: &[u32],
        fabric: f64,
        packing: (Calibration, f64),
    ) -> Result<Self, PackError> {
        let turn = body.rotation.quaternion();
        let mut index = vec![usize::MAX; inputs.materials.len()];
        let mut own = Vec::new();
        for &number in materials {
            let place = &mut index[number as usize];
            if *place == usize::MAX {
                *place = own.len();
                let material = &inputs.materials[number as usize];
                own.push((material, within_material(material, turn, fabric, packing)?));
            }
        }
        let pairs = own
            .iter()
            .flat_map(|a| own.iter().map(|b| between_materials(inputs, *a, *b)))
            .collect();
        Ok(PairTable {
            index,
            count: own.len(),
            pairs,
        })
    }

    /// Properties of bonds between two materials, by their numbers in the pipeline.
    pub fn pair(&self, a: u32, b: u32) -> &PairProperties {
        let [a, b] = [a, b].map(|number| self.index[number as usize]);
        &self.pairs[a * self.count + b]
    }
}

/// Properties of bonds within a material.
fn within_material(
    material: &PackedMaterial,
    turn: DQuat,
    fabric: f64,
    packing: (Calibration, f64),
) -> Result<PairProperties, PackError> {
    let (calibration, _) = packing;
    let (mut young, mut shear) = moduli(material, fabric, calibration)?;
    let (by_own, by_stress) = match material.strength {
        Strength::Bond => (1.0, 1.0),
        Strength::Material => strengths_over_bonds(material, calibration),
    };
    let mean = |key, strength: Option<f64>| match strength {
        None => Ok(f64::INFINITY),
        Some(value) => positive(material, key, value),
    };
    let mut sigma = mean("tensile_strength", material.tensile_strength)?;
    let mut tau = mean("shear_strength", material.shear_strength)? / by_own;
    if let Some(modulus) = material.weibull_modulus {
        positive(material, "weibull_modulus", modulus)?;
    }
    let grain = grain::of_bonds(material, turn, calibration)?;
    if let Some(GrainOfBonds { across, .. }) = grain {
        (young, shear) = (young / across.young, shear / across.young);
        (sigma, tau) = (sigma / across.strength, tau / across.strength);
    }
    Ok(PairProperties {
        young,
        shear,
        sigma: [by_own, by_stress].map(|weaker| sigma / weaker),
        rankine: material.rankine,
        tau,
        scatter: material
            .weibull_modulus
            .map(|modulus| Scatter::new(material, modulus, packing)),
        grain,
    })
}

/// Strength of a packing over that of its bonds, which break by their own stress or by that of the solid; 1 for
/// packings whose strength is not calibrated.
fn strengths_over_bonds(material: &PackedMaterial, calibration: Calibration) -> (f64, f64) {
    let poisson = material.poisson.unwrap_or(DEFAULT_POISSON);
    // Strengths that scatter by place are not averaged over neighbours.
    let modulus = material.weibull_modulus;
    let modulus = modulus.filter(|_| material.weibull_length.is_none());
    match calibration {
        Calibration::Lattice => (
            strength::lattice(poisson, modulus),
            strength::lattice_by_stress(modulus),
        ),
        Calibration::Random(RandomStatistics {
            coordination,
            spread,
            ..
        }) => (
            strength::random(coordination, poisson, spread),
            strength::random_by_stress(coordination, poisson, spread, modulus),
        ),
        Calibration::Shell { .. } | Calibration::Yarn | Calibration::Cells => (1.0, 1.0),
    }
}

/// Σ S l0 / (3V) of bonds with the Young's modulus of a random packing that make it as stiff as this material.
pub(super) fn fabric_of_bonds(material: &PackedMaterial, packing: RandomStatistics) -> f64 {
    let poisson = material.poisson.unwrap_or(DEFAULT_POISSON);
    elasticity::random(1.0, packing.coordination, poisson)
        .0
        .recip()
}

/// Properties of bonds between two materials: moduli in series, the smaller strengths, the wider scatter, no
/// grain. Factors that the pipeline gives for the pair are applied.
fn between_materials(
    inputs: &Inputs,
    a: (&PackedMaterial, PairProperties),
    b: (&PackedMaterial, PairProperties),
) -> PairProperties {
    let names = [a.0.name, b.0.name];
    let pair = inputs.pair(names[0], names[1]);
    let (stiffer, stronger) =
        pair.map_or((1.0, 1.0), |pair| (pair.bond_stiffness, pair.bond_strength));
    let (a, b) = (a.1, b.1);
    let mut properties = a;
    if names[0] != names[1] {
        properties = PairProperties {
            young: series_modulus(a.young, b.young),
            shear: series_modulus(a.shear, b.shear),
            sigma: [0, 1].map(|k| a.sigma[k].min(b.sigma[k])),
            rankine: a.rankine || b.rankine,
            tau: a.tau.min(b.tau),
            scatter: match (a.scatter, b.scatter) {
                (Some(a), Some(b)) => Some(a.wider(b)),
                (a, b) => a.or(b),
            },
            grain: None,
        };
    }
    properties.young *= stiffer;
    properties.shear *= stiffer;
    properties.sigma = properties.sigma.map(|sigma| sigma * stronger);
    properties.tau *= stronger;
    properties
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
            let shear = material.shear.ok_or_else(|| PackError::MissingShear {
                material: material.name.to_owned(),
            })?;
            Ok((young, positive(material, "shear", shear)?))
        }
        Elasticity::Material => {
            let poisson = material.poisson.unwrap_or(DEFAULT_POISSON);
            let name = || material.name.to_owned();
            if calibration == Calibration::Cells && !(poisson > -1.0 && poisson < 0.5) {
                return Err(PackError::CellPoisson {
                    material: name(),
                    value: poisson,
                });
            }
            if calibration != Calibration::Cells
                && !(poisson > -1.0 && poisson <= elasticity::POISSON_LIMIT)
            {
                return Err(PackError::BondPoisson {
                    material: name(),
                    value: poisson,
                });
            }
            let (stiffening, ratio) = match calibration {
                Calibration::Lattice => {
                    let ratio = elasticity::shear_ratio(poisson);
                    (elasticity::stiffening(fabric, ratio), ratio)
                }
                Calibration::Random(packing) => {
                    elasticity::random(fabric, packing.coordination, poisson)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{pack, spec};

    /// Tensile strength of the bonds of a block of hexagonal packing with these keys, over the one entered, on average.
    fn over_entered(keys: &str) -> f64 {
        let text = format!(
            "[time]\nend = 1\nframes_per_second = 24\n[[material]]\nname = \"m\"\ndensity = 1\nyoung = 1e6\n\
             tensile_strength = 10\n{keys}\n[[body]]\nname = \"b\"\nmaterial = \"m\"\n\
             shape = {{ type = \"block\", rows = [20, 20, 20] }}\npacking = {{ type = \"hexagonal\", radius = 0.1 }}\n"
        );
        let shot = spec::parse(&text, "shot.toml", &[]).expect("a shot");
        let bonds = pack::pack(&shot, "".as_ref())
            .expect("packed")
            .packing
            .bonds;
        bonds.sigma_c.iter().sum::<f64>() / bonds.sigma_c.len() as f64 / 10.0
    }

    #[test]
    fn bonds_of_a_lattice_have_strengths_that_make_the_solid() {
        let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 0.01, "{a} {b}");
        let whole = 1.0 / strength::lattice(DEFAULT_POISSON, None);
        close(over_entered(""), whole);
        // Draws keep their mean; a bar breaks at the weak ones.
        close(
            over_entered("weibull_modulus = 9"),
            whole / (1.0 - 1.0 / 3.0),
        );
        // Neighbours that are weak together do not.
        let field = "weibull_modulus = 9\nweibull_length = 0.05";
        assert!((over_entered(field) / whole - 1.0).abs() < 0.1);
        close(over_entered("strength = \"bond\""), 1.0);
    }
}
