//! Bonded discrete elements from packing to fragment meshes.
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod columns;
pub mod geometry;
pub mod laws;
pub mod pack;
pub mod spec;
pub mod store;
