//! Mode `cells`: the cells of a packing themselves, with exact planes where they part.
//!
//! [`complex`] finds the polyhedra of a body's cells from the planes of their faces and joins corners in one
//! place; [`draw`] makes the closed surface of each fragment from the faces that are free or broken.

pub mod complex;
pub mod draw;
