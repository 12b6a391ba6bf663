//! Shapes and meshes: what a body is packed into and bounded by. Knows no stage and no store.

pub mod bvh;
pub mod cell_grid;
pub mod cells;
pub mod check;
pub mod convex;
pub mod corners;
pub mod curve;
pub mod dual;
mod exact;
mod fault;
pub mod hash_grid;
pub mod icosphere;
pub mod inside;
mod intersect;
pub mod mass;
pub mod mesh;
pub mod mesh_solid;
pub mod mirror;
pub mod nearest;
pub mod node_grid;
mod obj;
pub mod occupancy;
pub mod offset;
pub mod ply;
pub mod read;
pub mod revolve;
pub mod section;
pub mod shapes;
pub mod solid;
mod stl;
pub mod tube;
pub mod voronoi;
pub mod winding;

pub use icosphere::icosphere;
pub use mesh::{CornerUv, TriMesh};
pub use node_grid::NodeGrid;
