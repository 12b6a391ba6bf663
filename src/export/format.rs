//! Table entry of a format, and the summary of an export.

use std::path::PathBuf;

use super::detail::DetailSummary;
use super::error::ExportError;
use super::job::ExportJob;
use crate::spec::ExportFormat;
use crate::store::StoreError;

/// Files that an export wrote.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportSummary {
    /// The files, in order of frames.
    pub files: Vec<PathBuf>,
    /// Total size of the files, bytes.
    pub bytes: u64,
    /// Factor by which playback is slower than the event; `None` for files of one frame.
    pub slow_motion: Option<f64>,
    /// Surfaces that bend but are shown rigid; `None` if there are none.
    pub stiffened: Option<Stiffened>,
    /// Triangles that are left; `None` if surfaces have all of them.
    pub detail: Option<DetailSummary>,
}

/// Surfaces that bend but are moved as rigid bodies, because the format cannot show bending.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stiffened {
    /// Number of such surfaces.
    pub surfaces: usize,
    /// Number of all surfaces.
    pub total: usize,
    /// Largest error of a vertex in any frame, units of the file.
    pub largest_error: f64,
}

impl ExportSummary {
    /// Of a job that wrote all its frames to one file, its target.
    pub(super) fn of_clip(job: &ExportJob) -> Result<Self, ExportError> {
        let mut summary = ExportSummary {
            slow_motion: Some(1.0 / job.time_scale()),
            ..ExportSummary::default()
        };
        summary.add(job.target.clone())?;
        Ok(summary)
    }

    pub(super) fn add(&mut self, path: PathBuf) -> Result<(), ExportError> {
        let metadata = std::fs::metadata(&path).map_err(StoreError::io(&path))?;
        self.bytes += metadata.len();
        self.files.push(path);
        Ok(())
    }
}

/// Writes the files of a job; the callback receives (frames done, frames in all).
pub(super) type WriteFn =
    fn(&ExportJob, &mut dyn FnMut(usize, usize)) -> Result<ExportSummary, ExportError>;

/// A file format: its names, its requirements and the function that writes it.
pub struct FormatEntry {
    /// The format's variant in pipelines.
    pub format: ExportFormat,
    /// Name on the command line.
    pub name: &'static str,
    /// Ending of a file name after the shot's name and a dot; its last part is the file extension.
    pub(super) extension: &'static str,
    /// Tables that the format is made from.
    pub(super) requires: RequiredTables,
    /// Axes and units that the format allows.
    pub(super) axes: Axes,
    /// Whether the range becomes a single file, instead of one file per frame.
    pub(super) single_file: bool,
    /// Writes the files of a job.
    pub(super) write: WriteFn,
}

/// Tables that a store must have for a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequiredTables {
    /// Surfaces in `meshes/`.
    Surfaces,
    /// Frame tables; surfaces are exported too if there are any.
    Frames,
}

/// Axes and units that a format allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axes {
    /// Any up axis and scale, as the options say.
    Chosen,
    /// y is up; any scale.
    YUp,
    /// The axes of the simulation, in metres.
    Simulation,
}
