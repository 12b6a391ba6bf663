//! The pipeline file: what a shot is, in SI units once read.
//!
//! The structs are the file's schema: [`read`] fills them from TOML, `store.json` keeps them, `cullet schema` prints them.
//! [`read`] and [`parse`] take units, check ranges, names and contradictions; the structs' own `Deserialize` is for `store.json`
//! and takes plain SI numbers as [`read`] left them.

mod body;
mod check;
mod collider;
mod conform;
mod document;
mod error;
mod implicit;
mod material;
mod mend;
mod output;
mod overrides;
mod pose;
mod quantity;
mod schema;
mod settings;
pub mod source;
mod time;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use body::{
    Body, BodyShape, COUNTED, Fill, Grains, MassModel, PackingSpec, Rotation, TWISTED, Weave,
};
pub use collider::{Action, Attachment, Collider, ColliderShape, Key};
pub use error::{Fault, Place, SpecError, SpecErrors};
pub use implicit::{Friction, Implicit, Preconditioner};
pub use material::{Criterion, DEFAULT_POISSON, Elasticity, Grain, Material, MaterialPair};
pub use output::{Compression, FrameGroup, Output, PrecisionBits};
pub use pose::Drive;
pub use schema::json_schema;
pub use settings::{
    Backend, Camera, ContactLaw, Export, ExportFormat, Gpu, Integrator, Law, Precision, Preview,
    Reconstruct, ReconstructMode, Section, Simulate, Up,
};
pub use source::{Resolved, parse, read};
pub use time::{Region, Time, World};

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
    /// What the file says two materials have in common, by their names.
    pub fn pair(&self, a: &str, b: &str) -> Option<&MaterialPair> {
        self.pairs.iter().find(|pair| {
            let [x, y] = [&pair.materials[0], &pair.materials[1]];
            (x == a && y == b) || (x == b && y == a)
        })
    }
}
