//! Cuts the skin of a body, and the cells of its grid, along the cracks.

pub mod cells;
pub mod chain;
pub mod clip;
pub mod cut_skin;
pub mod face_map;
pub mod intersection;
pub mod rim;
pub mod ring;
pub mod trace;
