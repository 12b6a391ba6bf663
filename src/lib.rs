//! Bonded discrete elements from packing to fragment meshes.

pub mod columns;
pub mod geometry;
pub mod laws;
pub mod math;
pub mod pack;
pub mod simulate;
pub mod spec;
pub mod store;
pub mod units;
