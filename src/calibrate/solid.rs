//! A solid by its moduli, strengths and toughness.

use std::fmt;

use crate::units::show::quantity;

/// Relative errors of Young's modulus, of strengths and of the toughness from which on another round is made, and the
/// error of Poisson's ratio.
const TOLERANCE: Solid = Solid {
    young: 0.01,
    poisson: 0.005,
    tensile_strength: Some(0.01),
    compressive_strength: Some(0.03),
    toughness: Some(0.03),
};

/// Moduli, strengths and toughness of a solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solid {
    /// Young's modulus, Pa.
    pub young: f64,
    /// Poisson's ratio.
    pub poisson: f64,
    /// Tensile strength, Pa.
    pub tensile_strength: Option<f64>,
    /// Compressive strength of a prism whose ends are clamped, Pa.
    pub compressive_strength: Option<f64>,
    /// K at which a sharp crack grows, Pa √m.
    pub toughness: Option<f64>,
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
        match self.toughness {
            Some(value) => write!(f, ", toughness {}", quantity(value, "Pa √m")),
            None => Ok(()),
        }
    }
}

/// A line for each value that was found farther from what was asked for than allowed.
pub fn misses(asked: &Solid, found: &Solid) -> Vec<String> {
    let mut out = Vec::new();
    let mut relative = |name: &str, asked: f64, found: f64, allowed: f64| {
        let off = found / asked - 1.0;
        // NaN counts as a miss.
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
        (
            "the toughness",
            asked.toughness,
            found.toughness,
            TOLERANCE.toughness,
        ),
    ];
    for (name, asked, found, allowed) in strengths {
        // What could not be found is reported by the tests.
        if let (Some(asked), Some(found), Some(allowed)) = (asked, found, allowed) {
            relative(name, asked, found, allowed);
        }
    }
    let off = found.poisson - asked.poisson;
    if off.abs().partial_cmp(&TOLERANCE.poisson) != Some(std::cmp::Ordering::Less) {
        out.push(format!("Poisson's ratio differs by {off:+.3}"));
    }
    out
}
