//! Why an export failed.

use std::ops::Range;
use std::path::PathBuf;

use crate::store::StoreError;

/// Why an export failed.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The store could not be read, or the target could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No surfaces to export.
    #[error(
        "{path}: no surfaces in the requested range; run `cullet reconstruct` first or widen the range",
        path = .path.display()
    )]
    NoSurfaces {
        /// Folder of the surfaces.
        path: PathBuf,
        /// Requested frames.
        frames: Range<u32>,
    },
    /// No frames to export.
    #[error(
        "{path}: no frames in the requested range; run `cullet simulate` first or widen the range",
        path = .path.display()
    )]
    NoFrames {
        /// Folder of the frames.
        path: PathBuf,
        /// Requested frames.
        frames: Range<u32>,
    },
    /// A frame rate that is not finite or not above 0.
    #[error("{fps} frames per second: the rate must be finite and above 0")]
    FrameRate {
        /// Given rate.
        fps: f64,
    },
    /// A scale that is not finite or not above 0.
    #[error("{scale} units per metre: the scale must be finite and above 0")]
    Scale {
        /// Given scale.
        scale: f64,
    },
    /// A shutter that closes before it opens, or that is open beyond half a frame.
    #[error(
        "shutter from {open} to {close}: it must open before it closes, both within half a frame"
    )]
    Shutter {
        /// Time at which it opens, in frames.
        open: f64,
        /// Time at which it closes, in frames.
        close: f64,
    },
    /// A debris size that is not finite or not above 0.
    #[error("{size} m: the size of debris must be finite and above 0")]
    Debris {
        /// Given size, m.
        size: f64,
    },
    /// A limit of the detail that is not finite or too small.
    #[error(
        "detail: {value} is not allowed; at least 4 triangles, errors and sizes of pixels finite and above 0"
    )]
    Detail {
        /// Given value.
        value: f64,
    },
    /// A number of triangles that is too small for the fragments of the clip.
    #[error(
        "at most {asked} triangles: surfaces within {within} need {least}; allow as many or a larger error, or export \
         fewer frames"
    )]
    Triangles {
        /// Number asked for.
        asked: u64,
        /// Number needed.
        least: u64,
        /// The largest error that was allowed.
        within: String,
    },
    /// A surface with a coordinate that is NaN or infinite.
    #[error("frame {frame}, fragment {fragment}: a vertex coordinate is not finite")]
    NotFinite {
        /// The frame.
        frame: u32,
        /// Label of the fragment.
        fragment: u32,
    },
    /// A binary glTF file above the limit of the format.
    #[error("{path}: {bytes} bytes; a binary glTF file holds {limit}", path = .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Size of the file, bytes.
        bytes: u64,
        /// Largest size, bytes.
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
            | ExportError::Shutter { .. }
            | ExportError::Debris { .. }
            | ExportError::Detail { .. }
            | ExportError::Triangles { .. }
            | ExportError::NotFinite { .. }
            | ExportError::TooLarge { .. } => true,
        }
    }
}
