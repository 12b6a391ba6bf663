//! `cullet calibrate`: finds what to enter for a material so that a packing is the solid asked for.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::error::WrongUse;
use super::print::print;
use super::progress::ProgressReporter;
use crate::calibrate::{AXES, Curve, Options, Report, Round, Solid, calibrate};
use crate::spec;
use crate::units::show::quantity;
use crate::units::{self, Dimension};

#[derive(Debug, clap::Args)]
pub struct CalibrateArguments {
    /// Pipeline file; - for standard input.
    pipeline: PathBuf,
    /// Folder for the values found, the curves and a chart; created if absent.
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// Body whose packing and material are tested; default: the only one.
    #[arg(long, value_name = "NAME")]
    body: Option<String>,
    /// Elements across a specimen.
    #[arg(long, value_name = "N", default_value_t = 12.0, value_parser = across)]
    across: f64,
    /// Young's modulus that the solid shall have, with a unit ("2 GPa"), or Pa; default: `young` of the material.
    #[arg(long, value_name = "STRESS", value_parser = pressure)]
    young: Option<f64>,
    /// Poisson's ratio that the solid shall have; default: that of the material.
    #[arg(long, value_name = "NUMBER", value_parser = poisson, allow_negative_numbers = true)]
    poisson: Option<f64>,
    /// Tensile strength that the solid shall have; default: `tensile_strength` of the material.
    #[arg(long, value_name = "STRESS", value_parser = pressure)]
    tensile_strength: Option<f64>,
    /// Compressive strength that the solid shall have; if absent, no prisms are crushed and the shear strength keeps
    /// its ratio to the tensile one.
    #[arg(long, value_name = "STRESS", value_parser = pressure)]
    compressive_strength: Option<f64>,
    /// Toughness K_IC that the solid shall have, with a unit ("0.3 MPa √m"), or Pa √m; default: `toughness` of the
    /// material. Without one no strips are torn.
    #[arg(long, value_name = "TOUGHNESS", value_parser = toughness)]
    toughness: Option<f64>,
    /// Override a value: dotted path, entries by name or index.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
}

fn pressure(text: &str) -> Result<f64, String> {
    above_zero(text, Dimension::Pressure)
}

fn toughness(text: &str) -> Result<f64, String> {
    above_zero(text, Dimension::Toughness)
}

fn above_zero(text: &str, dimension: Dimension) -> Result<f64, String> {
    match units::parse(text, dimension) {
        Ok(value) if value > 0.0 => Ok(value),
        Ok(_) => Err("it must be above 0".into()),
        Err(error) => Err(error.to_string()),
    }
}

fn poisson(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (-0.9..=0.49).contains(&value) => Ok(value),
        _ => Err("it must be a number from -0.9 to 0.49".into()),
    }
}

fn across(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (4.0..=64.0).contains(&value) => Ok(value),
        _ => Err("it must be a number from 4 to 64".into()),
    }
}

/// A folder that is removed again unless it is kept, if it was not there before.
struct NewFolder<'a> {
    path: &'a Path,
    is_new: bool,
}

impl<'a> NewFolder<'a> {
    /// Makes the folder; one that is there must be empty.
    fn make(path: &'a Path) -> Result<Self, WrongUse> {
        let wrong = |what: String| WrongUse(format!("--out {}: {what}", path.display()));
        let is_new = !path.exists();
        std::fs::create_dir_all(path).map_err(|error| wrong(error.to_string()))?;
        let mut entries = std::fs::read_dir(path).map_err(|error| wrong(error.to_string()))?;
        match entries.next() {
            Some(_) => Err(wrong(
                "the folder is not empty; choose an empty or new one".into(),
            )),
            None => Ok(NewFolder { path, is_new }),
        }
    }

    fn keep(mut self) {
        self.is_new = false;
    }
}

impl Drop for NewFolder<'_> {
    fn drop(&mut self) {
        if self.is_new {
            // Fails if files were written, which stay.
            let _ = std::fs::remove_dir(self.path);
        }
    }
}

/// Calibrates the material of a body and writes what was found.
pub fn run(
    arguments: &CalibrateArguments,
    report: &ProgressReporter,
    as_json: bool,
) -> anyhow::Result<()> {
    let resolved = spec::read(&arguments.pipeline, &arguments.set)?;
    let folder = NewFolder::make(&arguments.out)?;
    let options = Options {
        body: arguments.body.clone(),
        across: arguments.across,
        young: arguments.young,
        poisson: arguments.poisson,
        tensile_strength: arguments.tensile_strength,
        compressive_strength: arguments.compressive_strength,
        toughness: arguments.toughness,
    };
    let mut number = 0;
    let found = calibrate(&resolved.pipeline, &resolved.folder, &options, |round| {
        number += 1;
        report.note(&format!("round {number}: {}", round.tests.solid()));
    })?;
    let files = found.write(&arguments.out)?;
    folder.keep();
    if as_json {
        let mut out = summary(&found);
        out["files"] = json!(files);
        return print(&out.to_string());
    }
    let mut lines = vec![format!("asked               {}", found.asked)];
    lines.extend(table(found.last()));
    for miss in found.misses() {
        lines.push(format!("not reached         {miss}"));
    }
    for (at, key) in found.keys().lines().enumerate() {
        let name = if at == 0 { "enter" } else { "" };
        lines.push(format!("{name:<19} {key}"));
    }
    lines.push(format!("files               {}", arguments.out.display()));
    print(&lines.join("\n"))
}

/// What the tests of a round found: their means, and each axis.
fn table(round: &Round) -> Vec<String> {
    let tests = &round.tests;
    let each = |curves: &[Curve], value: &dyn Fn(&Curve) -> String| {
        let values = curves.iter().zip(AXES);
        let values = values.map(|(curve, axis)| format!("{axis} {}", value(curve)));
        values.collect::<Vec<_>>().join(", ")
    };
    let mut lines = vec![
        format!("found               {}", tests.solid()),
        format!(
            "{:<19} E along {}",
            "",
            each(&tests.bars, &|curve| quantity(curve.moduli().0, "Pa"))
        ),
    ];
    let strengths = [
        ("tensile", tests.breaks, &tests.bars),
        ("compressive", !tests.prisms.is_empty(), &tests.prisms),
    ];
    for (name, _, curves) in strengths.iter().filter(|one| one.1) {
        let strengths = each(curves, &|curve| quantity(curve.strength(), "Pa"));
        lines.push(format!("{:<19} {name} strength along {strengths}", ""));
    }
    if !tests.strips.is_empty() {
        let found = tests.strips.iter().zip(AXES);
        let found = found.filter_map(|(strip, axis)| {
            Some(format!("{axis} {}", quantity(strip.toughness?, "Pa √m")))
        });
        let found = found.collect::<Vec<_>>().join(", ");
        lines.push(format!("{:<19} toughness along {found}", ""));
    }
    lines
}

fn summary(report: &Report) -> Value {
    let solid = |solid: &Solid| {
        json!({
            "young": solid.young,
            "poisson": solid.poisson,
            "tensile_strength": solid.tensile_strength,
            "compressive_strength": solid.compressive_strength,
            "toughness": solid.toughness,
        })
    };
    let entered = &report.last().entered;
    json!({
        "body": report.body,
        "material": entered.name,
        "across": report.across,
        "rounds": report.rounds.len(),
        "asked": solid(&report.asked),
        "found": solid(&report.last().tests.solid()),
        "not_reached": report.misses(),
        "enter": {
            "young": entered.young,
            "poisson": entered.poisson,
            "shear": entered.shear,
            "tensile_strength": entered.tensile_strength,
            "shear_strength": entered.shear_strength,
            "toughness": entered.toughness,
        },
    })
}
