//! Time integration with fracture: from a packing to frames, breaks, history, fragments and states.
//!
//! Shares only the frame store with the other stages. `run` drives a [`Method`] over frames, `resolve`
//! chooses the method, `methods` has one folder for each. What bonded methods share is in `bonded_run`,
//! `run_state`, `contact`, `scene` and `bonded`; `tests/layering.rs` forbids cycles among them.

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
mod share;
pub mod sleep;
pub mod source;
pub mod warn;

pub use bonded_run::build::{Built, build, build_shared};
pub use error::{SimulateError, StateError};
pub use method::{Capture, Method, PassCost, Platform};
pub use resolve::{PreparedScene, Schedule, choose, method, schedule, validate};
pub use run::{Options, Outcome, Progress, Start, resumable, run, run_on_ranks};
pub use run_state::snapshot::Snapshot;
pub use share::ranks::Traffic;
pub use share::shared::Shared;
