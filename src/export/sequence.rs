//! Export of formats with one file per frame.

use crate::parallel::prelude::*;

use super::error::ExportError;
use super::format::ExportSummary;
use super::job::ExportJob;
use crate::store::{SurfaceFrame, atomic};

/// Writes `NAME.NNNNNN.extension` for each frame, one frame per thread at a time.
pub fn write(
    job: &ExportJob,
    extension: &str,
    on_frame: &mut dyn FnMut(usize, usize),
    bytes: impl Fn(&ExportJob, &SurfaceFrame) -> Vec<Vec<u8>> + Sync,
) -> Result<ExportSummary, ExportError> {
    let mut summary = ExportSummary::default();
    for batch in job.frames.chunks(rayon::current_num_threads()) {
        let paths = batch
            .par_iter()
            .map(|&frame| {
                let name = format!("{}.{frame:06}.{extension}", job.names.shot());
                let path = job.target.join(name);
                let parts = bytes(job, &job.read(frame)?);
                atomic::write_parts(&path, &parts)?;
                Ok(path)
            })
            .collect::<Result<Vec<_>, ExportError>>()?;
        for path in paths {
            summary.add(path)?;
            on_frame(summary.files.len(), job.frames.len());
        }
    }
    Ok(summary)
}
