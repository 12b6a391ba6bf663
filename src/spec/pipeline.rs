//! The pipeline file as a whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::body::{Body, PackingSpec};
use super::collider::{Attachment, Collider};
use super::export::Export;
use super::material::{Material, MaterialPair, Strength, is_pair_of};
use super::output::Output;
use super::preview::Preview;
use super::settings::{MethodChoice, MethodName, Reconstruct, Simulate};
use super::stress::Stress;
use super::time::{Time, World};
use crate::laws::softening::{self, CrackRule};

/// A shot: everything that a pipeline file describes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pipeline {
    /// Simulated time, its frames and steps.
    pub time: Time,
    /// Gravity and bounds of the world.
    #[serde(default)]
    pub world: World,
    /// Materials of the bodies.
    #[serde(default, rename = "material")]
    pub materials: Vec<Material>,
    /// Properties of contacts and bonds between two materials.
    #[serde(default, rename = "pair")]
    pub pairs: Vec<MaterialPair>,
    /// Bodies of the shot, at least one.
    #[serde(default, rename = "body")]
    pub bodies: Vec<Body>,
    /// Solids that push elements and are not pushed themselves.
    #[serde(default, rename = "collider")]
    pub colliders: Vec<Collider>,
    /// Attachments, which hold, drive or load elements of bodies.
    #[serde(default, rename = "attach")]
    pub attachments: Vec<Attachment>,
    /// Settings of the time integration.
    #[serde(default)]
    pub simulate: Simulate,
    /// Stress by boundary elements, which `run` computes after the simulation; absent: it is not computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Stress")]
    pub stress: Option<Stress>,
    /// Settings of what `simulate` writes.
    #[serde(default)]
    pub output: Output,
    /// Settings of the surfaces of fragments.
    #[serde(default)]
    pub reconstruct: Reconstruct,
    /// Settings of exports to renderers.
    #[serde(default)]
    pub export: Export,
    /// Settings of preview pictures, which need no renderer.
    #[serde(default)]
    pub preview: Preview,
}

impl Pipeline {
    /// The method of time integration that follows from the settings and packings.
    pub fn method(&self) -> MethodName {
        let cells = self.bodies.iter().any(|body| body.packing.is_of_cells());
        let by_packing = match cells {
            true => MethodChoice::Voronoi,
            false => MethodChoice::Bonds,
        };
        match self.simulate.method.unwrap_or(by_packing) {
            MethodChoice::Voronoi => MethodName::Voronoi,
            MethodChoice::Bonds | MethodChoice::Bem => self.simulate.integrator.method(),
        }
    }

    /// Whether nothing moves in time: `run` computes stress by boundary elements instead of a simulation.
    pub fn is_static(&self) -> bool {
        self.simulate.method == Some(MethodChoice::Bem)
    }

    /// Whether the shot has frames and surfaces: it does unless nothing moves and nothing may crack.
    pub fn has_frames(&self) -> bool {
        let cracks = self
            .stress
            .as_ref()
            .is_some_and(|stress| stress.fracture.is_some());
        !self.is_static() || cracks
    }

    /// If bodies may crack, gives those without a packing one, as cracks break bonds.
    pub(super) fn add_packings_for_cracks(&mut self) {
        let Some(fracture) = self.stress.as_ref().and_then(|one| one.fracture.as_ref()) else {
            return;
        };
        let bare = (self.bodies.iter_mut()).filter(|body| body.packing == PackingSpec::None {});
        bare.for_each(|body| body.packing = fracture.packing());
    }

    /// The material of a body; none if the pipeline lacks it, which is refused where pipelines are read.
    pub fn material_of(&self, body: &Body) -> Option<&Material> {
        self.materials.iter().find(|one| one.name == body.material)
    }

    /// How much energy cracks take in the body of this number. Bonds of hexagonal and random packings are calibrated
    /// to the toughness of the solid where they are to its strength.
    pub fn crack_rule(&self, body: usize) -> CrackRule {
        let body = self.bodies.get(body);
        let calibrated = body.and_then(|body| {
            let material = self.material_of(body)?;
            (material.strength() == Strength::Material).then_some((&body.packing, material))
        });
        let (excess, by_strength) = match calibrated {
            Some((PackingSpec::Hexagonal { .. }, _)) => (softening::LATTICE, true),
            Some((PackingSpec::Random { .. }, material)) => {
                (softening::random(material.poisson_ratio()), false)
            }
            _ => (1.0, true),
        };
        CrackRule {
            excess,
            by_strength,
        }
    }

    /// The `[[pair]]` entry of two materials, by their names.
    pub fn pair(&self, a: &str, b: &str) -> Option<&MaterialPair> {
        self.pairs
            .iter()
            .find(|pair| is_pair_of(&pair.materials, a, b))
    }
}
