//! Errors of store operations.

use std::path::{Path, PathBuf};

/// Error of a store operation.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder is not a store.
    #[error("{path}: no frame store here ({missing} is missing); `cullet pack FILE --out DIR` makes one", path = .path.display())]
    NotAStore {
        /// The folder.
        path: PathBuf,
        /// The file that is missing.
        missing: &'static str,
    },
    /// A file of the store does not exist.
    #[error("{path}: missing; run `cullet {stage}` first", path = .path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// The stage that writes it.
        stage: &'static str,
    },
    /// A stage needs a column that was left out of the frames.
    #[error(
        "{path}: has no column {column}, which output.columns left out; add {word:?} to output.columns and run `cullet simulate` again",
        path = .path.display()
    )]
    LeftOut {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
        /// Word that `output.columns` lacks.
        word: String,
    },
    /// A file that `store.json` lists does not exist.
    #[error("{path}: missing, though store.json lists it; run `cullet {stage}` to write it again", path = .path.display())]
    Gone {
        /// The file.
        path: PathBuf,
        /// The stage that writes it.
        stage: &'static str,
    },
    /// Another process holds the lock on the store.
    #[error("{path}: in use by {by}; wait until it ends", path = .path.display())]
    Locked {
        /// The store.
        path: PathBuf,
        /// Holder of the lock.
        by: String,
    },
    /// A file violates the schema.
    #[error("{path}: {what}", path = .path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A file is damaged and cannot be read.
    #[error("{path}: {what}", path = .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Error of the operating system.
    #[error("{path}: {source}", path = .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Cause.
        source: std::io::Error,
    },
}

impl StoreError {
    /// Whether the user can fix the error by another command or folder. Not for damaged files and errors of
    /// the operating system.
    pub fn caused_by_user(&self) -> bool {
        match self {
            StoreError::NotAStore { .. }
            | StoreError::Missing { .. }
            | StoreError::LeftOut { .. }
            | StoreError::Gone { .. }
            | StoreError::Invalid { .. } => true,
            // A lock ends by itself: the same command may succeed later.
            StoreError::Locked { .. } | StoreError::Damaged { .. } | StoreError::Io { .. } => false,
        }
    }

    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| StoreError::Io {
            path: path.to_owned(),
            source,
        }
    }

    pub(crate) fn invalid(path: &Path, what: impl std::fmt::Display) -> Self {
        StoreError::Invalid {
            path: path.to_owned(),
            what: what.to_string(),
        }
    }

    pub(crate) fn damaged(path: &Path, what: impl std::fmt::Display) -> Self {
        StoreError::Damaged {
            path: path.to_owned(),
            what: what.to_string(),
        }
    }
}

/// Result of a store operation.
pub type Result<T> = std::result::Result<T, StoreError>;

/// A table, or none if its file is missing.
pub fn if_present<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Ok(table) => Ok(Some(table)),
        Err(StoreError::Missing { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
