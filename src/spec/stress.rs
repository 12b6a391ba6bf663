//! Stress by boundary elements.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::body::PackingSpec;
use super::quantity::{Accuracy, NonNegativeLength, NonNegativeTime, PositiveLength};

/// What `cullet stress` computes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Stress {
    /// Edge length of the triangles, m; absent: the surface as it is where its triangles are even, else about 3000 triangles a body.
    #[schemars(with = "PositiveLength")]
    pub size: Option<f64>,
    /// Time of the loads and of what clamps prescribe, s; absent: the end of the shot.
    #[schemars(with = "NonNegativeTime")]
    pub time: Option<f64>,
    /// Relative error of the fast multipole method, which bodies of many triangles take: 1e-8 to 1e-3.
    #[schemars(with = "Accuracy")]
    pub accuracy: Option<f64>,
    /// Lets bodies crack; absent: they stay whole. With `simulate.method = "bem"`.
    #[schemars(with = "Fracture")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fracture: Option<Fracture>,
}

/// What drives a crack on once it has begun, by boundary elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CrackCriterion {
    /// The stress ahead of its rim over the strength, or the energy that it sets free over what it takes (Griffith).
    #[default]
    Energy,
    /// The stress ahead of its rim alone (Rankine).
    Stress,
}

/// How cracks grow by boundary elements.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fracture {
    /// How far a crack's rim advances in a step at most, m; absent: as far as the triangles are long.
    #[schemars(with = "PositiveLength")]
    pub step: Option<f64>,
    /// What drives a crack on once it has begun.
    pub criterion: CrackCriterion,
    /// Whether a crack that comes to rest inside is torn on, as its momentum would: loads at rest say nothing of that.
    pub tears: bool,
    /// Cracks of a body and its pieces at most; absent: 100. With 1 the load falls away once it has cracked the body, as that of a testing machine does.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cracks: Option<u32>,
    /// How far pieces are moved from the middle of their body, to be told apart, m.
    #[schemars(with = "NonNegativeLength")]
    pub apart: f64,
    /// Radius of the elements of bodies whose packing is `none`: a hexagonal packing is made for them, whose bonds the cracks break, m; absent: about 5000
    /// elements a body.
    #[schemars(with = "PositiveLength")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
}

impl Fracture {
    /// Elements of a body without a packing unless their radius is given.
    const ELEMENTS: u32 = 5000;

    /// Packing of bodies that have none.
    pub fn packing(&self) -> PackingSpec {
        PackingSpec::Hexagonal {
            radius: self.radius,
            elements: self.radius.is_none().then_some(Self::ELEMENTS),
        }
    }
}

impl Stress {
    /// Relative error of the fast multipole method unless it is given.
    const ACCURACY: f64 = 1e-4;

    /// Relative error of the fast multipole method.
    pub fn accuracy(&self) -> f64 {
        self.accuracy.unwrap_or(Self::ACCURACY)
    }
}
