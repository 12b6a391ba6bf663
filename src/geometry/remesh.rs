//! Even triangles of a wanted edge length on the surface of a closed mesh (Botsch and Kobbelt, *A remeshing
//! approach to multiresolution modeling*, 2004): rounds of splitting long edges, collapsing short ones,
//! flipping, moving vertices in the surface, and back onto the mesh given.
//!
//! Sharp edges and corners stay. Edges are flipped by Delaunay's criterion rather than by the number of
//! neighbours, as boundary elements ask for angles. The result depends on the mesh alone, not on the number
//! of threads.
//!
//! Ours since the crates that remesh leave the surface: `meshopt` only simplifies, `remesh` 0.0.5 lets
//! triangles overlap.

mod error;
mod passes;
mod quality;
mod relax;
mod sharp;

pub use error::RemeshError;
pub use quality::{Quality, equilateral};
pub use sharp::SHARP;

use super::check::{MeshDefect, require_solid};
use super::half_edges::{HalfEdges, NotManifold};
use super::mesh::TriMesh;
use super::read::without_unused;
use relax::Target;
use sharp::Classes;

/// Edges longer than this many wanted ones are split.
const LONG: f64 = 4.0 / 3.0;
/// Edges shorter than this many wanted ones are collapsed.
const SHORT: f64 = 4.0 / 5.0;
/// Rounds of all passes; more change little.
const ROUNDS: usize = 8;
/// Times that [`remesh_or_finer`] doubles the number of triangles, at most.
const FINER: usize = 4;
/// Triangles that are made, at most.
const MOST: f64 = 2e7;

/// A mesh of the same closed surface with edges about `edge` long, m; edges between triangles whose normals
/// differ by more than `sharp`, rad ([`SHARP`] for most bodies), are kept. Texture coordinates go.
///
/// # Errors
///
/// A mesh that is no closed manifold, or a length that cannot be; a result that cuts itself, where walls are
/// thinner than the edges wanted.
pub fn remesh(mesh: &TriMesh, edge: f64, sharp: f64) -> Result<TriMesh, RemeshError> {
    if !(edge.is_finite() && edge > 0.0) {
        return Err(RemeshError::Length(edge));
    }
    // Needles have edges, if no area.
    let even = mesh.area() / (3_f64.sqrt() / 4.0 * edge * edge);
    let triangles = even.max(length_of_edges(mesh) / edge);
    if triangles > MOST {
        return Err(RemeshError::TooFine { edge, triangles });
    }
    let plain = TriMesh {
        uv: Vec::new(),
        ..mesh.clone()
    };
    let mut edges = HalfEdges::new(&plain).map_err(|fault| {
        let vertex = match fault {
            NotManifold::Edge([vertex, _]) | NotManifold::Vertex(vertex) => vertex,
        };
        RemeshError::NotManifold { vertex }
    })?;
    let mut classes = Classes::new(&mut edges, sharp, edge);
    let target = Target::new(&plain, &edges);
    for _ in 0..ROUNDS {
        passes::split_long(&mut edges, &mut classes, LONG * edge);
        passes::collapse_short(&mut edges, &classes, [SHORT, LONG].map(|part| part * edge));
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

/// [`remesh`] with shorter edges where the surface would cut itself.
///
/// # Errors
///
/// As [`remesh`].
pub fn remesh_or_finer(mesh: &TriMesh, mut edge: f64) -> Result<TriMesh, RemeshError> {
    for _ in 0..FINER {
        match remesh(mesh, edge, SHARP) {
            Err(RemeshError::SelfCrossing { .. }) => edge /= std::f64::consts::SQRT_2,
            found => return found,
        }
    }
    remesh(mesh, edge, SHARP)
}

/// Length of all edges, m.
fn length_of_edges(mesh: &TriMesh) -> f64 {
    let around = |[a, b, c]: [glam::DVec3; 3]| a.distance(b) + b.distance(c) + c.distance(a);
    let all = 0..mesh.triangles.len();
    all.map(|t| around(mesh.corners(t))).sum::<f64>() / 2.0
}

#[cfg(test)]
mod tests;
