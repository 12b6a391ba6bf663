//! Errors of the viewer.

use std::path::PathBuf;

use crate::store::StoreError;

/// Errors of the viewer.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// A store could not be read, or the page could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The server could not start.
    #[error(
        "cannot listen on 127.0.0.1, port {port}: {what}; choose another by --port, or 0 for any free one"
    )]
    Listen {
        /// The port.
        port: u16,
        /// What the system says.
        what: String,
    },
    /// There is nothing to show.
    #[error(
        "{path}: neither surfaces nor elements in frames {}..{}; run `cullet simulate` first or widen the range",
        .frames.start, .frames.end, path = .path.display()
    )]
    NoFrames {
        /// The store.
        path: PathBuf,
        /// Requested frames.
        frames: std::ops::Range<u32>,
    },
    /// A page of its own would be larger than browsers open.
    #[error(
        "the page would have more than {limit} MB; choose fewer frames by --frames, or view the store without --export"
    )]
    TooLarge {
        /// Largest size, MB.
        limit: usize,
    },
    /// An address that the server does not know.
    #[error("{0}: no such address")]
    NoSuchAddress(String),
}

impl ViewError {
    /// Whether the settings or the store caused the error.
    pub fn caused_by_user(&self) -> bool {
        match self {
            ViewError::Store(error) => error.caused_by_user(),
            ViewError::Listen { .. }
            | ViewError::NoFrames { .. }
            | ViewError::TooLarge { .. }
            | ViewError::NoSuchAddress(_) => true,
        }
    }
}
