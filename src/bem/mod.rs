//! Boundary elements: stress in an elastic solid from the closed triangle mesh of its surface (Zhu, Bridson
//! and Greif, *Simulating rigid body fracture with surface meshes*, 2015; the direct method, Cruse 1969).
//!
//! The unknown of the paper is a layer of forces, which is singular along every edge of the solid even where
//! the stress is smooth. Here the unknown is the displacement, linear or quadratic on the triangles, in
//! Somigliana's identity. Uniform stress is exact on any mesh; other fields converge with the square of the
//! triangles' size. Stress on the surface follows from the tangential derivatives of the displacement and
//! from the traction, which is given: the limit of the layers from inside would jump at every edge of the
//! mesh.
//!
//! ```
//! use cullet::bem::{Balance, Elastic, Loads, Solver, Surface};
//! use glam::DVec3;
//!
//! let mesh = cullet::geometry::shapes::cuboid(DVec3::new(1.0, 1.0, 3.0));
//! let surface = Surface::new(&mesh)?;
//! let solver = Solver::automatic(&surface, Elastic::new(70e9, 0.2)?, 1e-4);
//! let tractions: Vec<DVec3> = surface.normals.iter().map(|n| DVec3::Z * n.z * 1e6).collect();
//! let loads = Loads {
//!     tractions: &tractions,
//!     density: 2500.0,
//!     gravity: DVec3::ZERO,
//!     spin: DVec3::ZERO,
//!     balance: Balance::Required,
//! };
//! let solution = solver.solve(&loads, &mut Default::default())?;
//! let largest = solution.surface()[0].principal().values[0];
//! assert!((largest / 1e6 - 1.0).abs() < 1e-5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod basis;
pub mod cavity;
pub mod completed;
pub mod crack;
pub mod dense;
pub mod density;
pub mod edges;
pub mod elastic;
pub mod field;
pub mod fmm;
pub mod inner;
pub mod layers;
pub mod loads;
pub mod mean;
pub mod near;
pub mod panel;
pub mod particular;
pub mod points;
pub mod precision;
pub mod recover;
pub mod rigid;
pub mod rim;
pub mod second;
pub mod slope;
pub mod solution;
pub mod solver;
pub mod split;
pub mod surface;
pub mod third;
pub mod traction;
pub mod triangle;

pub use basis::{Basis, Order};
pub use elastic::{Elastic, ElasticError};
pub use field::{Field, PrincipalStresses};
pub use loads::{Balance, LoadError, Loads};
pub use slope::FieldGradients;
pub use solution::Solution;
pub use solver::{SolveError, Solver};
pub use surface::{Surface, SurfaceError};
pub use traction::Traction;
