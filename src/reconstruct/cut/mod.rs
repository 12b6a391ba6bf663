//! Cuts the skin of a body, and the cells of its grid, along the cracks.

pub mod by_face;
pub mod cells;
pub mod chain;
pub mod clip;
pub mod rim;
pub mod ring;
pub mod seam;
pub mod trace;
pub mod weave;
