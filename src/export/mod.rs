//! Surfaces of a shot in formats that renderers read, USD, glTF (still or animated), OBJ and PLY, and all of
//! it in those of VTK.
//!
//! USD, PLY and VTK show tables of stress too, with or without frames. OBJ, PLY and still glTF are made from
//! `meshes/` and `store.json` of a store alone. USD and animated glTF also read masses, radii and frames,
//! where they are there, for the motion between frames. The formats of elements and VTK need frames. A format
//! is one file or folder here, its name in [`ExportFormat`] and its line in [`entry_of`].

mod birth;
mod course;
mod epochs;
mod error;
mod flight;
mod format;
mod gltf;
mod job;
mod key;
mod moment;
mod names;
mod obj;
mod path;
mod ply;
mod rigid;
mod sequence;
mod space;
mod spool;
mod stress;
mod stretch;
mod text;
mod track;
mod turning;
mod usd;
mod vtk;

#[cfg(test)]
mod fixture;

use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::spec::{ExportFormat, FrameGroup, Playback, Up, is_shutter};
use crate::store::{Manifest, Store};
use format::{Axes, Needs};
use job::Job;
use names::Names;
use space::Space;

pub use error::ExportError;
pub use format::{ExportSummary, Format, Stiffened};

/// What a format of the pipeline file is.
pub fn entry_of(format: ExportFormat) -> &'static Format {
    match format {
        ExportFormat::Usd => &usd::FORMAT,
        ExportFormat::UsdElements => &usd::elements::FORMAT,
        ExportFormat::Glb => &gltf::still::FORMAT,
        ExportFormat::GlbAnimated => &gltf::animated::FORMAT,
        ExportFormat::Obj => &obj::FORMAT,
        ExportFormat::Ply => &ply::FORMAT,
        ExportFormat::Vtk => &vtk::FORMAT,
    }
}

/// Every format there is.
pub fn formats() -> impl Iterator<Item = &'static Format> {
    ExportFormat::value_variants()
        .iter()
        .map(|&format| entry_of(format))
}

/// Whether a format shows tables of stress.
pub fn takes_stress(format: ExportFormat) -> bool {
    stress::writer(format).is_some()
}

/// What of a shot is exported, and how.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// Frames.
    pub frames: Range<u32>,
    /// Frames a second of the event; a rate that is not above 0 is an error.
    pub fps: f64,
    /// How fast a host plays them; a rate that is not above 0 is an error.
    pub playback: Playback,
    /// In USD, when a shutter opens and closes, in frames about each frame: fragments that bend have points
    /// at those times too; absent: none. Times that are not in order or beyond half a frame are an error.
    pub shutter: Option<[f64; 2]>,
    /// Up in the files; absent: as in the shot. glTF's is y, VTK's is the shot's.
    pub up: Option<Up>,
    /// Units of the files in a metre; one that is not above 0 is an error. VTK's are metres.
    pub scale: f64,
    /// Fragments below this size at rest, m, are instances of a few shapes in USD; absent: none is. One that
    /// is not above 0 is an error.
    pub debris: Option<f64>,
    /// The file where it ends in the format's extension, else a folder; absent: `exports/` of the store.
    pub to: Option<&'a Path>,
}

/// Writes those frames that exist; `on_frame` hears (done, of how many).
pub fn run(
    store: &Store,
    format: ExportFormat,
    options: &Options,
    on_frame: &mut dyn FnMut(usize, usize),
) -> Result<ExportSummary, ExportError> {
    let (frames, fps) = (options.frames.clone(), options.fps);
    let playback = options.playback.rate(fps);
    for fps in [fps, playback] {
        if !(fps.is_finite() && fps > 0.0) {
            return Err(ExportError::FrameRate { fps });
        }
    }
    let scale = options.scale;
    if !(scale.is_finite() && scale > 0.0) {
        return Err(ExportError::Scale { scale });
    }
    if let Some([open, close]) = options.shutter
        && !is_shutter([open, close])
    {
        return Err(ExportError::Shutter { open, close });
    }
    let debris = options.debris;
    if let Some(size) = debris.filter(|size| !(size.is_finite() && *size > 0.0)) {
        return Err(ExportError::Debris { size });
    }
    let format = entry_of(format);
    let numbers = match format.needs {
        Needs::Surfaces => {
            let mut numbers = store.numbers("meshes", "rkyv")?;
            numbers.retain(|number| frames.contains(number));
            numbers
        }
        Needs::Frames => store.frames(&frames)?,
    };
    // What tables of stress there are, where the format takes them.
    let writer = stress::writer(format.format);
    let mut tables = store.numbers("stress", "parquet")?;
    tables.retain(|number| writer.is_some() && frames.contains(number));
    if numbers.is_empty() && tables.is_empty() {
        return Err(match format.needs {
            Needs::Surfaces => ExportError::NoSurfaces {
                path: store.path("meshes"),
                frames,
            },
            Needs::Frames => ExportError::NoFrames {
                path: store.path("frames"),
                frames,
            },
        });
    }
    let manifest = Manifest::read(store)?;
    let pipeline = manifest.pipeline.as_ref();
    let left_out = match format.needs {
        Needs::Surfaces => Vec::new(),
        Needs::Frames => left_out(store, &numbers)?,
    };
    let names = Names::new(store, pipeline);
    let mut space = Space::of_shot(pipeline);
    match format.space {
        Axes::Chosen => space.up = options.up.unwrap_or(space.shot),
        Axes::YUp => space.up = Up::Y,
        Axes::OfShot => {}
    }
    if format.space != Axes::OfShot {
        space.scale = scale;
    }
    let job = Job {
        store,
        frames: numbers,
        fps,
        playback,
        shutter: options.shutter,
        debris: debris.map(|size| size * space.scale),
        space,
        target: target(store, format, &names, options.to),
        names,
        left_out,
    };
    let mut summary = match job.frames.is_empty() {
        true => ExportSummary::default(),
        false => (format.write)(&job, on_frame)?,
    };
    if let Some(write) = writer {
        for number in tables {
            let written = write(&job, &stress::Solids::read(store, number)?)?;
            summary.files.extend(written.files);
            summary.bytes += written.bytes;
        }
    }
    Ok(summary)
}

/// The groups of columns that some frame lacks.
fn left_out(store: &Store, frames: &[u32]) -> Result<Vec<FrameGroup>, ExportError> {
    let mut everywhere = FrameGroup::ALL.to_vec();
    for &frame in frames {
        let there = store.frame_groups(frame)?;
        everywhere.retain(|group| there.contains(group));
    }
    let all = FrameGroup::ALL.into_iter();
    Ok(all.filter(|group| !everywhere.contains(group)).collect())
}

fn target(store: &Store, format: &Format, names: &Names, to: Option<&Path>) -> PathBuf {
    let extension = Path::new(format.extension).extension();
    let extension = extension.unwrap_or(format.extension.as_ref());
    let file = format!("{}.{}", names.shot(), format.extension);
    match (to, format.single) {
        (None, true) => store.path("exports").join(file),
        (None, false) => store.path("exports").join(format.name),
        (Some(path), true) if path.extension().is_none_or(|e| e != extension) => path.join(file),
        (Some(path), _) => path.to_owned(),
    }
}

#[cfg(test)]
mod tests;
