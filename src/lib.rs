//! Bonded discrete elements from packing to fragment meshes.

pub mod columns;
pub mod export;
pub mod geometry;
pub mod preview;
pub mod spec;
pub mod store;
