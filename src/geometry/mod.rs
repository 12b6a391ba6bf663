//! Shapes and meshes: what a body is packed into and bounded by. Knows no stage and no store.

pub mod distance;
pub mod icosphere;
pub mod mesh;
pub mod nearest;
pub mod node_grid;

pub use icosphere::icosphere;
pub use mesh::TriMesh;
pub use node_grid::NodeGrid;
