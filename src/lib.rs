//! Bonded discrete elements from packing to fragment meshes.

pub mod columns;
pub mod geometry;
pub mod reconstruct;
pub mod spec;
pub mod store;
