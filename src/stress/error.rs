//! Why the stress in a body is not computed.

use std::path::PathBuf;

use crate::bem::crack::FractureError;
use crate::bem::{ElasticError, SolveError, SurfaceError};
use crate::geometry::remesh::RemeshError;
use crate::geometry::repair::RepairError;
use crate::store::StoreError;

/// Why the stress in a body is not computed.
#[derive(Debug, thiserror::Error)]
pub enum StressError {
    /// A store that cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A packing without surfaces.
    #[error("body {body:?}: the packing has no surface of it; run `cullet pack` again")]
    NoSkin {
        /// Name of the body.
        body: String,
    },
    /// No frame whose loads to take.
    #[error("{path}: no frame in the range asked for; run `cullet simulate` first or widen the range", path = .path.display())]
    NoFrames {
        /// The store.
        path: PathBuf,
    },
    /// Moduli out of range.
    #[error("material {material:?}: {source}")]
    Elastic {
        /// Name of the material.
        material: String,
        /// What is wrong.
        source: ElasticError,
    },
    /// A surface that cannot be repaired.
    #[error("body {body:?}: {source}")]
    Repair {
        /// Name of the body.
        body: String,
        /// What is wrong.
        source: RepairError,
    },
    /// A surface that cannot be divided evenly.
    #[error("body {body:?}: {source}")]
    Remesh {
        /// Name of the body.
        body: String,
        /// What is wrong.
        source: RemeshError,
    },
    /// A surface that is refused.
    #[error("body {body:?}: {source}")]
    Surface {
        /// Name of the body.
        body: String,
        /// What is wrong.
        source: SurfaceError,
    },
    /// Loads that are refused, or an iteration that does not converge.
    #[error("body {body:?}: {source}")]
    Solve {
        /// Name of the body.
        body: String,
        /// What is wrong.
        source: SolveError,
    },
    /// A region without surface.
    #[error(
        "attach {attachment:?}: no part of the surface of body {body:?} lies in its region at rest; make the region larger"
    )]
    EmptyRegion {
        /// Name of the attachment.
        attachment: String,
        /// Its body.
        body: String,
    },
    /// A torque on a patch without extent.
    #[error(
        "attach {attachment:?}: the surface in its region is too small to carry a torque; make the region larger"
    )]
    TooSmall {
        /// Name of the attachment.
        attachment: String,
    },
    /// Springs.
    #[error("attach {attachment:?}: boundary elements take no springs; use a clamp or a force")]
    Spring {
        /// Name of the attachment.
        attachment: String,
    },
    /// A body that is no solid of one material.
    #[error("body {body:?}: {why}")]
    NotOneSolid {
        /// Name of the body.
        body: String,
        /// Why it is none.
        why: &'static str,
    },
    /// Fracture without a strength.
    #[error("body {body:?}: fracture needs the material's tensile_strength")]
    NoStrength {
        /// Name of the body.
        body: String,
    },
    /// Fracture without bonds to break.
    #[error(
        "body {body:?}: no element lies inside it, and fracture breaks the bonds of elements; use smaller elements"
    )]
    NoElements {
        /// Name of the body.
        body: String,
    },
    /// Cracks that could not be followed.
    #[error("body {body:?}: {source}")]
    Fracture {
        /// Name of the body.
        body: String,
        /// What is wrong.
        source: FractureError,
    },
    /// Clamps whose reactions do not follow.
    #[error(
        "body {body:?}: its clamps hold the same part of the surface twice; remove one of them"
    )]
    Clamps {
        /// Name of the body.
        body: String,
    },
}

impl StressError {
    /// Whether the pipeline, a mesh or the store is at fault.
    pub fn caused_by_user(&self) -> bool {
        match self {
            StressError::Store(error) => error.caused_by_user(),
            StressError::Solve { source, .. }
            | StressError::Fracture {
                source: FractureError::Solve(source),
                ..
            } => matches!(source, SolveError::Load(_)),
            StressError::Fracture { source, .. } => {
                !matches!(source, FractureError::Cut(_) | FractureError::Steps(_))
            }
            _ => true,
        }
    }
}
