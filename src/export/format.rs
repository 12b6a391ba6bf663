//! What a format is, and what writing one gives.

use std::path::PathBuf;

use super::error::ExportError;
use super::job::Job;
use crate::spec::ExportFormat;
use crate::store::StoreError;

/// What an export wrote.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportSummary {
    /// The files, in order of frames.
    pub files: Vec<PathBuf>,
    /// Their sizes together.
    pub bytes: u64,
    /// How many times slower than it happened the files are played; absent: they are still.
    pub slow_motion: Option<f64>,
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
    pub(super) fn add(&mut self, path: PathBuf) -> Result<(), ExportError> {
        let metadata = std::fs::metadata(&path).map_err(StoreError::io(&path))?;
        self.bytes += metadata.len();
        self.files.push(path);
        Ok(())
    }
}

/// Writes a job's files; the function given hears (done, of how many).
pub(super) type Write =
    fn(&Job, &mut dyn FnMut(usize, usize)) -> Result<ExportSummary, ExportError>;

/// A format: its name on the command line and the function that writes it.
pub struct Format {
    /// The choice in the pipeline.
    pub format: ExportFormat,
    /// Name on the command line.
    pub name: &'static str,
    /// What follows the shot's name and a dot in a file's name; its last part is the file's extension.
    pub(super) extension: &'static str,
    /// What it is made from.
    pub(super) needs: Needs,
    /// What its coordinates may be.
    pub(super) space: Axes,
    /// One file for the range, or one a frame.
    pub(super) single: bool,
    /// Writes its files.
    pub(super) write: Write,
}

/// What has to be there for a format to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    /// Surfaces.
    Surfaces,
    /// Frame tables; surfaces come along where there are any.
    Frames,
}

/// Which coordinates a format may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axes {
    /// Any.
    Chosen,
    /// y is up.
    YUp,
    /// Those of the simulation.
    OfShot,
}
