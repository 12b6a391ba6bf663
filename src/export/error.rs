//! Why an export failed.

use std::ops::Range;
use std::path::PathBuf;

use crate::store::StoreError;

/// Why an export failed.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The store could not be read or the target not written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Nothing to export.
    #[error(
        "{path}: no surfaces in the range asked for; run `cullet reconstruct` first or widen the range",
        path = .path.display()
    )]
    NoSurfaces {
        /// Folder of the surfaces.
        path: PathBuf,
        /// Frames asked for.
        frames: Range<u32>,
    },
    /// No frame to export.
    #[error(
        "{path}: no frames in the range asked for; run `cullet simulate` first or widen the range",
        path = .path.display()
    )]
    NoFrames {
        /// Folder of the frames.
        path: PathBuf,
        /// Frames asked for.
        frames: Range<u32>,
    },
    /// A frame rate that no player can use.
    #[error("{fps} frames a second: the rate must be finite and above 0")]
    FrameRate {
        /// The rate given.
        fps: f64,
    },
    /// A scale that leaves nothing to see.
    #[error("{scale} units a metre: the scale must be finite and above 0")]
    Scale {
        /// The scale given.
        scale: f64,
    },
    /// A shutter that is open at no time, or in which another frame is nearer.
    #[error(
        "shutter from {open} to {close}: it must open before it closes, both within half a frame"
    )]
    Shutter {
        /// When it opens, frames.
        open: f64,
        /// When it closes, frames.
        close: f64,
    },
    /// A size that no fragment is below.
    #[error("{size} m: the size of debris must be finite and above 0")]
    Debris {
        /// The size given.
        size: f64,
    },
    /// A surface with a coordinate that is no number.
    #[error("frame {frame}, fragment {fragment}: a vertex coordinate is not finite")]
    NotFinite {
        /// The frame.
        frame: u32,
        /// Label of the fragment.
        fragment: u32,
    },
    /// More than a binary glTF file can hold.
    #[error("{path}: {bytes} bytes; a binary glTF file holds {limit}", path = .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Size of the file.
        bytes: u64,
        /// Largest size.
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
            | ExportError::NotFinite { .. }
            | ExportError::TooLarge { .. } => true,
        }
    }
}
