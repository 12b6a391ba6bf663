//! Shapes and meshes: what a body is packed into and bounded by. Knows no stage and no store.

pub mod mesh;

pub use mesh::TriMesh;
