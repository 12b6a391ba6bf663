//! Rounds of tests: each scales the values that are entered by what the tests of the one before found.

use std::path::Path;

use super::error::CalibrateError;
use super::report::{Report, Round, Tests};
use super::solid::{Solid, misses};
use super::specimen::{Specimen, poisson_of_solid};
use super::strip;
use crate::laws::elasticity::{POISSON_LIMIT, shear_ratio};
use crate::pack;
use crate::spec::{Body, Elasticity, Material, PackingSpec, Pipeline};

/// Most rounds.
const ROUNDS: usize = 10;
/// Largest tensile strength over Young's modulus.
const LARGEST_STRAIN: f64 = 0.1;
/// Limits of Poisson's ratio of bonds, and of cells.
const RATIOS: [(f64, f64); 2] = [(-0.9, POISSON_LIMIT), (-0.9, 0.49)];
/// Limits of the factor on the shear strength from one round to the next.
const SHEAR_FACTORS: (f64, f64) = (0.3, 3.0);
/// Limits of the logarithmic slope of the compressive over the shear strength, where it is used to find the next one.
const SLOPES: (f64, f64) = (0.02, 1.5);

/// Least change of the shear strength, as a logarithm, after which [`NO_EFFECT`] is looked at.
const DOUBLED: f64 = 0.69;
/// Change of the compressive strength, as a logarithm, below which the shear strength has no effect on it.
const NO_EFFECT: f64 = 0.05;

/// What is calibrated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Name of the body; absent: the only one.
    pub body: Option<String>,
    /// Elements across a specimen.
    pub across: f64,
    /// Targets; absent: the values of the material.
    pub young: Option<f64>,
    /// As `young`.
    pub poisson: Option<f64>,
    /// As `young`.
    pub tensile_strength: Option<f64>,
    /// Absent: the shear strength keeps its ratio to the tensile one.
    pub compressive_strength: Option<f64>,
    /// As `young`.
    pub toughness: Option<f64>,
}

/// Finds the values to enter for the material of a body so that its packing is the solid asked for.
///
/// `progress` hears of each round.
pub fn calibrate(
    shot: &Pipeline,
    folder: &Path,
    options: &Options,
    mut progress: impl FnMut(&Round),
) -> Result<Report, CalibrateError> {
    let body = chosen(shot, options.body.as_deref())?;
    let material = shot.material_of(body);
    let material = material.expect("checked pipelines have their materials");
    let asked = asked(body, material, options)?;
    let size = element_size(shot, body, folder)?;
    let laboratory = Laboratory {
        shot,
        body,
        size,
        across: options.across,
        asked,
        height: match (asked.toughness, asked.tensile_strength) {
            (Some(toughness), Some(strength)) => Some(strip::height(size, toughness, strength)?),
            _ => None,
        },
    };
    let mut rounds: Vec<Round> = Vec::new();
    let mut entered = laboratory.start(material);
    loop {
        let round = Round {
            tests: laboratory.test(&entered)?,
            entered: entered.clone(),
        };
        let found = round.tests.solid();
        if !(found.young > 0.0 && found.young.is_finite() && found.poisson.is_finite()) {
            let what = format!(
                "body {:?}: a bar broke before its moduli could be measured; raise --across",
                body.name
            );
            return Err(CalibrateError::Refused(what));
        }
        progress(&round);
        rounds.push(round);
        if rounds.len() == ROUNDS
            || misses(&asked, &found).is_empty()
            || is_at_its_limit(&asked, &rounds)
        {
            break;
        }
        entered = laboratory.next(&rounds);
    }
    Ok(Report {
        body: body.name.clone(),
        across: options.across,
        asked,
        rounds,
    })
}

/// The body of this name, or the only one, if specimens of its packing can be made.
fn chosen<'a>(shot: &'a Pipeline, name: Option<&str>) -> Result<&'a Body, CalibrateError> {
    let names = || {
        let names = shot.bodies.iter().map(|body| format!("{:?}", body.name));
        names.collect::<Vec<_>>().join(", ")
    };
    let refused = |what: String| Err(CalibrateError::Refused(what));
    let body = match (name, shot.bodies.as_slice()) {
        (Some(name), bodies) => match bodies.iter().find(|body| body.name == name) {
            Some(body) => body,
            None => {
                return refused(format!(
                    "--body {name:?}: there is no such body; bodies are {}",
                    names()
                ));
            }
        },
        (None, [body]) => body,
        (None, _) => return refused(format!("give --body: bodies are {}", names())),
    };
    let why = match body.packing {
        PackingSpec::Hexagonal { .. }
        | PackingSpec::Random { .. }
        | PackingSpec::Voronoi { .. }
            if body.is_bonded() =>
        {
            None
        }
        PackingSpec::Hexagonal { .. }
        | PackingSpec::Random { .. }
        | PackingSpec::Voronoi { .. } => Some("its elements are loose"),
        _ => Some("bars can be made of the packings hexagonal, random and voronoi only"),
    };
    let grain = shot
        .material_of(body)
        .is_some_and(|material| material.grain.is_some());
    let why = why.or(grain.then_some("its material is anisotropic (key `grain`)"));
    let lumps = !body.grains.is_empty();
    match why.or(lumps.then_some("it has lumps of other materials (key `grains`); remove them")) {
        Some(why) => refused(format!("body {:?} cannot be calibrated: {why}", body.name)),
        None => Ok(body),
    }
}

fn asked(body: &Body, material: &Material, options: &Options) -> Result<Solid, CalibrateError> {
    let asked = Solid {
        young: options.young.unwrap_or(material.young),
        poisson: options.poisson.unwrap_or(poisson_of_solid(material)),
        tensile_strength: options.tensile_strength.or(material.tensile_strength),
        compressive_strength: options.compressive_strength,
        toughness: options.toughness.or(material.toughness),
    };
    let why = if asked.toughness.is_some() && body.packing.is_of_cells() {
        "bonds of cells do not soften; remove --toughness, or the key from the material"
    } else if asked.toughness.is_some() && asked.tensile_strength.is_none() {
        "a toughness needs a tensile strength; give --tensile-strength"
    } else if asked.compressive_strength.is_some() && asked.tensile_strength.is_none() {
        "a compressive strength needs a tensile one; give --tensile-strength"
    } else if asked.poisson > POISSON_LIMIT && !body.packing.is_of_cells() {
        "Poisson's ratio of bonds is at most 0.25; give a smaller --poisson, or use the packing voronoi"
    } else if asked
        .tensile_strength
        .is_some_and(|stress| stress > LARGEST_STRAIN * asked.young)
    {
        "the tensile strength is above a tenth of Young's modulus; bars would not break at small strains"
    } else {
        return Ok(asked);
    };
    Err(CalibrateError::Refused(why.into()))
}

/// Diameter of the balls of a body, or edge of a cube with the volume of a cell, m.
fn element_size(shot: &Pipeline, body: &Body, folder: &Path) -> Result<f64, CalibrateError> {
    if let PackingSpec::Voronoi {
        size: Some(size), ..
    } = body.packing
    {
        return Ok(size);
    }
    if let (Some(radius), _) = body.packing.size() {
        return Ok(2.0 * radius);
    }
    let packed = pack::pack(shot, folder)?;
    let summary = packed.bodies.iter().find(|one| one.name == body.name);
    let radius = summary.expect("a summary of each body").radius;
    Ok(match body.packing.is_of_cells() {
        true => (4.0 / 3.0 * std::f64::consts::PI).cbrt() * radius,
        false => 2.0 * radius,
    })
}

/// What the tests of all rounds share.
struct Laboratory<'a> {
    shot: &'a Pipeline,
    body: &'a Body,
    size: f64,
    across: f64,
    asked: Solid,
    /// Height of strips, in elements; none if toughness is not asked for.
    height: Option<f64>,
}

impl Laboratory<'_> {
    /// The material as it is entered in the first round.
    fn start(&self, material: &Material) -> Material {
        let asked = &self.asked;
        let mut entered = material.clone();
        // Strengths by place depend on the size of a body, which is wanted.
        if entered.weibull_length.is_some() {
            (
                entered.weibull_modulus,
                entered.weibull_length,
                entered.weibull_size,
            ) = (None, None, None);
        }
        entered.young = asked.young;
        entered.tensile_strength = asked.tensile_strength;
        entered.toughness = asked.toughness;
        if let (Some(asked), Some(given)) = (asked.tensile_strength, material.tensile_strength) {
            entered.shear_strength = material.shear_strength.map(|stress| stress * asked / given);
        }
        if let Some(stress) = asked.compressive_strength {
            entered.shear_strength.get_or_insert(0.5 * stress);
        }
        self.set_poisson(&mut entered, asked.poisson);
        entered
    }

    fn set_poisson(&self, entered: &mut Material, poisson: f64) {
        let (least, most) = RATIOS[usize::from(self.body.packing.is_of_cells())];
        let poisson = poisson.clamp(least, most);
        match entered.elasticity {
            Elasticity::Material => entered.poisson = Some(poisson),
            // Bonds without any shear modulus are refused.
            Elasticity::Bond => {
                entered.shear = Some(entered.young * shear_ratio(poisson).max(1e-3));
            }
        }
    }

    /// Pulls bars along x, y and z, crushes prisms and tears strips if their strength or toughness is asked for.
    fn test(&self, entered: &Material) -> Result<Tests, CalibrateError> {
        let specimen = |axis: usize| {
            let seed = self.shot.simulate.seed + axis as u64;
            Specimen::new(
                self.shot,
                self.body,
                entered.clone(),
                (self.size, self.across),
                (axis, seed),
            )
        };
        // One after the other: a simulation uses all threads.
        let bars = (0..3).map(|axis| specimen(axis).pull());
        let bars = bars.collect::<Result<Vec<_>, _>>()?;
        let prisms = match self.asked.compressive_strength {
            Some(stress) => {
                let prisms = (0..3).map(|axis| specimen(axis).crush(stress));
                prisms.collect::<Result<Vec<_>, _>>()?
            }
            None => Vec::new(),
        };
        let mut tests = Tests {
            bars,
            prisms,
            strips: Vec::new(),
            breaks: entered.tensile_strength.is_some(),
        };
        if let Some(height) = self.height {
            let solid = tests.solid();
            let moduli = (solid.young, solid.poisson);
            let strips = (0..3).map(|axis| specimen(axis).tear(height, moduli));
            tests.strips = strips.collect::<Result<Vec<_>, _>>()?;
        }
        Ok(tests)
    }

    /// The material to enter after these rounds.
    fn next(&self, rounds: &[Round]) -> Material {
        let last = &rounds[rounds.len() - 1];
        let (asked, found) = (&self.asked, last.tests.solid());
        let mut entered = last.entered.clone();
        let poisson = poisson_of_solid(&entered) + asked.poisson - found.poisson;
        entered.young *= asked.young / found.young;
        self.set_poisson(&mut entered, poisson);
        let ratio = |asked: Option<f64>, found: Option<f64>| Some(asked? / found?);
        let tensile = ratio(asked.tensile_strength, found.tensile_strength).unwrap_or(1.0);
        entered.tensile_strength = entered.tensile_strength.map(|value| value * tensile);
        let shear = match ratio(asked.compressive_strength, found.compressive_strength) {
            None => tensile,
            Some(off) => {
                let slope = response(rounds).map(|(shear, stress)| stress / shear);
                let slope = slope.filter(|slope| slope.is_finite()).unwrap_or(1.0);
                let slope = slope.clamp(SLOPES.0, SLOPES.1);
                off.powf(1.0 / slope)
                    .clamp(SHEAR_FACTORS.0, SHEAR_FACTORS.1)
            }
        };
        entered.shear_strength = entered.shear_strength.map(|value| value * shear);
        let toughness = ratio(asked.toughness, found.toughness).unwrap_or(1.0);
        entered.toughness = entered.toughness.map(|value| value * toughness);
        entered
    }
}

/// Logarithms of the factors by which the shear strength entered and the compressive strength found changed in the last
/// round; none in the first.
fn response(rounds: &[Round]) -> Option<(f64, f64)> {
    let [.., before, last] = rounds else {
        return None;
    };
    let [from, to] = [before, last].map(|round| {
        let stress = round.tests.solid().compressive_strength;
        Some((round.entered.shear_strength?.ln(), stress?.ln()))
    });
    let (from, to) = from.zip(to)?;
    Some((to.0 - from.0, to.1 - from.1))
}

/// Whether only the compressive strength is missed, and no longer follows the shear strength: bonds that are pulled
/// apart limit it.
fn is_at_its_limit(asked: &Solid, rounds: &[Round]) -> bool {
    let found = rounds[rounds.len() - 1].tests.solid();
    let mut rest = *asked;
    rest.compressive_strength = None;
    let is_too_weak = asked.compressive_strength > found.compressive_strength;
    let is_without_effect = response(rounds)
        .is_some_and(|(shear, stress)| shear.abs() > DOUBLED && stress.abs() < NO_EFFECT);
    is_too_weak && is_without_effect && misses(&rest, &found).is_empty()
}
