//! Why a command ends early.

/// Wrong use of the program, as opposed to a failure of a run: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WrongUse(pub String);

/// The user interrupted the simulation; a later run can continue it.
#[derive(Debug, thiserror::Error)]
#[error("interrupted; continue with --resume")]
pub struct Interrupted;
