//! Boundary elements: stress in an elastic solid from the closed triangle mesh of its surface (Zhu, Bridson and Greif, *Simulating rigid body fracture with
//! surface meshes*, 2015; the direct method, Cruse 1969).
//!
//! The paper's layer of forces ρ has singular densities along every edge of the solid, even where the stress is smooth: with constant panels a pulled bar shows
//! twice its stress there. Here the unknown is the displacement of the vertices, linear on the triangles, by Somigliana's identity. Uniform stress is exact on any
//! mesh, other fields converge with the square of the size of triangles, and stress on the surface is that of the tangential gradient and the known traction.

pub mod cavity;
pub mod completed;
pub mod dense;
pub mod elastic;
pub mod field;
pub mod layers;
pub mod loads;
pub mod mean;
pub mod panel;
pub mod particular;
pub mod points;
pub mod recover;
pub mod rigid;
pub mod solution;
pub mod solver;
pub mod split;
pub mod surface;
pub mod triangle;

pub use elastic::{Elastic, ElasticError};
pub use field::{Field, Principal};
pub use loads::{Balance, LoadError, Loads};
pub use solution::Solution;
pub use solver::{SolveError, Solver};
pub use surface::{Surface, SurfaceError};
