//! Materials of bodies, and properties of pairs of materials.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::{
    Fraction, NonNegativeNumber, Number, PoissonRatio, PositiveDensity, PositiveLength,
    PositiveNumber, PositivePressure, PositiveToughness,
};

/// Poisson's ratio of a material without the key `poisson`, with `elasticity = "material"`.
pub const DEFAULT_POISSON: f64 = 0.2;

/// What `young`, `poisson` and `shear` describe, the solid or its bonds: a packing has other moduli than its bonds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Elasticity {
    /// `young` and `poisson` describe the solid, and bonds are calibrated to give it these moduli.
    #[default]
    Material,
    /// `young` and `shear` describe the bonds themselves, as in the papers.
    Bond,
}

/// What `tensile_strength` and `shear_strength` describe, the solid or its bonds: a packing has other strengths than
/// its bonds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// They are the solid's, and the bonds of `hexagonal` and `random` packings are calibrated so that a bar breaks at
    /// `tensile_strength`. Requires `elasticity = "material"`.
    Material,
    /// They are those of the bonds themselves, as in the papers.
    Bond,
}

/// Criterion by which a bond breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// A bond breaks if its tensile or shear stress exceeds the strength, never by compression.
    #[default]
    Tension,
    /// The criterion of Lu et al. 2021, which counts compression too.
    Lu2021,
    /// The criterion of Zhang et al. 2024: as `tension`, with 4/3 of the mean shear stress, as in the middle of
    /// a round rod.
    Rod,
    /// A bond or face breaks if the largest principal stress of the solid around it exceeds the tensile
    /// strength, or its own shear stress the shear strength. Bonds of shells and yarns, and faces of walls of one
    /// layer, break as with `tension`.
    Rankine,
}

/// Stiffness and strength that depend on the direction, as in wood. Those of bonds are multiplied by 1 + λ (d_g·d_b)⁴,
/// with the directions d_g of the grain and d_b of the bond (Lu 2021, eq. 30). Bonds of hexagonal and random packings
/// have the λ that the solid needs, unless `elasticity` and `strength` are `"bond"`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grain {
    /// Direction of the grain in the frame of the body's shape, with which it turns; any length except zero.
    #[schemars(with = "[Number; 3]")]
    pub direction: [f64; 3],
    /// λ of the moduli: Young's modulus along the grain is 1 + λ times that across it. With `elasticity = "bond"`, and
    /// in shells, yarns and cells, bonds along the grain are 1 + λ times as stiff as bonds across it.
    #[schemars(with = "NonNegativeNumber")]
    pub stiffness: f64,
    /// λ of both strengths: the tensile strength along the grain is 1 + λ times that across it. With `strength =
    /// "bond"`, and in shells, yarns and cells, bonds along the grain are 1 + λ times as strong as bonds across it.
    /// Absent: `stiffness`.
    #[serde(default)]
    #[schemars(with = "NonNegativeNumber")]
    pub strength: Option<f64>,
}

/// A material.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Material {
    /// Name of the material, by which bodies refer to it.
    pub name: String,
    /// Density of the material, kg/m³.
    #[schemars(with = "PositiveDensity")]
    pub density: f64,
    /// Young's modulus, Pa.
    #[schemars(with = "PositivePressure")]
    pub young: f64,
    /// Poisson's ratio, with `elasticity = "material"` only: at most 0.25, the largest that bonds can give; for
    /// bodies of cells above -1 and below 0.5. Absent: 0.2.
    #[serde(default)]
    #[schemars(with = "PoissonRatio")]
    pub poisson: Option<f64>,
    /// Shear modulus of the bonds, Pa; required with `elasticity = "bond"`, not allowed otherwise.
    #[serde(default)]
    #[schemars(with = "PositivePressure")]
    pub shear: Option<f64>,
    /// Whether `young`, `poisson` and `shear` describe the solid or its bonds.
    #[serde(default)]
    pub elasticity: Elasticity,
    /// Whether `tensile_strength` and `shear_strength` are those of the solid or of its bonds; absent: the
    /// same as `elasticity`.
    #[serde(default)]
    #[schemars(with = "Strength")]
    pub strength: Option<Strength>,
    /// Criterion by which bonds break.
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
    /// Fracture toughness K_IC, Pa √m: a bond that has reached its strength softens, so that the
    /// energy of a crack hardly depends on the size of the elements; bonded elements only. Absent: bonds break at once.
    #[serde(default)]
    #[schemars(with = "PositiveToughness")]
    pub toughness: Option<f64>,
    /// Weibull modulus by which both strengths scatter from bond to bond: the smaller, the more; absent: no
    /// scatter.
    #[serde(default)]
    #[schemars(with = "PositiveNumber")]
    pub weibull_modulus: Option<f64>,
    /// Edge of a cube, m: a body of its volume has the strength entered, on average; needs `weibull_length`. Larger
    /// bodies are weaker, smaller ones stronger. Absent: the strength is the mean at a point.
    #[serde(default)]
    #[schemars(with = "PositiveLength")]
    pub weibull_size: Option<f64>,
    /// Correlation length of the strengths, m, at least four elements wide: they are drawn by place in the body,
    /// tensile and shear strength each from a field of its own, so that packings of other elements have the same weak
    /// places. Absent: bonds are drawn one by one.
    #[serde(default)]
    #[schemars(with = "PositiveLength")]
    pub weibull_length: Option<f64>,
    /// Hydrostatic strength, Pa: an element whose mean stress exceeds it loses all its bonds; absent: none does.
    #[serde(default)]
    #[schemars(with = "PositivePressure")]
    pub hydrostatic_strength: Option<f64>,
    /// Grain of the material, along which it is stiffest and strongest; moduli and strengths of the material are then
    /// those across it. Absent: all directions are alike.
    #[serde(default)]
    #[schemars(with = "Grain")]
    pub grain: Option<Grain>,
    /// Viscous damping of bonds, as a ratio of critical damping.
    #[serde(default = "default_damping")]
    #[schemars(with = "NonNegativeNumber")]
    pub damping: f64,
    /// Friction coefficient of contacts.
    #[serde(default = "half")]
    #[schemars(with = "NonNegativeNumber")]
    pub friction: f64,
    /// Coefficient of static friction, at least `friction`: a contact holds up to static_friction × normal force, then
    /// slides with `friction` until it sticks again. Absent: as `friction`.
    #[serde(default)]
    #[schemars(with = "NonNegativeNumber")]
    pub static_friction: Option<f64>,
    /// Rolling friction coefficient μ_r: contacts resist rolling by moments of up to μ_r × radius × normal force.
    #[serde(default)]
    #[schemars(with = "NonNegativeNumber")]
    pub rolling_friction: f64,
    /// Normal damping of contacts, as a ratio of critical damping.
    #[serde(default = "default_contact_damping")]
    #[schemars(with = "NonNegativeNumber")]
    pub contact_damping: f64,
    /// Coefficient of restitution of contacts, rebound speed over approach speed of two single elements, from which
    /// their damping follows in place of `contact_damping`. Absent: `contact_damping` applies. Neither for barrier
    /// contacts nor for cells in contact as polyhedra.
    #[serde(default)]
    #[schemars(with = "Fraction")]
    pub restitution: Option<f64>,
    /// Ratio of tangential to normal stiffness of contacts.
    #[serde(default = "half")]
    #[schemars(with = "PositiveNumber")]
    pub contact_shear_ratio: f64,
    /// Young's modulus of contacts, Pa; absent: `young`.
    #[serde(default)]
    #[schemars(with = "PositivePressure")]
    pub contact_young: Option<f64>,
}

impl Material {
    /// Poisson's ratio as given, else from `young` and `shear`, else the default.
    pub fn poisson_ratio(&self) -> f64 {
        let by_shear = |shear: f64| self.young / (2.0 * shear) - 1.0;
        let given = self.poisson.or(self.shear.map(by_shear));
        given.unwrap_or(DEFAULT_POISSON)
    }

    /// Whether bonds can break by their own load.
    pub fn has_strength(&self) -> bool {
        self.tensile_strength.or(self.shear_strength).is_some()
    }

    /// Coefficient of static friction, as given, else that of friction.
    pub fn static_friction(&self) -> f64 {
        self.static_friction.unwrap_or(self.friction)
    }

    /// What the strengths describe, as given, else what the moduli do.
    pub fn strength(&self) -> Strength {
        self.strength.unwrap_or(match self.elasticity {
            Elasticity::Material => Strength::Material,
            Elasticity::Bond => Strength::Bond,
        })
    }
}

fn default_damping() -> f64 {
    0.02
}

fn default_contact_damping() -> f64 {
    0.2
}

fn half() -> f64 {
    0.5
}

/// Properties of the contacts and bonds between two materials, in place of those that follow from the two.
/// Without an entry, bonds between two materials have their moduli in series, the smaller strengths, the weaker
/// criterion and the mean of both dampings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaterialPair {
    /// Names of two `[[material]]` entries, or the same name twice.
    pub materials: [String; 2],
    /// Friction coefficient of contacts; absent: the smaller of the two materials'.
    #[serde(default)]
    #[schemars(with = "NonNegativeNumber")]
    pub friction: Option<f64>,
    /// Coefficient of static friction of contacts, at least that of `friction`; absent: `friction` if it is given here,
    /// else the smaller of the two materials'.
    #[serde(default)]
    #[schemars(with = "NonNegativeNumber")]
    pub static_friction: Option<f64>,
    /// Rolling friction coefficient of contacts; absent: the smaller of the two materials'.
    #[serde(default)]
    #[schemars(with = "NonNegativeNumber")]
    pub rolling_friction: Option<f64>,
    /// Normal damping of contacts, as a ratio of critical damping; absent: the larger of the two materials'.
    #[serde(default)]
    #[schemars(with = "NonNegativeNumber")]
    pub contact_damping: Option<f64>,
    /// Coefficient of restitution of contacts, in place of `contact_damping`. Neither for barrier contacts nor for
    /// cells in contact as polyhedra.
    #[serde(default)]
    #[schemars(with = "Fraction")]
    pub restitution: Option<f64>,
    /// Young's modulus of contacts, Pa; absent: the two materials' moduli in series.
    #[serde(default)]
    #[schemars(with = "PositivePressure")]
    pub contact_young: Option<f64>,
    /// Factor on the moduli of bonds between the two materials, which are otherwise in series.
    #[serde(default = "one")]
    #[schemars(with = "PositiveNumber")]
    pub bond_stiffness: f64,
    /// Factor on the strengths of bonds between the two materials, which are otherwise the smaller of both.
    #[serde(default = "one")]
    #[schemars(with = "PositiveNumber")]
    pub bond_strength: f64,
}

fn one() -> f64 {
    1.0
}

/// Whether a pair names these two materials, in either order.
pub fn is_pair_of(pair: &[String; 2], a: &str, b: &str) -> bool {
    let [x, y] = pair;
    (x == a && y == b) || (x == b && y == a)
}
