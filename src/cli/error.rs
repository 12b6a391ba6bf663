//! Why a command ends early.

/// What is wrong with the use of the program rather than with its run: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WrongUse(pub String);

/// Ended by the user; a later run continues.
#[derive(Debug, thiserror::Error)]
#[error("interrupted; continue with --resume")]
pub struct Interrupted;
