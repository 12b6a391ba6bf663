//! The time-stepping methods, one folder each.

pub mod explicit;
pub mod implicit;
pub mod voronoi;
