//! Mode `cells`: draws the cells of a packing themselves, with exact planes where they separate.
//!
//! [`complex`] finds the polyhedra of a body's cells from the planes of their faces and merges coincident
//! corners; [`draw`] builds the closed surface of each fragment from the faces that are free or broken.

pub mod complex;
pub mod draw;
