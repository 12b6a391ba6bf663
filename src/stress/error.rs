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
    /// The packing has no surface of a body.
    #[error("body {body:?}: the packing has no surface of it; run `cullet pack` again")]
    NoSkin {
        /// Name of the body.
        body: String,
    },
    /// No frame in the range.
    #[error("{path}: no frame in the requested range; run `cullet simulate` first or widen the range", path = .path.display())]
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
    /// A surface that cannot be remeshed.
    #[error("body {body:?}: {source}")]
    Remesh {
        /// Name of the body.
        body: String,
        /// What is wrong.
        source: RemeshError,
    },
    /// A surface that does not bound one solid.
    #[error("body {body:?}: {source}")]
    Surface {
        /// Name of the body.
        body: String,
        /// What is wrong.
        source: SurfaceError,
    },
    /// Loads that are refused, or a solver that does not converge.
    #[error("body {body:?}: {source}")]
    Solve {
        /// Name of the body.
        body: String,
        /// What is wrong.
        source: SolveError,
    },
    /// An attachment whose region contains no part of the surface.
    #[error(
        "attach {attachment:?}: no part of the surface of body {body:?} lies in its region at rest; make the region larger"
    )]
    EmptyRegion {
        /// Name of the attachment.
        attachment: String,
        /// Its body.
        body: String,
    },
    /// A torque on a patch that is a line or a point.
    #[error(
        "attach {attachment:?}: the surface in its region is too small to carry a torque; make the region larger"
    )]
    TooSmall {
        /// Name of the attachment.
        attachment: String,
    },
    /// A spring.
    #[error(
        "attach {attachment:?}: boundary elements do not support springs; use a clamp or a force"
    )]
    Spring {
        /// Name of the attachment.
        attachment: String,
    },
    /// A body that is not a solid of one material.
    #[error("body {body:?}: {why}")]
    NotOneSolid {
        /// Name of the body.
        body: String,
        /// Why it is not.
        why: &'static str,
    },
    /// A body that may fracture, of a material without tensile strength.
    #[error("body {body:?}: fracture needs the material's tensile_strength")]
    NoStrength {
        /// Name of the body.
        body: String,
    },
    /// A body that may fracture, but contains no elements whose bonds could break.
    #[error(
        "body {body:?}: no element lies inside it, and fracture breaks the bonds of elements; use smaller elements"
    )]
    NoElements {
        /// Name of the body.
        body: String,
    },
    /// The fracture of a body fails.
    #[error("body {body:?}: {source}")]
    Fracture {
        /// Name of the body.
        body: String,
        /// What is wrong.
        source: FractureError,
    },
    /// Clamps that overlap.
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
            StressError::Fracture { source, .. } => !source.concerns_crack(),
            _ => true,
        }
    }
}
