//! Export of stress tables on the surfaces at rest, as VTK, USD and PLY. All values are per triangle, as in
//! the table; VTK also has values per element.

mod ply;
mod surfaces;
mod usd;
mod vtk;

use super::error::ExportError;
use super::format::ExportSummary;
use super::job::ExportJob;
use crate::spec::ExportFormat;

pub use surfaces::StressSurfaces;

/// The function that writes the files of a stress table; `None` if the format cannot hold stress.
pub fn writer(format: ExportFormat) -> Option<WriteFn> {
    match format {
        ExportFormat::Usd => Some(usd::write),
        ExportFormat::Ply => Some(ply::write),
        ExportFormat::Vtk => Some(vtk::write),
        ExportFormat::Alembic
        | ExportFormat::UsdElements
        | ExportFormat::Glb
        | ExportFormat::GlbAnimated
        | ExportFormat::Obj => None,
    }
}

/// Writes the files of a stress table.
pub type WriteFn = fn(&ExportJob, &StressSurfaces) -> Result<ExportSummary, ExportError>;
