//! The pipeline file, which describes a shot; once read, all values are in SI units.
//!
//! The structs are the file's schema: [`read`] fills them from TOML, `store.json` keeps them, `cullet schema`
//! prints them. [`read`] and [`parse`] accept units and check ranges, names and contradictions; the structs' own
//! `Deserialize` is for `store.json` and accepts SI numbers only.

mod body;
mod check;
mod collider;
mod conform;
mod detail;
mod document;
mod each;
mod error;
mod export;
mod implicit;
mod keys;
mod material;
mod mesh_file;
mod output;
mod overrides;
mod pipeline;
mod pose;
mod preview;
mod quantity;
mod replacements;
mod schema;
mod settings;
mod sleep;
pub mod source;
mod stress;
mod time;

pub use body::{
    Body, BodyShape, Crack, Grains, MassModel, NEEDS_CUBIC_PACKING, NEEDS_ROWS, PackingSpec,
    ROPE_NEEDS_AXIS, Rotation, Weave,
};
pub use collider::{Action, Attachment, Collider, ColliderShape, Key, Signal};
pub use detail::Detail;
pub use error::{SourceLocation, SpecError, SpecErrors, SpecFault};
pub use export::{EventRate, Export, ExportFormat, Playback, Up, UsdFile, is_shutter};
pub use implicit::{Friction, Implicit, Preconditioner};
pub use keys::keys_page;
pub use material::{
    Criterion, DEFAULT_POISSON, Elasticity, Grain, Material, MaterialPair, Strength, is_pair_of,
};
pub use mesh_file::{Fill, MeshUnit, ThicknessSide};
pub use output::{Compression, FrameGroup, Output, PrecisionBits};
pub use pipeline::Pipeline;
pub use pose::PrescribedMotion;
pub use preview::{Camera, ElementColour, Preview, Section};
pub use schema::json_schema;
pub use settings::{
    Backend, CellContact, ContactLaw, Gpu, Integrator, Law, MethodChoice, MethodName, Precision,
    Reconstruct, ReconstructMode, Simulate,
};
pub use sleep::SleepLimits;
pub use source::{ResolvedPipeline, is_standard_input, parse, read};
pub use stress::{CrackCriterion, Fracture, Stress};
pub use time::{Axis, Region, Side, Time, World};
