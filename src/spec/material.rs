//! What bodies are made of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::{
    NonNegativeNumber, PoissonRatio, PositiveDensity, PositiveNumber, PositivePressure,
};

/// Poisson's ratio of a material that gives none (`elasticity = "material"`).
pub const DEFAULT_POISSON: f64 = 0.2;

/// Whose moduli `young`, `poisson` and `shear` are: a packing of bonds is stiffer than its bonds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Elasticity {
    /// Of the solid: bonds get the moduli that make the packing behave so. Takes `poisson` up to 0.25.
    #[default]
    Material,
    /// Of the bonds themselves, as in the papers. Needs `shear`.
    Bond,
}

/// When a bond breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// Tension or shear beyond the strength; compression never breaks.
    #[default]
    Tension,
    /// The criterion of Lu et al. 2021.
    Lu2021,
}

/// A material.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Material {
    /// What bodies call it.
    pub name: String,
    /// Density, kg/m³.
    #[schemars(with = "PositiveDensity")]
    pub density: f64,
    /// Young's modulus, Pa.
    #[schemars(with = "PositivePressure")]
    pub young: f64,
    /// Poisson's ratio, at most 0.25, `elasticity = "material"` only; default 0.2.
    #[serde(default)]
    #[schemars(with = "PoissonRatio")]
    pub poisson: Option<f64>,
    /// Shear modulus, Pa; `elasticity = "bond"` only.
    #[serde(default)]
    #[schemars(with = "PositivePressure")]
    pub shear: Option<f64>,
    /// Whose moduli these are.
    #[serde(default)]
    pub elasticity: Elasticity,
    /// When a bond breaks.
    #[serde(default)]
    pub criterion: Criterion,
    /// Tensile strength, Pa; absent: bonds do not break by tension.
    #[serde(default)]
    #[schemars(with = "PositivePressure")]
    pub tensile_strength: Option<f64>,
    /// Shear strength, Pa; absent: bonds do not break by shear.
    #[serde(default)]
    #[schemars(with = "PositivePressure")]
    pub shear_strength: Option<f64>,
    /// Weibull modulus of both strengths: the smaller, the more they scatter; absent: no scatter.
    #[serde(default)]
    #[schemars(with = "PositiveNumber")]
    pub weibull_modulus: Option<f64>,
    /// Viscous damping of bonds, ratio of critical.
    #[serde(default = "damping")]
    #[schemars(with = "NonNegativeNumber")]
    pub damping: f64,
    /// Friction coefficient.
    #[serde(default = "half")]
    #[schemars(with = "NonNegativeNumber")]
    pub friction: f64,
    /// Normal damping of contacts, ratio of critical.
    #[serde(default = "contact_damping")]
    #[schemars(with = "NonNegativeNumber")]
    pub contact_damping: f64,
    /// Tangential over normal contact stiffness.
    #[serde(default = "half")]
    #[schemars(with = "PositiveNumber")]
    pub contact_shear_ratio: f64,
    /// Young's modulus of contacts, Pa; absent: `young`.
    #[serde(default)]
    #[schemars(with = "PositivePressure")]
    pub contact_young: Option<f64>,
}

fn damping() -> f64 {
    0.02
}

fn contact_damping() -> f64 {
    0.2
}

fn half() -> f64 {
    0.5
}
