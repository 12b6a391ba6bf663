//! Contact of cells as convex polyhedra with each other, with balls and with colliders. In double precision,
//! one by one.

pub mod collider;
pub mod list;
pub mod near;
pub mod pair;
pub mod pass;
pub mod placed;
pub mod shapes;
