//! Export of a shot to the file formats of renderers and viewers.
//!
//! USD, Alembic, glTF (still or animated), OBJ and PLY hold the surfaces; VTK holds surfaces, elements, bonds and
//! breaks. USD, PLY and VTK also hold stress tables, with or without frames.
//!
//! OBJ, PLY and still glTF are made from `meshes/` and `store.json` of a store alone. USD, Alembic and animated glTF
//! also read masses, radii and frames, if the store has them, for the motion between frames. USD of elements
//! and VTK need frames. To add a format, add one file or folder here, its name in [`ExportFormat`] and its
//! line in [`entry_of`].

mod alembic;
mod birth;
mod detail;
mod epochs;
mod error;
mod format;
mod fragment_motion;
mod frame_interval;
mod free_rotation;
mod full_frame;
mod gltf;
mod job;
mod keyframe;
mod layer;
mod materials;
mod names;
mod obj;
mod ply;
mod point_path;
mod rest_arrays;
mod rigid_state;
mod rigid_transform;
mod sequence;
mod shape_hash;
mod space;
mod spool;
mod stress;
mod surface_arrays;
mod text;
mod track;
mod trajectory;
mod usd;
mod vtk;

#[cfg(test)]
mod fixture;

use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::spec::{ExportFormat, FrameGroup, Playback, Up, UsdFile, is_shutter};
use crate::store::{Manifest, Store};
use detail::Reduction;
use format::{Axes, RequiredTables};
use job::ExportJob;
use names::ShotNames;
use space::FileCoordinates;

pub use detail::{DetailLimits, DetailSummary, DetailView};
pub use error::ExportError;
pub use format::{ExportSummary, FormatEntry, Stiffened};

/// The entry of a format: its names, its requirements and its writer.
pub fn entry_of(format: ExportFormat) -> &'static FormatEntry {
    match format {
        ExportFormat::Usd => &usd::FORMAT,
        ExportFormat::UsdElements => &usd::elements::FORMAT,
        ExportFormat::Glb => &gltf::still::FORMAT,
        ExportFormat::GlbAnimated => &gltf::animated::FORMAT,
        ExportFormat::Obj => &obj::FORMAT,
        ExportFormat::Ply => &ply::FORMAT,
        ExportFormat::Alembic => &alembic::FORMAT,
        ExportFormat::Vtk => &vtk::FORMAT,
    }
}

/// The entries of all formats.
pub fn formats() -> impl Iterator<Item = &'static FormatEntry> {
    ExportFormat::value_variants()
        .iter()
        .map(|&format| entry_of(format))
}

/// Whether a format can hold stress tables.
pub fn supports_stress(format: ExportFormat) -> bool {
    stress::writer(format).is_some()
}

/// Which frames of a shot are exported, and how.
#[derive(Clone, Debug)]
pub struct ExportOptions<'a> {
    /// Range of frames to export; frames that the store lacks are skipped.
    pub frames: Range<u32>,
    /// Frames recorded per second of the event; must be above 0.
    pub fps: f64,
    /// Rate at which a host plays the frames; must be above 0.
    pub playback: Playback,
    /// Times at which the shutter opens and closes, in frames relative to each frame. In USD and Alembic, fragments
    /// that bend then have points at those times too. `None`: points in frames only. Both times must be in order
    /// and within half a frame.
    pub shutter: Option<[f64; 2]>,
    /// Kind of USD files, unless the extension of `to` says it.
    pub usd: UsdFile,
    /// Whether animated glTF is compressed, by extensions that a reader must know.
    pub compress: bool,
    /// Up axis of the files; `None`: that of the shot. glTF and Alembic always have y up, VTK that of the shot.
    pub up: Option<Up>,
    /// Units of length of the files per metre; must be above 0. VTK files are always in metres.
    pub scale: f64,
    /// Size at rest, m, below which USD shows fragments as instances of a few shapes; `None`: it shows all
    /// fragments as they are. Must be above 0.
    pub debris: Option<f64>,
    /// What limits the triangles of surfaces; `None`: they have all of them.
    pub detail: Option<DetailLimits>,
    /// Target: a file if the path ends in the format's extension, else a folder; `None`: `exports/` in the
    /// store.
    pub to: Option<&'a Path>,
}

impl ExportOptions<'_> {
    /// Refuses numbers out of their range.
    fn check(&self) -> Result<(), ExportError> {
        for fps in [self.fps, self.playback.rate(self.fps)] {
            if !(fps.is_finite() && fps > 0.0) {
                return Err(ExportError::FrameRate { fps });
            }
        }
        let scale = self.scale;
        if !(scale.is_finite() && scale > 0.0) {
            return Err(ExportError::Scale { scale });
        }
        if let Some([open, close]) = self.shutter
            && !is_shutter([open, close])
        {
            return Err(ExportError::Shutter { open, close });
        }
        let debris = self.debris;
        if let Some(size) = debris.filter(|size| !(size.is_finite() && *size > 0.0)) {
            return Err(ExportError::Debris { size });
        }
        if let Some(value) = self.detail.and_then(|limits| limits.fault()) {
            return Err(ExportError::Detail { value });
        }
        Ok(())
    }
}

/// Exports the frames that exist; `on_frame` is called with (frames done, frames in all).
pub fn run(
    store: &Store,
    format: ExportFormat,
    options: &ExportOptions,
    on_frame: &mut dyn FnMut(usize, usize),
) -> Result<ExportSummary, ExportError> {
    prepare(store, format, options)?.write(on_frame)
}

/// An export whose options stand: nothing is written yet.
pub struct PreparedExport<'a> {
    format: &'static FormatEntry,
    job: ExportJob<'a>,
    /// Numbers of the stress tables that are written too.
    tables: Vec<u32>,
}

/// Checks an export and plans its detail; whatever the options ask for in vain is refused here.
pub fn prepare<'a>(
    store: &'a Store,
    format: ExportFormat,
    options: &ExportOptions,
) -> Result<PreparedExport<'a>, ExportError> {
    let (frames, fps) = (options.frames.clone(), options.fps);
    options.check()?;
    let format = entry_of(format);
    let numbers = match format.requires {
        RequiredTables::Surfaces => {
            let mut numbers = store.numbers("meshes", "rkyv")?;
            numbers.retain(|number| frames.contains(number));
            numbers
        }
        RequiredTables::Frames => store.frames(&frames)?,
    };
    // Stress tables in the range, if the format can hold them.
    let holds_stress = supports_stress(format.format);
    let mut tables = store.numbers("stress", "parquet")?;
    tables.retain(|number| holds_stress && frames.contains(number));
    if numbers.is_empty() && tables.is_empty() {
        return Err(match format.requires {
            RequiredTables::Surfaces => ExportError::NoSurfaces {
                path: store.path("meshes"),
                frames,
            },
            RequiredTables::Frames => ExportError::NoFrames {
                path: store.path("frames"),
                frames,
            },
        });
    }
    let manifest = Manifest::read(store)?;
    let pipeline = manifest.pipeline.as_ref();
    let missing_groups = match format.requires {
        RequiredTables::Surfaces => Vec::new(),
        RequiredTables::Frames => missing_groups(store, &numbers)?,
    };
    let names = ShotNames::new(store, pipeline);
    let mut space = FileCoordinates::of_shot(pipeline);
    match format.axes {
        Axes::Chosen => space.up = options.up.unwrap_or(space.shot),
        Axes::YUp => space.up = Up::Y,
        Axes::Simulation => {}
    }
    if format.axes != Axes::Simulation {
        space.scale = options.scale;
    }
    let (target, usd) = target(store, format, &names, options);
    let reduction = match &options.detail {
        Some(limits) => reduction(store, format, space, &numbers, limits)?,
        None => None,
    };
    let job = ExportJob {
        store,
        frames: numbers,
        fps,
        playback: options.playback.rate(fps),
        shutter: options.shutter,
        debris: options.debris.map(|size| size * space.scale),
        usd,
        compress: options.compress,
        space,
        target,
        names,
        reduction,
        missing_groups,
    };
    Ok(PreparedExport {
        format,
        job,
        tables,
    })
}

impl PreparedExport<'_> {
    /// Writes the files; `on_frame` is called with (frames done, frames in all).
    pub fn write(
        &self,
        on_frame: &mut dyn FnMut(usize, usize),
    ) -> Result<ExportSummary, ExportError> {
        let job = &self.job;
        let mut summary = match job.frames.is_empty() {
            true => ExportSummary::default(),
            false => (self.format.write)(job, on_frame)?,
        };
        summary.detail = job.reduction.as_ref().map(|reduction| reduction.summary);
        if let Some(write) = stress::writer(self.format.format) {
            for &number in &self.tables {
                let written = write(job, &stress::StressSurfaces::read(job.store, number)?)?;
                summary.files.extend(written.files);
                summary.bytes += written.bytes;
            }
        }
        Ok(summary)
    }
}

/// Reduced meshes of the surfaces that a format writes of these frames; `None` if it writes none.
fn reduction(
    store: &Store,
    format: &FormatEntry,
    space: FileCoordinates,
    frames: &[u32],
    limits: &DetailLimits,
) -> Result<Option<Reduction>, ExportError> {
    let mut frames = match format.format {
        ExportFormat::UsdElements => return Ok(None),
        ExportFormat::Glb => frames[frames.len().saturating_sub(1)..].to_vec(),
        _ => frames.to_vec(),
    };
    let numbers = store.numbers("meshes", "rkyv")?;
    frames.retain(|frame| numbers.binary_search(frame).is_ok());
    if frames.is_empty() {
        return Ok(None);
    }
    let read = |frame| full_frame::read(store, space, frame);
    detail::plan(&frames, limits, space, &read).map(Some)
}

/// Column groups that at least one of the frames lacks.
fn missing_groups(store: &Store, frames: &[u32]) -> Result<Vec<FrameGroup>, ExportError> {
    let mut everywhere = FrameGroup::ALL.to_vec();
    for &frame in frames {
        let there = store.frame_groups(frame)?;
        everywhere.retain(|group| there.contains(group));
    }
    let all = FrameGroup::ALL.into_iter();
    Ok(all.filter(|group| !everywhere.contains(group)).collect())
}

/// The kind of USD file that the extension of a target says, if it says one. `.usd` files may be of any kind.
pub fn usd_file_of(target: Option<&Path>) -> Option<UsdFile> {
    let extension = target?.extension()?.to_ascii_lowercase();
    let mut kinds = UsdFile::value_variants().iter();
    kinds.find(|kind| extension == kind.extension()).copied()
}

/// Path of the file, or of the folder of a sequence, and the kind of USD files.
fn target(
    store: &Store,
    format: &FormatEntry,
    names: &ShotNames,
    options: &ExportOptions,
) -> (PathBuf, UsdFile) {
    let usd = usd_file_of(options.to).unwrap_or(options.usd);
    // The table of formats has the extension of binary files.
    let ending = format.extension.replace("usdc", usd.extension());
    let of_format = Path::new(&ending).extension().unwrap_or(ending.as_ref());
    let file = format!("{}.{ending}", names.shot());
    let is_file = |path: &Path| {
        let extension = path.extension().map(|e| e.to_ascii_lowercase());
        let is_usd = of_format == usd.extension();
        extension.is_some_and(|e| e == of_format || is_usd && e == "usd")
    };
    let target = match (options.to, format.single_file) {
        (None, true) => store.path("exports").join(file),
        (None, false) => store.path("exports").join(format.name),
        (Some(path), true) if !is_file(path) => path.join(file),
        (Some(path), _) => path.to_owned(),
    };
    (target, usd)
}

#[cfg(test)]
mod tests;
