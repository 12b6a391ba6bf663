//! Stress by boundary elements.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::body::PackingSpec;
use super::quantity::{Accuracy, NonNegativeLength, NonNegativeTime, PositiveLength};

/// What `cullet stress` computes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Stress {
    /// Edge length of the triangles, m; absent: the surface as it is where its triangles are even, else about
    /// 3000 triangles for each body.
    #[schemars(with = "PositiveLength")]
    pub size: Option<f64>,
    /// Time of the loads and of the prescribed motion of clamps, s; absent: the end of the shot.
    #[schemars(with = "NonNegativeTime")]
    pub time: Option<f64>,
    /// Relative error of the fast multipole method, which is used for bodies of many triangles: 1e-8 to 1e-3.
    #[schemars(with = "Accuracy")]
    pub accuracy: Option<f64>,
    /// Lets bodies crack; absent: they stay whole. Only with `simulate.method = "bem"`.
    #[schemars(with = "Fracture")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fracture: Option<Fracture>,
}

/// What makes a crack grow once it has begun, by boundary elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CrackCriterion {
    /// The stress ahead of its rim exceeds the strength, or the energy that it releases exceeds the energy
    /// that it takes (Griffith).
    #[default]
    Energy,
    /// The stress ahead of its rim exceeds the strength (Rankine).
    Stress,
}

/// How cracks grow by boundary elements.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fracture {
    /// How far a crack's rim advances in one step at most, m; absent: the edge length of the triangles.
    #[schemars(with = "PositiveLength")]
    pub step: Option<f64>,
    /// What makes a crack grow once it has begun.
    pub criterion: CrackCriterion,
    /// Whether a crack that comes to rest inside the body is made to run on, as its momentum would make it;
    /// static loads cannot decide that.
    pub tears: bool,
    /// Largest number of cracks of a body and its pieces; absent: 100. With 1 the load drops to zero once it
    /// has cracked the body, as that of a testing machine does.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cracks: Option<u32>,
    /// How far pieces are moved away from the centre of their body so that they can be distinguished, m.
    #[schemars(with = "NonNegativeLength")]
    pub apart: f64,
    /// Radius of the elements of bodies whose packing is `none`: a hexagonal packing is made for them, whose
    /// bonds the cracks break, m; absent: about 5000 elements for each body.
    #[schemars(with = "PositiveLength")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
}

impl Fracture {
    /// Approximate number of elements of a body without a packing, if their radius is not given.
    const ELEMENTS: u32 = 5000;

    /// Packing that fracture makes for bodies whose packing is `none`.
    pub fn packing(&self) -> PackingSpec {
        PackingSpec::Hexagonal {
            radius: self.radius,
            elements: self.radius.is_none().then_some(Self::ELEMENTS),
        }
    }
}

impl Stress {
    /// Relative error of the fast multipole method, if it is not given.
    const ACCURACY: f64 = 1e-4;

    /// Relative error of the fast multipole method.
    pub fn accuracy(&self) -> f64 {
        self.accuracy.unwrap_or(Self::ACCURACY)
    }
}
