//! A whole pipeline file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::body::{Body, PackingSpec};
use super::collider::{Attachment, Collider};
use super::material::{Material, MaterialPair, joins};
use super::output::Output;
use super::settings::{Export, MethodChoice, MethodName, Preview, Reconstruct, Simulate};
use super::stress::Stress;
use super::time::{Time, World};

/// A shot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pipeline {
    /// How long the shot is.
    pub time: Time,
    /// What acts on everything.
    #[serde(default)]
    pub world: World,
    /// What bodies are made of.
    #[serde(default, rename = "material")]
    pub materials: Vec<Material>,
    /// What pairs of materials have in common.
    #[serde(default, rename = "pair")]
    pub pairs: Vec<MaterialPair>,
    /// What breaks; at least one.
    #[serde(default, rename = "body")]
    pub bodies: Vec<Body>,
    /// Obstacles.
    #[serde(default, rename = "collider")]
    pub colliders: Vec<Collider>,
    /// What holds, drives or loads bodies.
    #[serde(default, rename = "attach")]
    pub attachments: Vec<Attachment>,
    /// Time integration.
    #[serde(default)]
    pub simulate: Simulate,
    /// Stress by boundary elements, which `run` computes after the simulation where this table is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Stress")]
    pub stress: Option<Stress>,
    /// What simulate writes.
    #[serde(default)]
    pub output: Output,
    /// Surfaces from elements.
    #[serde(default)]
    pub reconstruct: Reconstruct,
    /// Meshes for renderers.
    #[serde(default)]
    pub export: Export,
    /// Pictures without a renderer.
    #[serde(default)]
    pub preview: Preview,
}

impl Pipeline {
    /// The method of time integration that the settings and packings come to.
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

    /// Whether there are frames and surfaces to be made: all but where nothing moves and nothing may crack.
    pub fn has_frames(&self) -> bool {
        let cracks = self
            .stress
            .as_ref()
            .is_some_and(|stress| stress.fracture.is_some());
        !self.is_static() || cracks
    }

    /// Gives bodies without a packing one where they may crack: cracks break bonds.
    pub(super) fn pack_what_cracks(&mut self) {
        let Some(fracture) = self.stress.as_ref().and_then(|one| one.fracture.as_ref()) else {
            return;
        };
        let bare = (self.bodies.iter_mut()).filter(|body| body.packing == PackingSpec::None {});
        bare.for_each(|body| body.packing = fracture.packing());
    }

    /// What the file says two materials have in common, by their names.
    pub fn pair(&self, a: &str, b: &str) -> Option<&MaterialPair> {
        self.pairs.iter().find(|pair| joins(&pair.materials, a, b))
    }
}
