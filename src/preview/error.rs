//! Why a preview failed.

use std::ops::Range;
use std::path::PathBuf;

use crate::store::StoreError;

/// Why a preview failed.
#[derive(Debug, thiserror::Error)]
pub enum PreviewError {
    /// The store could not be read or a picture not written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Nothing to draw.
    #[error(
        "{path}: neither surfaces nor elements in frames {}..{}; run `cullet simulate` first or widen the range",
        .frames.start, .frames.end, path = .path.display()
    )]
    NoFrames {
        /// The store.
        path: PathBuf,
        /// Frames asked for.
        frames: Range<u32>,
    },
    /// Picture size out of bounds.
    #[error("preview of {width} x {height} pixels: each side must lie between 16 and {limit}")]
    Size {
        /// Width asked for.
        width: u32,
        /// Height asked for.
        height: u32,
        /// Longest side.
        limit: u32,
    },
    /// A camera that sees nothing.
    #[error("preview camera: {what}")]
    Camera {
        /// What is wrong with it.
        what: String,
    },
}
