//! Time integration with fracture: from a packing to frames, breaks, history, fragments and states.
//!
//! Meets the other stages only in the frame store. `run` drives a [`Method`] over frames, `resolve` chooses
//! it, `methods` holds one folder for each; what bonded methods share lies below: `bonded_run`, `run_state`,
//! `contact`, `scene`, `bonded`. Which of them uses which is not listed; `tests/layering.rs` forbids circles
//! among them.

pub mod bonded;
pub mod bonded_run;
pub mod contact;
pub mod error;
pub mod method;
pub mod methods;
pub mod resolve;
mod run;
pub mod run_state;
pub mod scene;
pub mod source;
pub mod warn;

pub use bonded_run::build::{Built, build};
pub use error::{SimulateError, StateError};
pub use method::{Capture, Method, PassCost, Place};
pub use resolve::{Prepared, Schedule, choose, method, schedule};
pub use run::{Options, Outcome, Progress, Start, resumable, run};
pub use run_state::snapshot::Snapshot;
