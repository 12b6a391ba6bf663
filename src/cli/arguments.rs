//! Command-line arguments of the stages.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::error::WrongUse;
use crate::spec::{
    Backend, EventRate, ExportFormat, Playback, Up, UsdFile, is_shutter, is_standard_input,
};
use crate::units;

#[derive(Debug, clap::Args)]
pub struct PackArguments {
    /// Pipeline file; - for standard input.
    pub pipeline: PathBuf,
    /// Frame store; created if absent.
    #[arg(long, value_name = "FOLDER")]
    pub out: PathBuf,
    /// Override a value: dotted path, entries by name or index.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub struct RunArguments {
    /// Pipeline file; - for standard input.
    pub pipeline: PathBuf,
    /// Frame store; default: out/NAME in the current folder.
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// First stage to run; it and the later ones run even if nothing changed. Default: each stage runs that is
    /// not up to date.
    #[arg(long, value_name = "STAGE")]
    pub from: Option<PipelineStage>,
    /// Last stage to run.
    #[arg(long, value_name = "STAGE", default_value = "preview")]
    pub to: PipelineStage,
    /// Run every stage, whether anything changed or not.
    #[arg(long)]
    pub force: bool,
    /// Continue a simulation that was stopped; the packing is kept.
    #[arg(long)]
    pub resume: bool,
    /// Continue from the state of this frame; later frames are removed.
    #[arg(long, value_name = "FRAME")]
    pub state: Option<u32>,
    /// Continue in a new store, which begins with the state (the newest, or --state) and may have other physics.
    #[arg(long, value_name = "NEW_DIR")]
    pub branch: Option<PathBuf>,
    /// Override a value: dotted path, entries by name or index.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub struct SimulateArguments {
    /// Frame store with a packing.
    pub store: PathBuf,
    /// Continue from the newest state.
    #[arg(long)]
    pub resume: bool,
    /// Continue from the state of this frame; later frames are removed.
    #[arg(long, value_name = "FRAME")]
    pub state: Option<u32>,
    /// Continue in a new store, which begins with the state (the newest, or --state).
    #[arg(long, value_name = "NEW_DIR")]
    pub branch: Option<PathBuf>,
    /// Where to compute.
    #[arg(long)]
    pub backend: Option<Backend>,
    /// Part of a graphics adapter's name, as `cullet adapters` lists it; with it the backend is gpu.
    #[arg(long, value_name = "NAME")]
    pub adapter: Option<String>,
    /// End with the last whole frame up to this time instead of the pipeline's: with a unit ("20 ms"), or s.
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
}

#[derive(Debug, clap::Args)]
pub struct StressArguments {
    /// Frame store with a packing, or a pipeline file (- for standard input), whose bodies are packed first if
    /// necessary.
    pub target: PathBuf,
    /// Use the loads that these frames of a simulation recorded, not those of the pipeline: A..B, A..=B, A-B or
    /// one frame A.
    #[arg(long, value_name = "RANGE", value_parser = frame_range)]
    pub frames: Option<Range<u32>>,
    /// Frame store of a pipeline file; default: out/NAME in the current folder.
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Override a value of the pipeline file: dotted path, entries by name or index.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub struct FramesArguments {
    /// Frame store.
    pub store: PathBuf,
    /// Frames A..B (without B; either may be left out), A..=B or A-B (with B), or one frame A.
    #[arg(long, value_name = "RANGE", value_parser = frame_range, default_value = "..")]
    pub frames: Range<u32>,
}

#[derive(Debug, clap::Args)]
pub struct ExportArguments {
    /// Frame store.
    pub store: PathBuf,
    /// Format.
    #[arg(long)]
    pub format: ExportFormat,
    /// Frames A..B (without B; either may be left out), A..=B or A-B (with B), or one frame A.
    #[arg(long, value_name = "RANGE", value_parser = frame_range, default_value = "..")]
    pub frames: Range<u32>,
    /// Kind of USD files; default: that of the extension of --to, else export.usd.
    #[arg(long)]
    pub usd: Option<UsdFile>,
    /// Whether animated glTF is compressed, by extensions that a reader must know; default: export.compress.
    #[arg(long)]
    pub compress: Option<bool>,
    /// Axis that points up in the files (in glTF and Alembic always y, in VTK that of the shot); default: export.up,
    /// else opposite to the shot's gravity.
    #[arg(long)]
    pub up: Option<Up>,
    /// Length units of the files per metre: 100 for centimetres (VTK files are in metres); default: export.scale.
    #[arg(long, value_name = "NUMBER", value_parser = scale)]
    pub scale: Option<f64>,
    /// Rate at which hosts play the frames, 1/s, or `event` for the rate of the simulated time; default:
    /// export.playback.
    #[arg(long, value_name = "RATE", value_parser = playback)]
    pub playback: Option<Playback>,
    /// Times, in frames relative to each frame, at which a shutter opens and closes (-0.25,0.25): USD and
    /// Alembic files then hold the points of fragments that bend at those times too; default: export.shutter.
    #[arg(long, value_name = "OPEN,CLOSE", value_parser = shutter, allow_hyphen_values = true)]
    pub shutter: Option<Shutter>,
    /// Fragments smaller than this at rest become instances of a few shapes in USD files: with a unit ("4 mm"),
    /// or m; default: export.debris_size.
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    pub debris_size: Option<f64>,
    #[command(flatten)]
    pub detail: DetailArguments,
    /// Target file or folder; default: inside the store.
    #[arg(long, value_name = "PATH")]
    pub to: Option<PathBuf>,
}

/// How detailed exported surfaces are; default: export.detail.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct DetailArguments {
    /// Most triangles of all fragments in any frame; the largest error is the same for all fragments. With --error or
    /// --pixels as well, an export that needs more is refused.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(4..))]
    pub triangles: Option<u32>,
    /// Largest distance between exported and full surfaces: with a unit ("0.1 mm"), or m.
    #[arg(long, value_name = "LENGTH", value_parser = length, conflicts_with_all = ["pixels", "eye"])]
    pub error: Option<f64>,
    /// The same distance in pixels of a picture by the camera of export.detail, else of preview, or at --eye.
    #[arg(long, value_name = "COUNT", value_parser = pixels)]
    pub pixels: Option<f64>,
    /// Height of that picture, pixels; default: export.detail.height, 1080.
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(16..=65536))]
    pub picture_height: Option<u32>,
    /// Position of the camera, m, as X,Y,Z. With --triangles, errors are then equal in pixels.
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true, requires = "fov")]
    pub eye: Option<Point>,
    /// Vertical angle of view of the camera at --eye: with a unit ("36 deg"), or rad.
    #[arg(long, value_name = "ANGLE", value_parser = view_angle, requires = "eye")]
    pub fov: Option<f64>,
}

/// The stages of a pipeline in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum PipelineStage {
    Pack,
    Simulate,
    Stress,
    Reconstruct,
    Export,
    Preview,
}

/// Frame store of a pipeline file for which `--out` names none: out/NAME in the current folder.
pub fn default_store(pipeline: &Path) -> Result<PathBuf, WrongUse> {
    if is_standard_input(pipeline) {
        let what = "--out is missing: a pipeline from standard input has no name to derive it from";
        return Err(WrongUse(what.to_owned()));
    }
    Ok(Path::new("out").join(pipeline.file_stem().unwrap_or_default()))
}

fn scale(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(scale) if (1e-6..=1e6).contains(&scale) => Ok(scale),
        _ => Err(format!("{text} is not a number from 1e-6 to 1e6")),
    }
}

fn length(text: &str) -> Result<f64, String> {
    match units::parse(text, units::Dimension::Length) {
        Ok(length) if length > 0.0 => Ok(length),
        Ok(_) => Err(format!("{text} is not greater than 0")),
        Err(error) => Err(error.to_string()),
    }
}

fn pixels(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(pixels) if f64::is_finite(pixels) && pixels > 0.0 => Ok(pixels),
        _ => Err(format!("{text} is not a number above 0")),
    }
}

/// A point, m.
pub type Point = [f64; 3];

fn point(text: &str) -> Result<Point, String> {
    let length = |part: &str| units::parse(part.trim(), units::Dimension::Length).ok();
    let parts: Option<Vec<f64>> = text.split(',').map(length).collect();
    match parts.as_deref() {
        Some(&[x, y, z]) => Ok([x, y, z]),
        _ => Err("expected three lengths, for example 0,0.2,1.5".to_owned()),
    }
}

fn view_angle(text: &str) -> Result<f64, String> {
    match units::parse(text, units::Dimension::Angle) {
        Ok(angle) if angle > 0.0 && angle < std::f64::consts::PI => Ok(angle),
        Ok(_) => Err(format!("{text} is not between 0 and 180 degrees")),
        Err(error) => Err(error.to_string()),
    }
}

fn playback(text: &str) -> Result<Playback, String> {
    if text == "event" {
        return Ok(Playback::Event(EventRate::Event));
    }
    match units::parse(text, units::Dimension::Rate) {
        Ok(rate) if rate > 0.0 => Ok(Playback::Rate(rate)),
        Ok(_) => Err(format!("{text} is not greater than 0")),
        Err(error) => Err(format!("{error}, or event")),
    }
}

/// Times at which a shutter opens and closes, in frames relative to each frame.
pub type Shutter = [f64; 2];

fn shutter(text: &str) -> Result<Shutter, String> {
    let ends: Option<Vec<f64>> = text.split(',').map(|end| end.trim().parse().ok()).collect();
    match ends.as_deref() {
        Some(&[open, close]) if is_shutter([open, close]) => Ok([open, close]),
        _ => Err(
            "expected two ascending numbers from -0.5 to 0.5, for example -0.25,0.25".to_owned(),
        ),
    }
}

/// Message that explains the forms of `--frames`.
const EXPECTED_FRAMES: &str = "expected A..B (without B), A..=B or A-B (with B) or one frame A, for example 0..10, 5.., 0..=9, 0-9 or 9";

/// Parses the range of frames of `--frames`.
pub fn frame_range(text: &str) -> Result<Range<u32>, String> {
    let number = |part: &str| -> Result<u32, String> {
        let wrong = |_| match part {
            "" => EXPECTED_FRAMES.to_owned(),
            _ => format!("{part:?} is not a frame number; {EXPECTED_FRAMES}"),
        };
        part.parse().map_err(wrong)
    };
    let first = |part: &str| if part.is_empty() { Ok(0) } else { number(part) };
    let (from, last) = if let Some((from, last)) = text.split_once("..=") {
        (first(from)?, number(last)?)
    } else if let Some((from, "")) = text.split_once("..") {
        return Ok(first(from)?..u32::MAX);
    } else if let Some((from, to)) = text.split_once("..") {
        let (from, to) = (first(from)?, number(to)?);
        if from == to {
            return Err(format!(
                "{text} contains no frame, as B is excluded; {from}..={to} contains one"
            ));
        }
        (from, to.saturating_sub(1))
    } else if let Some((from, last)) = text.split_once('-') {
        (number(from)?, number(last)?)
    } else {
        let frame = number(text)?;
        (frame, frame)
    };
    if last < from {
        return Err(format!("{text} ends before it begins"));
    }
    Ok(from..last.saturating_add(1))
}
