//! Errors of the stage that rebuilds surfaces.

use crate::store::StoreError;

/// Errors of the stage that rebuilds surfaces.
#[derive(Debug, thiserror::Error)]
pub enum ReconstructError {
    /// The store could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The skin of a body cannot be read.
    #[error("skin of body {body}: {what}")]
    Skin {
        /// Index of the body.
        body: u32,
        /// The reason.
        what: String,
    },
    /// The skin of a body has no vertex.
    #[error("skin of body {body} is empty")]
    EmptySkin {
        /// Index of the body.
        body: u32,
    },
    /// A body has no cells, although cells are to be drawn.
    #[error(
        "body {body} is not packed with cells, which `reconstruct.mode = \"cells\"` draws; use mode \"auto\", or packing `voronoi` or `cubic`"
    )]
    NoCells {
        /// Index of the body.
        body: u32,
    },
    /// The faces of a cell do not close it.
    #[error("body {body}: the faces of cell {cell} in packing/faces.parquet do not close it")]
    OpenCell {
        /// Index of the body.
        body: u32,
        /// Element id of the cell.
        cell: u32,
    },
    /// The cell size would need too many cells.
    #[error(
        "body {body} would need {cells:.3e} grid cells, but at most {:.3e} are allowed; make `reconstruct.voxel` larger",
        ReconstructError::MAX_NODES
    )]
    GridTooLarge {
        /// Index of the body.
        body: u32,
        /// Number of cells that the grid would need.
        cells: f64,
    },
    /// The cell size is not positive and finite.
    #[error("`reconstruct.voxel` is {0}; it must be above 0 and finite")]
    Voxel(f64),
    /// The cracks cannot be cut into the skin.
    #[error(
        "body {body}: cannot cut a crack into the skin, which is not closed or intersects itself near the crack"
    )]
    Uncut {
        /// Index of the body.
        body: u32,
    },
    /// The grain of crack faces is out of range.
    #[error("`reconstruct.roughness` is {0}; it must lie between 0 and 0.5")]
    Roughness(f64),
    /// The maximum deviation of simplified surfaces is out of range.
    #[error("`reconstruct.simplify` is {0}; it must lie between 0 and 10")]
    Simplify(f64),
}

impl ReconstructError {
    /// Maximum number of grid nodes of a body.
    pub const MAX_NODES: f64 = 1e9;

    /// Whether the settings, a skin or the store caused the error.
    pub fn caused_by_user(&self) -> bool {
        match self {
            ReconstructError::Store(error) => error.caused_by_user(),
            ReconstructError::Skin { .. }
            | ReconstructError::EmptySkin { .. }
            | ReconstructError::NoCells { .. }
            | ReconstructError::OpenCell { .. }
            | ReconstructError::GridTooLarge { .. }
            | ReconstructError::Voxel(_)
            | ReconstructError::Uncut { .. }
            | ReconstructError::Roughness(_)
            | ReconstructError::Simplify(_) => true,
        }
    }
}
