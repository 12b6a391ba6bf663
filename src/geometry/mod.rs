//! Shapes and meshes: what a body is packed into and bounded by. Knows no stage and no store.

pub mod bvh;
pub mod check;
mod exact;
pub mod inside;
mod intersect;
pub mod mesh;
mod obj;
pub mod ply;
pub mod read;
pub mod shapes;
mod stl;
pub mod winding;

pub use mesh::TriMesh;
