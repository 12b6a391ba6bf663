//! What a calibration found: the values to enter, the curves of all tests, a chart of the last round.

use std::path::{Path, PathBuf};

use super::error::CalibrateError;
use super::solid::{Solid, misses};
use super::specimen::Curve;
use super::strip::Torn;
use crate::columns::Bars;
use crate::plot::{self, Axis, AxisUnit, COLOURS, ChartFormat, Figure, Panel, Series};
use crate::spec::{Elasticity, Material};
use crate::store::{atomic, parquet};

/// Names of the axes.
pub const AXES: [&str; 3] = ["x", "y", "z"];

/// Result of a calibration.
#[derive(Clone, Debug)]
pub struct Report {
    /// Name of the body.
    pub body: String,
    /// Elements across a specimen.
    pub across: f64,
    /// The solid asked for.
    pub asked: Solid,
    /// All rounds; the last is the result.
    pub rounds: Vec<Round>,
}

/// A round of tests.
#[derive(Clone, Debug)]
pub struct Round {
    /// The material as it was entered.
    pub entered: Material,
    /// What was measured.
    pub tests: Tests,
}

/// Curves of a round.
#[derive(Clone, Debug)]
pub struct Tests {
    /// Bars pulled along x, y and z.
    pub bars: Vec<Curve>,
    /// Prisms crushed along x, y and z; none if their strength was not asked for.
    pub prisms: Vec<Curve>,
    /// Strips torn along x, y and z; none if toughness was not asked for.
    pub strips: Vec<Torn>,
    /// Whether the bars can break.
    pub breaks: bool,
}

impl Tests {
    /// Means over the axes.
    pub fn solid(&self) -> Solid {
        let moduli: Vec<(f64, f64)> = self.bars.iter().map(Curve::moduli).collect();
        let strength = |curves: &[Curve]| mean(curves.iter().map(Curve::strength));
        Solid {
            young: mean(moduli.iter().map(|one| one.0)),
            poisson: mean(moduli.iter().map(|one| one.1)),
            tensile_strength: self.breaks.then(|| strength(&self.bars)),
            compressive_strength: (!self.prisms.is_empty()).then(|| strength(&self.prisms)),
            toughness: {
                let torn = self.strips.iter().map(|strip| strip.toughness);
                let torn: Option<Vec<f64>> = torn.collect();
                let torn = torn.filter(|all| !all.is_empty());
                torn.map(|all| mean(all.into_iter()))
            },
        }
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

impl Report {
    /// The last round.
    pub fn last(&self) -> &Round {
        self.rounds.last().expect("a round at least")
    }

    /// A line for each target that was not reached.
    pub fn misses(&self) -> Vec<String> {
        let last = self.last();
        let mut out = misses(&self.asked, &last.tests.solid());
        let whole = |curves: &[Curve]| curves.iter().any(|curve| !curve.is_broken());
        if last.tests.breaks && whole(&last.tests.bars) {
            out.push("a bar did not break".into());
        }
        if whole(&last.tests.prisms) {
            out.push("a prism was not crushed".into());
        }
        if last
            .tests
            .strips
            .iter()
            .any(|strip| strip.toughness.is_none())
        {
            out.push("the crack of a strip did not run, or the strip broke elsewhere".into());
        }
        out
    }

    /// The keys to enter in the `[[material]]` of the pipeline, as TOML.
    pub fn keys(&self) -> String {
        let entered = &self.last().entered;
        let mut text = format!("young = {:.3e}\n", entered.young);
        match entered.elasticity {
            Elasticity::Material => text += &format!("poisson = {:.4}\n", entered.poisson_ratio()),
            Elasticity::Bond => {
                let shear = entered.shear.unwrap_or_default();
                text += &format!("shear = {shear:.3e}\n");
            }
        }
        let strengths = [
            ("tensile_strength", entered.tensile_strength),
            ("shear_strength", entered.shear_strength),
            ("toughness", entered.toughness),
        ];
        for (key, value) in strengths {
            if let Some(value) = value {
                text += &format!("{key} = {value:.3e}\n");
            }
        }
        text
    }

    /// Writes `material.toml`, `bars.parquet`, `bars.svg` and `bars.png` to a folder; returns their paths.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>, CalibrateError> {
        let bars = folder.join("bars.parquet");
        parquet::write(&bars, &self.table())?;
        let charts = plot::write(&self.figure(), &ChartFormat::ALL, folder, "bars")?;
        let material = folder.join("material.toml");
        let text = format!(
            "# Keys to enter in the material {:?} for body {:?}.\n# Specimens {} elements across then had: {}.\n{}",
            self.last().entered.name,
            self.body,
            self.across,
            self.last().tests.solid(),
            self.keys()
        );
        atomic::write_bytes(&material, text.as_bytes())?;
        Ok([bars].into_iter().chain(charts).chain([material]).collect())
    }

    /// The curves of all rounds.
    fn table(&self) -> Bars {
        let mut table = Bars::default();
        for (number, round) in (1..).zip(&self.rounds) {
            let tests = [
                ("tension", &round.tests.bars),
                ("compression", &round.tests.prisms),
            ];
            for (test, curves) in tests {
                for (axis, curve) in AXES.iter().zip(curves) {
                    for k in 0..curve.stress.len() {
                        table.round.push(number);
                        table.test.push(test.into());
                        table.axis.push((*axis).into());
                        table.along.push(curve.along[k]);
                        table.across.push(curve.across[k]);
                        table.stress.push(curve.stress[k]);
                    }
                }
            }
        }
        table
    }

    /// Stress over strain of the last round, pulled and crushed.
    fn figure(&self) -> Figure {
        let axis = |name, unit| Axis {
            name,
            unit,
            log: false,
        };
        let tests = &self.last().tests;
        let panel = |name: &'static str, curves: &[Curve], sign: f64| {
            let curves = curves.iter().zip(AXES).zip(&COLOURS[1..]);
            let series = curves.map(|((curve, name), &colour)| Series {
                name: name.into(),
                points: curve
                    .along
                    .iter()
                    .zip(&curve.stress)
                    .map(|(strain, stress)| [sign * 100.0 * strain, sign * stress])
                    .collect(),
                colour,
                dashed: false,
            });
            Panel {
                x: Some(axis("strain", AxisUnit::Per("in %"))),
                y: axis(name, AxisUnit::Si("Pa")),
                series: series.collect(),
            }
        };
        let mut panels = vec![panel("tension", &tests.bars, 1.0)];
        if !tests.prisms.is_empty() {
            panels.push(panel("compression", &tests.prisms, -1.0));
        }
        Figure {
            title: format!("{}: specimens along x, y and z", self.last().entered.name),
            x: axis("strain", AxisUnit::Per("in %")),
            panels,
        }
    }
}
