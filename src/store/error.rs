//! What can go wrong with a store.

use std::path::{Path, PathBuf};

/// What can go wrong with a store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder is no store.
    #[error("{path}: no frame store here ({missing} is missing); `cullet pack FILE --out DIR` makes one", path = .path.display())]
    NotAStore {
        /// The folder.
        path: PathBuf,
        /// The file looked for.
        missing: &'static str,
    },
    /// A file of the store is not there.
    #[error("{path}: missing; run `cullet {stage}` first", path = .path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// The stage that writes it.
        stage: &'static str,
    },
    /// A stage asks for a column that the frames were written without.
    #[error(
        "{path}: has no column {column}, which output.columns left out; add {word:?} to output.columns and run `cullet simulate` again",
        path = .path.display()
    )]
    LeftOut {
        /// The file.
        path: PathBuf,
        /// The column.
        column: &'static str,
        /// What `output.columns` lacks.
        word: String,
    },
    /// A file that was there is not any more.
    #[error("{path}: gone, though store.json lists it; `cullet {stage}` makes it anew", path = .path.display())]
    Gone {
        /// The file.
        path: PathBuf,
        /// The stage that writes it.
        stage: &'static str,
    },
    /// Another process is at work on the store.
    #[error("{path}: in use by {by}; wait until it ends", path = .path.display())]
    Locked {
        /// The store.
        path: PathBuf,
        /// Who holds it.
        by: String,
    },
    /// A file does not keep to the schema.
    #[error("{path}: {what}", path = .path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A file cannot be understood.
    #[error("{path}: {what}", path = .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The operating system refused.
    #[error("{path}: {source}", path = .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Its reason.
        source: std::io::Error,
    },
}

impl StoreError {
    /// Whether the folder named is not what the command needs; files that were damaged and the operating
    /// system are nobody's fault.
    pub fn caused_by_user(&self) -> bool {
        match self {
            StoreError::NotAStore { .. }
            | StoreError::Missing { .. }
            | StoreError::LeftOut { .. }
            | StoreError::Gone { .. }
            | StoreError::Locked { .. }
            | StoreError::Invalid { .. } => true,
            StoreError::Damaged { .. } | StoreError::Io { .. } => false,
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
