//! What bodies are made of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::{
    NonNegativeNumber, Number, PoissonRatio, PositiveDensity, PositiveNumber, PositivePressure,
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
    /// The criterion of Zhang et al. 2024: as `tension`, with 4/3 of the shear force's stress, as in the
    /// middle of a round rod.
    Rod,
    /// Rankine: the largest principal stress of the material about a face beyond the tensile strength; bodies
    /// of cells only.
    Rankine,
}

/// Stiffness and strength that depend on the direction of a bond, as of wood (Lu 2021, eq. 30): factors 1 + λ
/// (d_g·d_b)⁴, d_g the direction of the grain, d_b that of the bond.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grain {
    /// Direction in the frame of the body's shape, of any length but zero.
    #[schemars(with = "[Number; 3]")]
    pub direction: [f64; 3],
    /// λ of the moduli: along the grain bonds are 1 + λ times as stiff as across it.
    #[schemars(with = "NonNegativeNumber")]
    pub stiffness: f64,
    /// λ of both strengths; absent: that of the moduli.
    #[serde(default)]
    #[schemars(with = "NonNegativeNumber")]
    pub strength: Option<f64>,
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
    /// Poisson's ratio, at most 0.25, of cells below 0.5, `elasticity = "material"` only; default 0.2.
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
    /// Hydrostatic strength, Pa: an element whose mean stress passes it loses all its bonds; absent: none does.
    #[serde(default)]
    #[schemars(with = "PositivePressure")]
    pub hydrostatic_strength: Option<f64>,
    /// Direction that bonds are stiffest and strongest along; moduli and strengths are then those across it.
    /// Absent: all directions alike.
    #[serde(default)]
    #[schemars(with = "Grain")]
    pub grain: Option<Grain>,
    /// Viscous damping of bonds, ratio of critical.
    #[serde(default = "damping")]
    #[schemars(with = "NonNegativeNumber")]
    pub damping: f64,
    /// Friction coefficient.
    #[serde(default = "half")]
    #[schemars(with = "NonNegativeNumber")]
    pub friction: f64,
    /// Rolling friction coefficient: contacts resist rolling by moments up to so many times radius and normal force.
    #[serde(default)]
    #[schemars(with = "NonNegativeNumber")]
    pub rolling_friction: f64,
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

impl Material {
    /// Poisson's ratio, as given, by `shear`, or the default.
    pub fn poisson_ratio(&self) -> f64 {
        let by_shear = |shear: f64| self.young / (2.0 * shear) - 1.0;
        let given = self.poisson.or(self.shear.map(by_shear));
        given.unwrap_or(DEFAULT_POISSON)
    }
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

/// What two materials have in common, where it is not to follow from theirs: of contacts between them, and of
/// the bonds that join them in a mixture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaterialPair {
    /// Names of two `[[material]]`s, or twice the same.
    pub materials: [String; 2],
    /// Friction coefficient; absent: the smaller of both.
    #[serde(default)]
    #[schemars(with = "NonNegativeNumber")]
    pub friction: Option<f64>,
    /// Rolling friction coefficient; absent: the smaller of both.
    #[serde(default)]
    #[schemars(with = "NonNegativeNumber")]
    pub rolling_friction: Option<f64>,
    /// Normal damping of contacts, ratio of critical; absent: the larger of both.
    #[serde(default)]
    #[schemars(with = "NonNegativeNumber")]
    pub contact_damping: Option<f64>,
    /// Young's modulus of contacts, Pa; absent: both in series.
    #[serde(default)]
    #[schemars(with = "PositivePressure")]
    pub contact_young: Option<f64>,
    /// Moduli of the bonds between them over those of both in series; default 1.
    #[serde(default = "one")]
    #[schemars(with = "PositiveNumber")]
    pub bond_stiffness: f64,
    /// Strengths of the bonds between them over the smaller of both; default 1.
    #[serde(default = "one")]
    #[schemars(with = "PositiveNumber")]
    pub bond_strength: f64,
}

fn one() -> f64 {
    1.0
}

/// Whether a pair is of these two materials, in either order.
pub fn joins(pair: &[String; 2], a: &str, b: &str) -> bool {
    let [x, y] = pair;
    (x == a && y == b) || (x == b && y == a)
}
