//! Tables of stress on the surfaces that they tell of, at rest: VTK, USD and PLY. Every number is of a
//! triangle, as in the table.

mod ply;
mod solids;
mod usd;
mod vtk;

use super::error::ExportError;
use super::format::ExportSummary;
use super::job::Job;
use crate::spec::ExportFormat;

pub use solids::Solids;

/// What writes the files of a table, if the format takes stress.
pub fn writer(format: ExportFormat) -> Option<Write> {
    match format {
        ExportFormat::Usd => Some(usd::write),
        ExportFormat::Ply => Some(ply::write),
        ExportFormat::Vtk => Some(vtk::write),
        ExportFormat::UsdElements
        | ExportFormat::Glb
        | ExportFormat::GlbAnimated
        | ExportFormat::Obj => None,
    }
}

/// Writes the files of a table.
pub type Write = fn(&Job, &Solids) -> Result<ExportSummary, ExportError>;
