//! All integration tests in one binary, since each binary links everything again.
#![allow(clippy::unwrap_used)] // a panic is a failed test

mod energy;
mod scenes;
mod statics;
mod vectors;
