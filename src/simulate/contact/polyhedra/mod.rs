//! Contact of cells as the convex polyhedra that they are: with each other, with balls, with colliders. In
//! double precision, one by one.

pub mod list;
pub mod near;
pub mod pair;
pub mod pass;
pub mod placed;
pub mod shapes;
pub mod wall;
