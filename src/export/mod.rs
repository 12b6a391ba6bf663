//! Surfaces of a shot in formats that renderers read, USD, glTF (still or animated), OBJ and PLY, and all of it in those of VTK.
//!
//! Renderers' formats are made from `meshes/` and `store.json` of a store alone, those of elements and VTK's from its tables too. A format is one file here, its name in
//! [`ExportFormat`] and its line in [`FORMATS`].

mod epochs;
mod glb;
mod glb_animated;
mod gltf_file;
mod gltf_part;
mod gltf_tracks;
mod names;
mod obj;
mod ply;
mod rigid;
mod sequence;
mod space;
mod spool;
mod text;
mod usd;
mod usd_debris;
mod usd_elements;
mod usd_text;
mod vtk;
mod vtk_file;

#[cfg(test)]
mod fixture;

use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::columns::Frames;
use crate::spec::{ExportFormat, FrameGroup, Up};
use crate::store::{Manifest, Store, StoreError, SurfaceFrame};
use names::Names;
use space::Space;

/// Why an export failed.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The store could not be read or the target not written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Nothing to export.
    #[error(
        "{path}: no surfaces in the range asked for; run `cullet reconstruct` first or widen the range",
        path = .path.display()
    )]
    NoSurfaces {
        /// Folder of the surfaces.
        path: PathBuf,
        /// Frames asked for.
        frames: Range<u32>,
    },
    /// No frame to export.
    #[error(
        "{path}: no frames in the range asked for; run `cullet simulate` first or widen the range",
        path = .path.display()
    )]
    NoFrames {
        /// Folder of the frames.
        path: PathBuf,
        /// Frames asked for.
        frames: Range<u32>,
    },
    /// A frame rate that no player can use.
    #[error("{fps} frames a second: the rate must be finite and above 0")]
    FrameRate {
        /// The rate given.
        fps: f64,
    },
    /// A scale that leaves nothing to see.
    #[error("{scale} units a metre: the scale must be finite and above 0")]
    Scale {
        /// The scale given.
        scale: f64,
    },
    /// A size that no fragment is below.
    #[error("{size} m: the size of debris must be finite and above 0")]
    Debris {
        /// The size given.
        size: f64,
    },
    /// A surface with a coordinate that is no number.
    #[error("frame {frame}, fragment {fragment}: a vertex coordinate is not finite")]
    NotFinite {
        /// The frame.
        frame: u32,
        /// Label of the fragment.
        fragment: u32,
    },
    /// More than a binary glTF file can hold.
    #[error("{path}: {bytes} bytes; a binary glTF file holds {limit}", path = .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Size of the file.
        bytes: u64,
        /// Largest size.
        limit: u64,
    },
}

impl ExportError {
    /// Whether the options, the format or the store are at fault.
    pub fn caused_by_user(&self) -> bool {
        match self {
            ExportError::Store(error) => error.caused_by_user(),
            ExportError::NoSurfaces { .. }
            | ExportError::NoFrames { .. }
            | ExportError::FrameRate { .. }
            | ExportError::Scale { .. }
            | ExportError::Debris { .. }
            | ExportError::NotFinite { .. }
            | ExportError::TooLarge { .. } => true,
        }
    }
}

/// What an export wrote.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportSummary {
    /// The files, in order of frames.
    pub files: Vec<PathBuf>,
    /// Their sizes together.
    pub bytes: u64,
    /// What the files show stiffer than it is; absent: nothing.
    pub stiffened: Option<Stiffened>,
}

/// Surfaces that bend and are moved as rigid bodies, for want of better in the format.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stiffened {
    /// How many.
    pub surfaces: usize,
    /// Of how many there are.
    pub of: usize,
    /// How far off a point of them ever is at most, units of the file.
    pub off: f64,
}

impl ExportSummary {
    fn add(&mut self, path: PathBuf) -> Result<(), ExportError> {
        let metadata = std::fs::metadata(&path).map_err(StoreError::io(&path))?;
        self.bytes += metadata.len();
        self.files.push(path);
        Ok(())
    }
}

/// Writes a job's files; the function given hears (done, of how many).
type Write = fn(&Job, &mut dyn FnMut(usize, usize)) -> Result<ExportSummary, ExportError>;

/// A format: its name on the command line and the function that writes it.
pub struct Format {
    /// The choice in the pipeline.
    pub format: ExportFormat,
    /// Name on the command line.
    pub name: &'static str,
    /// What follows the shot's name and a dot in a file's name; its last part is the file's extension.
    extension: &'static str,
    /// What it is made from.
    needs: Needs,
    /// What its coordinates may be.
    space: Axes,
    /// One file for the range, or one a frame.
    single: bool,
    write: Write,
}

/// What has to be there for a format to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    /// Surfaces.
    Surfaces,
    /// Frame tables; surfaces come along where there are any.
    Frames,
}

/// Which coordinates a format may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Axes {
    /// Any.
    Chosen,
    /// y is up.
    YUp,
    /// Those of the simulation.
    OfShot,
}

/// Every format there is.
pub const FORMATS: &[Format] = &[
    usd::FORMAT,
    usd_elements::FORMAT,
    glb::FORMAT,
    glb_animated::FORMAT,
    obj::FORMAT,
    ply::FORMAT,
    vtk::FORMAT,
];

/// What a format's writer needs to know.
struct Job<'a> {
    store: &'a Store,
    /// Frames to write, ascending, at least one.
    frames: Vec<u32>,
    /// Frames a second.
    fps: f64,
    space: Space,
    names: Names,
    /// Fragments below this size are debris, units of the file; absent: none is.
    debris: Option<f64>,
    /// Columns that a frame table, or all of them, do not hold.
    left_out: Vec<FrameGroup>,
    /// The file, or the folder of a sequence.
    target: PathBuf,
}

impl Job<'_> {
    fn read(&self, frame: u32) -> Result<SurfaceFrame, ExportError> {
        let mut surface = SurfaceFrame::read(self.store, frame)?;
        self.space.bring(&mut surface);
        for piece in &surface.pieces {
            let range = surface.vertex_range(piece);
            let finite = [&surface.positions, &surface.normals, &surface.velocities]
                .iter()
                .all(|values| {
                    let mut numbers = values[range.clone()].as_flattened().iter();
                    numbers.all(|number| number.is_finite())
                });
            if !finite {
                let fragment = piece.fragment;
                return Err(ExportError::NotFinite { frame, fragment });
            }
        }
        Ok(surface)
    }

    /// The table of a frame, a row for each of so many elements; it holds the columns that are not left out.
    fn read_table(&self, frame: u32, elements: usize) -> Result<Frames, ExportError> {
        let needed = [FrameGroup::Position];
        Ok(self.store.read_frame_of(frame, &needed, elements)?)
    }

    /// Whether a fragment of such a size, units of the file, is debris. What has no size has no shape to share.
    fn is_debris(&self, size: f64) -> bool {
        self.debris.is_some_and(|limit| size > 0.0 && size < limit)
    }
}

/// What of a shot is exported, and how.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// Frames.
    pub frames: Range<u32>,
    /// Playback rate; one that is not above 0 is an error.
    pub fps: f64,
    /// Up in the files; absent: as in the shot. glTF's is y, VTK's is the shot's.
    pub up: Option<Up>,
    /// Units of the files in a metre; one that is not above 0 is an error. VTK's are metres.
    pub scale: f64,
    /// Fragments below this size at rest, m, are instances of a few shapes in USD; absent: none is. One that is not above 0 is an error.
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
    if !(fps.is_finite() && fps > 0.0) {
        return Err(ExportError::FrameRate { fps });
    }
    let scale = options.scale;
    if !(scale.is_finite() && scale > 0.0) {
        return Err(ExportError::Scale { scale });
    }
    let debris = options.debris;
    if let Some(size) = debris.filter(|size| !(size.is_finite() && *size > 0.0)) {
        return Err(ExportError::Debris { size });
    }
    let format = FORMATS
        .iter()
        .find(|entry| entry.format == format)
        .expect("every format of the pipeline stands in the table");
    let numbers = match format.needs {
        Needs::Surfaces => {
            let mut numbers = store.numbers("meshes", "rkyv")?;
            numbers.retain(|number| frames.contains(number));
            numbers
        }
        Needs::Frames => store.frames(&frames)?,
    };
    if numbers.is_empty() {
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
        debris: debris.map(|size| size * space.scale),
        space,
        target: target(store, format, &names, options.to),
        names,
        left_out,
    };
    (format.write)(&job, on_frame)
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
