//! Errors of the preview.

use std::ops::Range;
use std::path::PathBuf;

use crate::store::StoreError;

/// Errors of the preview.
#[derive(Debug, thiserror::Error)]
pub enum PreviewError {
    /// The store could not be read, or a picture could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is nothing to draw.
    #[error(
        "{path}: neither surfaces nor elements in frames {}..{}; run `cullet simulate` first or widen the range",
        .frames.start, .frames.end, path = .path.display()
    )]
    NoFrames {
        /// The store.
        path: PathBuf,
        /// Requested frames.
        frames: Range<u32>,
    },
    /// The picture size is out of range.
    #[error("preview of {width} x {height} pixels: each side must lie between 16 and {limit}")]
    Size {
        /// Requested width, pixels.
        width: u32,
        /// Requested height, pixels.
        height: u32,
        /// Longest side, pixels.
        limit: u32,
    },
    /// The camera sees nothing.
    #[error("preview camera: {what}")]
    Camera {
        /// What is wrong with it.
        what: String,
    },
}
