//! Settings of exports to renderers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::detail::Detail;
use super::quantity::{Number, PlaybackRate, PositiveLength, PositiveNumber};

/// File format of an export.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    /// Universal Scene Description: the surfaces of all frames.
    Usd,
    /// Universal Scene Description: the elements as spheres.
    #[value(alias = "usd_elements")]
    UsdElements,
    /// glTF 2.0, binary: the last frame.
    Glb,
    /// glTF 2.0, binary: all frames.
    #[value(alias = "glb_animated")]
    GlbAnimated,
    /// Alembic: the surfaces of all frames.
    Alembic,
    /// Wavefront OBJ.
    Obj,
    /// Stanford PLY.
    Ply,
    /// VTK XML files, for ParaView: elements, bonds, breaks and surfaces.
    Vtk,
}

/// Kind of USD files.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum UsdFile {
    /// Binary: smaller, and faster to read.
    #[default]
    Usdc,
    /// Text.
    Usda,
    /// A package with a binary file, as phones show it.
    Usdz,
}

impl UsdFile {
    /// Extension of its files.
    pub fn extension(self) -> &'static str {
        match self {
            UsdFile::Usdc => "usdc",
            UsdFile::Usda => "usda",
            UsdFile::Usdz => "usdz",
        }
    }
}

/// Axis that points up.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum Up {
    /// The y axis.
    Y,
    /// The z axis.
    Z,
}

impl Up {
    /// Name in the pipeline file.
    pub fn name(self) -> &'static str {
        match self {
            Up::Y => "y",
            Up::Z => "z",
        }
    }
}

/// Settings of exports to renderers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Export {
    /// Formats that are written.
    pub formats: Vec<ExportFormat>,
    /// Kind of USD files.
    pub usd: UsdFile,
    /// Whether animated glTF is compressed (`EXT_meshopt_compression`, `KHR_mesh_quantization`). Without it, files are
    /// several times as large, and readers need no extension.
    pub compress: bool,
    /// Axis that points up in the files; absent: that of the shot, opposite to gravity. In glTF and Alembic it is
    /// always y, in VTK always that of the shot.
    #[schemars(with = "Up")]
    pub up: Option<Up>,
    /// Length units of the files per metre: 100 for centimetres. VTK files are always in metres.
    #[schemars(with = "PositiveNumber")]
    pub scale: f64,
    /// Rate at which hosts play the frames, 1/s; `"event"`: the rate of the simulated time, `time.frames_per_second`.
    #[schemars(with = "PlaybackRate")]
    pub playback: Playback,
    /// Times, in frames relative to each frame, at which a shutter opens and closes, within ±0.5, such as
    /// [-0.25, 0.25]. USD and Alembic files then hold the points of fragments that bend at those times too. Absent:
    /// at the frames only.
    #[schemars(with = "[Number; 2]")]
    pub shutter: Option<[f64; 2]>,
    /// Fragments whose bounding box at rest has a shorter diagonal than this, m, become debris in USD files:
    /// instances of a few shapes. Absent: there is no debris.
    #[schemars(with = "PositiveLength")]
    pub debris_size: Option<f64>,
    /// How detailed surfaces are. Absent: they have all their triangles.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Detail")]
    pub detail: Option<Detail>,
}
impl Default for Export {
    fn default() -> Self {
        Export {
            formats: vec![ExportFormat::Usd, ExportFormat::Glb],
            usd: UsdFile::default(),
            compress: true,
            up: None,
            scale: 1.0,
            playback: Playback::default(),
            shutter: None,
            debris_size: None,
            detail: None,
        }
    }
}

/// Whether a shutter opens before it closes, both within half a frame.
pub fn is_shutter([open, close]: [f64; 2]) -> bool {
    -0.5 <= open && open < close && close <= 0.5
}

/// Rate at which a host plays frames.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Playback {
    /// Frames per second.
    Rate(f64),
    /// The rate of the simulated event: a second of playback is a second of the simulation.
    Event(EventRate),
}

/// The word for the rate of the simulated event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventRate {
    /// `event`.
    Event,
}

impl Default for Playback {
    /// The rate of film.
    fn default() -> Self {
        Playback::Rate(24.0)
    }
}

impl Playback {
    /// Frames per second of playback for an event of `event` frames per second.
    pub fn rate(self, event: f64) -> f64 {
        match self {
            Playback::Rate(rate) => rate,
            Playback::Event(EventRate::Event) => event,
        }
    }
}
