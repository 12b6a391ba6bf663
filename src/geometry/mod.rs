//! Shapes and meshes: what a body is packed into and bounded by. Knows no stage and no store.

pub mod hash_grid;
pub mod mesh;
pub mod solid;

pub use mesh::TriMesh;
