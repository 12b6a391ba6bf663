//! Alembic: one archive per shot, one polygon mesh per fragment, below a transform that moves it.
//!
//! The objects are those of the USD file and have the same names, shapes and motion. Fragments that USD shows as debris
//! are meshes, too. Polygons run clockwise, as in other Alembic files.

mod archive;
mod mesh;
mod ogawa;
mod poses;
mod scene;

use std::collections::HashMap;

use self::archive::Archive;
use self::scene::Scene;
use super::epochs;
use super::error::ExportError;
use super::format::{Axes, ExportSummary, FormatEntry, RequiredTables};
use super::job::ExportJob;
use super::layer::Encoding;
use super::surface_arrays::ArrayRecorder;
use crate::spec::ExportFormat;
use crate::store::{StoreError, atomic};

/// Table entry of Alembic.
pub const FORMAT: FormatEntry = FormatEntry {
    format: ExportFormat::Alembic,
    name: "alembic",
    extension: "abc",
    requires: RequiredTables::Surfaces,
    axes: Axes::YUp,
    single_file: true,
    write,
};

fn write(
    job: &ExportJob,
    on_frame: &mut dyn FnMut(usize, usize),
) -> Result<ExportSummary, ExportError> {
    let mut recorder =
        ArrayRecorder::new(job, Encoding::Bare).map_err(StoreError::io(&job.target))?;
    let surfaces = epochs::gather(job, &mut recorder, on_frame)?;
    let mut spool = recorder.spool;
    atomic::write(&job.target, |out| {
        let mut scene = Scene {
            job,
            archive: Archive::new(out)?,
            spool: &mut spool,
            written: HashMap::new(),
        };
        let top = scene.write(&surfaces)?;
        let version = env!("CARGO_PKG_VERSION");
        let mut metadata = format!("_ai_Application=cullet {version}");
        // Readers take whole numbers only.
        if job.playback.fract() == 0.0 {
            metadata += &format!(";_ai_DCC_FPS={}", job.playback);
        }
        scene.archive.finish(top, &metadata)
    })?;
    ExportSummary::of_clip(job)
}
