//! Remeshes the surface of a closed mesh with even triangles of a given edge length (Botsch and Kobbelt, *A
//! remeshing approach to multiresolution modeling*, 2004). Each round splits long edges, collapses short
//! ones, flips edges, and moves vertices within the surface and back onto the original mesh.
//!
//! Sharp edges and corners are kept. Edges are flipped by Delaunay's criterion rather than to even out vertex
//! degrees, as boundary elements need good angles. The result depends on the mesh only, not on the number of
//! threads.
//!
//! Existing crates do not keep to the surface: `meshopt` only simplifies, `remesh` 0.0.5 lets triangles
//! overlap.

mod error;
mod passes;
mod quality;
mod relax;
mod sharp;

pub use error::RemeshError;
pub use quality::{Quality, equilateral};
pub use sharp::SHARP_ANGLE;

use super::check::{MeshDefect, require_solid};
use super::half_edges::{HalfEdges, NotManifold};
use super::mesh::TriMesh;
use super::read::without_unused;
use relax::TargetSurface;
use sharp::VertexClasses;

/// Edges longer than this multiple of the target length are split.
const LONG_EDGE: f64 = 4.0 / 3.0;
/// Edges shorter than this multiple of the target length are collapsed.
const SHORT_EDGE: f64 = 4.0 / 5.0;
/// Number of rounds of all passes; more rounds change little.
const ROUNDS: usize = 8;
/// Maximum number of times that [`remesh_or_finer`] doubles the number of triangles.
const MAX_REFINEMENTS: usize = 4;
/// Maximum number of triangles created.
const MAX_TRIANGLES: f64 = 2e7;

/// Remeshes a closed surface with edges about `edge` (m) long. Edges between triangles whose normals differ
/// by more than `sharp` (rad, [`SHARP_ANGLE`] for most bodies) are kept. Texture coordinates are dropped.
///
/// # Errors
///
/// A mesh that is not a closed manifold, an invalid length, or a result that cuts itself because walls are
/// thinner than the edges.
pub fn remesh(mesh: &TriMesh, edge: f64, sharp: f64) -> Result<TriMesh, RemeshError> {
    if !(edge.is_finite() && edge > 0.0) {
        return Err(RemeshError::InvalidLength(edge));
    }
    // Needles have long edges, but no area.
    let even = mesh.area() / (3_f64.sqrt() / 4.0 * edge * edge);
    let triangles = even.max(length_of_edges(mesh) / edge);
    if triangles > MAX_TRIANGLES {
        return Err(RemeshError::TooFine { edge, triangles });
    }
    let plain = TriMesh {
        positions: mesh.positions.clone(),
        triangles: mesh.triangles.clone(),
        ..TriMesh::default()
    };
    let mut edges = HalfEdges::new(&plain).map_err(|fault| {
        let vertex = match fault {
            NotManifold::Edge([vertex, _]) | NotManifold::Vertex(vertex) => vertex,
        };
        RemeshError::NotManifold { vertex }
    })?;
    let mut classes = VertexClasses::new(&mut edges, sharp, edge);
    let target = TargetSurface::new(&plain, &edges);
    for _ in 0..ROUNDS {
        passes::split_long(&mut edges, &mut classes, LONG_EDGE * edge);
        passes::collapse_short(
            &mut edges,
            &classes,
            [SHORT_EDGE, LONG_EDGE].map(|part| part * edge),
        );
        passes::flip(&mut edges, sharp);
        target.relax(&mut edges, &classes);
    }
    passes::flip(&mut edges, sharp);
    let mut result = without_unused(&edges.into_mesh().0);
    match require_solid(&mut result) {
        Err(MeshDefect::SelfIntersecting { near, .. }) => {
            Err(RemeshError::SelfCrossing { edge, near })
        }
        _ => Ok(result),
    }
}

/// [`remesh`], repeated with shorter edges while the surface would cut itself.
///
/// # Errors
///
/// As [`remesh`].
pub fn remesh_or_finer(mesh: &TriMesh, mut edge: f64) -> Result<TriMesh, RemeshError> {
    for _ in 0..MAX_REFINEMENTS {
        match remesh(mesh, edge, SHARP_ANGLE) {
            Err(RemeshError::SelfCrossing { .. }) => edge /= std::f64::consts::SQRT_2,
            found => return found,
        }
    }
    remesh(mesh, edge, SHARP_ANGLE)
}

/// Total length of all edges, m.
fn length_of_edges(mesh: &TriMesh) -> f64 {
    let around = |[a, b, c]: [glam::DVec3; 3]| a.distance(b) + b.distance(c) + c.distance(a);
    let all = 0..mesh.triangles.len();
    all.map(|t| around(mesh.corners(t))).sum::<f64>() / 2.0
}

#[cfg(test)]
mod tests;
