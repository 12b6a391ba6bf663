//! Rounds of tests: each scales the values that are entered by what the tests of the one before found.

use std::fmt;
use std::path::Path;

use super::error::CalibrateError;
use super::report::{Report, Round, Tests};
use super::specimen::Specimen;
use crate::laws::elasticity::{self, POISSON_LIMIT, shear_ratio};
use crate::pack;
use crate::spec::{Body, Elasticity, Material, PackingSpec, Pipeline};
use crate::units::show::quantity;

/// Most rounds.
const ROUNDS: usize = 10;
/// Relative errors of Young's modulus, of the tensile and of the compressive strength from which on another round is
/// made, and the error of Poisson's ratio.
const TOLERANCE: Solid = Solid {
    young: 0.01,
    poisson: 0.005,
    tensile_strength: Some(0.01),
    compressive_strength: Some(0.03),
};
/// Limits of the factor on the shear strength from one round to the next.
const SHEAR_FACTORS: (f64, f64) = (0.3, 3.0);
/// Limits of the logarithmic slope of the compressive over the shear strength, where it is used to find the next one.
const SLOPES: (f64, f64) = (0.02, 1.5);

/// Logarithm of the change of the shear strength, and relative change of the compressive strength that it causes, from
/// which the one has no effect on the other.
const DOUBLED: f64 = 0.69;
/// See [`DOUBLED`].
const NO_EFFECT: f64 = 0.05;

/// Moduli and strengths of a solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solid {
    /// Young's modulus, Pa.
    pub young: f64,
    /// Poisson's ratio.
    pub poisson: f64,
    /// Tensile strength, Pa.
    pub tensile_strength: Option<f64>,
    /// Compressive strength of a prism between rough plates, Pa.
    pub compressive_strength: Option<f64>,
}

impl fmt::Display for Solid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "E {}, ν {:.3}", quantity(self.young, "Pa"), self.poisson)?;
        let strengths = [
            ("tensile", self.tensile_strength),
            ("compressive", self.compressive_strength),
        ];
        for (name, value) in strengths {
            if let Some(value) = value {
                write!(f, ", {name} strength {}", quantity(value, "Pa"))?;
            }
        }
        Ok(())
    }
}

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
    /// Absent: the shear strength of the material is kept.
    pub compressive_strength: Option<f64>,
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
    let material = shot.materials.iter().find(|one| one.name == body.material);
    let material = material.expect("checked pipelines have their materials");
    let asked = asked(material, options)?;
    let laboratory = Laboratory {
        shot,
        body,
        size: element_size(shot, body, folder)?,
        across: options.across,
        asked,
    };
    let mut rounds: Vec<Round> = Vec::new();
    let mut entered = laboratory.start(material);
    loop {
        let round = Round {
            tests: laboratory.test(&entered)?,
            entered: entered.clone(),
        };
        progress(&round);
        let before = rounds.last().cloned();
        rounds.push(round);
        let last = &rounds[rounds.len() - 1];
        let is_done = misses(&asked, &last.tests.solid()).is_empty();
        if is_done
            || rounds.len() == ROUNDS
            || before
                .as_ref()
                .is_some_and(|one| is_at_its_limit(one, last))
        {
            break;
        }
        entered = laboratory.next(last, before.as_ref());
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
        PackingSpec::Hexagonal { .. } | PackingSpec::Random { .. } => {
            Some("its elements are loose")
        }
        _ => Some("bars can be made of the packings hexagonal, random and voronoi only"),
    };
    let grain = shot
        .materials
        .iter()
        .any(|one| one.name == body.material && one.grain.is_some());
    match why.or(grain.then_some("its material has a grain, so that no two directions are alike")) {
        Some(why) => refused(format!("body {:?} cannot be calibrated: {why}", body.name)),
        None => Ok(body),
    }
}

fn asked(material: &Material, options: &Options) -> Result<Solid, CalibrateError> {
    let tensile_strength = options.tensile_strength.or(material.tensile_strength);
    if options.compressive_strength.is_some() && tensile_strength.is_none() {
        let what = "a compressive strength needs a tensile one; give --tensile-strength";
        return Err(CalibrateError::Refused(what.into()));
    }
    Ok(Solid {
        young: options.young.unwrap_or(material.young),
        poisson: options.poisson.unwrap_or(material.poisson_ratio()),
        tensile_strength,
        compressive_strength: options.compressive_strength,
    })
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
        if let Some(stress) = asked.compressive_strength {
            entered.shear_strength = Some(material.shear_strength.unwrap_or(0.5 * stress));
        }
        self.set_poisson(&mut entered, asked.poisson);
        entered
    }

    fn set_poisson(&self, entered: &mut Material, poisson: f64) {
        match entered.elasticity {
            // Cells take any ratio.
            Elasticity::Material => {
                let most = match self.body.packing.is_of_cells() {
                    true => 0.49,
                    false => POISSON_LIMIT,
                };
                entered.poisson = Some(poisson.min(most));
            }
            Elasticity::Bond => {
                let ratio = shear_ratio(poisson.clamp(-0.9, POISSON_LIMIT)).max(1e-3);
                entered.shear = Some(entered.young * ratio);
            }
        }
    }

    /// Pulls bars along x, y and z, and crushes prisms if their strength is asked for.
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
        Ok(Tests {
            bars,
            prisms,
            breaks: entered.tensile_strength.is_some(),
        })
    }

    /// The material to enter after a round, by what it found; `before`: the round before it.
    fn next(&self, last: &Round, before: Option<&Round>) -> Material {
        let (asked, found) = (&self.asked, last.tests.solid());
        let mut entered = last.entered.clone();
        let poisson = of_the_solid(&entered) + asked.poisson - found.poisson;
        entered.young *= asked.young / found.young;
        self.set_poisson(&mut entered, poisson);
        let ratio = |asked: Option<f64>, found: Option<f64>| Some(asked? / found?);
        let tensile = ratio(asked.tensile_strength, found.tensile_strength).unwrap_or(1.0);
        entered.tensile_strength = entered.tensile_strength.map(|value| value * tensile);
        let shear = match ratio(asked.compressive_strength, found.compressive_strength) {
            None => tensile,
            Some(off) => {
                let slope = before.map_or(1.0, |before| slope(before, last));
                off.powf(1.0 / slope)
                    .clamp(SHEAR_FACTORS.0, SHEAR_FACTORS.1)
            }
        };
        entered.shear_strength = entered.shear_strength.map(|value| value * shear);
        entered
    }
}

/// Poisson's ratio of a solid of such bonds.
fn of_the_solid(entered: &Material) -> f64 {
    match (entered.elasticity, entered.shear) {
        (Elasticity::Bond, Some(shear)) => elasticity::poisson(shear / entered.young),
        _ => entered.poisson_ratio(),
    }
}

/// Logarithmic slope of the compressive over the shear strength between two rounds, within [`SLOPES`].
fn slope(before: &Round, last: &Round) -> f64 {
    let [from, to] = [before, last].map(|round| {
        let stress = round.tests.solid().compressive_strength;
        Some((round.entered.shear_strength?.ln(), stress?.ln()))
    });
    let slope = from
        .zip(to)
        .map(|(from, to)| (to.1 - from.1) / (to.0 - from.0));
    let slope = slope.filter(|slope| slope.is_finite()).unwrap_or(1.0);
    slope.clamp(SLOPES.0, SLOPES.1)
}

/// Whether the compressive strength no longer follows the shear strength: bonds that are pulled apart limit it.
fn is_at_its_limit(before: &Round, last: &Round) -> bool {
    let both = [before, last].map(|round| {
        let stress = round.tests.solid().compressive_strength;
        Some((round.entered.shear_strength?, stress?))
    });
    let [Some((shear, stress)), Some((next_shear, next_stress))] = both else {
        return false;
    };
    (next_shear / shear).ln().abs() > DOUBLED && (next_stress / stress - 1.0).abs() < NO_EFFECT
}

/// A line for each value that was found farther from what was asked for than allowed.
pub fn misses(asked: &Solid, found: &Solid) -> Vec<String> {
    let mut out = Vec::new();
    let mut relative = |name: &str, asked: f64, found: f64, allowed: f64| {
        let off = found / asked - 1.0;
        // A value that is no number is missed, too.
        if off.abs().partial_cmp(&allowed) != Some(std::cmp::Ordering::Less) {
            out.push(format!("{name} differs by {:+.1} %", 100.0 * off));
        }
    };
    relative("Young's modulus", asked.young, found.young, TOLERANCE.young);
    let strengths = [
        (
            "the tensile strength",
            asked.tensile_strength,
            found.tensile_strength,
            TOLERANCE.tensile_strength,
        ),
        (
            "the compressive strength",
            asked.compressive_strength,
            found.compressive_strength,
            TOLERANCE.compressive_strength,
        ),
    ];
    for (name, asked, found, allowed) in strengths {
        if let (Some(asked), Some(allowed)) = (asked, allowed) {
            relative(name, asked, found.unwrap_or(f64::NAN), allowed);
        }
    }
    let off = found.poisson - asked.poisson;
    if off.abs().partial_cmp(&TOLERANCE.poisson) != Some(std::cmp::Ordering::Less) {
        out.push(format!("Poisson's ratio differs by {off:+.3}"));
    }
    out
}
