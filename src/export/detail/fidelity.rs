//! Checks that a reduced mesh is as good as promised: closed where the full one is, within the allowed distance of it
//! and of about its volume.

use glam::DVec3;

use super::full::FullSurface;
use super::topology;
use crate::geometry::TriMesh;
use crate::geometry::bvh::Bvh;
use crate::geometry::cell_grid::CellGrid;
use crate::parallel::prelude::*;

/// Why a reduced mesh is not as good as promised.
pub enum Fault {
    /// At a few places: vertices that should be kept.
    At(Vec<u32>),
    /// All over the mesh.
    Everywhere,
}

/// Largest change of the volume of a closed mesh, over the volume.
pub const VOLUME_TOLERANCE: f64 = 0.2;

/// Part of the vertices up to which faults count as few.
const FEW: f64 = 0.05;

/// The first fault of a mesh of some vertices of the full one. Where it is not closed, vertices within `radius` should
/// be kept.
pub fn find_fault(
    full: &FullSurface,
    triangles: &[[u32; 3]],
    allowed: f64,
    radius: f64,
) -> Option<Fault> {
    if triangles.is_empty() {
        return Some(Fault::Everywhere);
    }
    let mut defects = topology::defects(triangles);
    defects.retain(|vertex| full.defects.binary_search(vertex).is_err());
    let reduced = |positions: &[DVec3]| TriMesh {
        positions: positions.to_vec(),
        triangles: triangles.to_vec(),
        ..TriMesh::default()
    };
    let at_rest = reduced(&full.mesh.positions);
    let change = (at_rest.volume() - full.volume).abs();
    if full.defects.is_empty() && change > VOLUME_TOLERANCE * full.volume.abs() {
        return Some(Fault::Everywhere);
    }
    let mut far = too_far(&at_rest, allowed);
    for bent in &full.bent {
        far.extend(too_far(&reduced(bent), allowed));
    }
    far.extend(bridges(full, &at_rest, allowed));
    let mut is_far = vec![false; full.mesh.positions.len()];
    far.retain(|vertex| !std::mem::replace(&mut is_far[*vertex as usize], true));
    if far.len() as f64 > FEW * full.mesh.positions.len() as f64 {
        return Some(Fault::Everywhere);
    }
    far.extend(around(full, &defects, radius));
    (!far.is_empty()).then_some(Fault::At(far))
}

/// Vertices within a radius of some vertices.
fn around(full: &FullSurface, centres: &[u32], radius: f64) -> Vec<u32> {
    if centres.is_empty() {
        return Vec::new();
    }
    let positions = &full.mesh.positions;
    let grid = CellGrid::new(positions, radius);
    let mut is_found = vec![false; positions.len()];
    for &centre in centres {
        let centre = positions[centre as usize];
        grid.around(centre, |vertex| {
            let vertex = vertex as usize;
            is_found[vertex] |= positions[vertex].distance(centre) <= radius;
        });
    }
    let vertices = (0..).zip(is_found);
    vertices
        .filter_map(|(vertex, is_found)| is_found.then_some(vertex))
        .collect()
}

/// Vertices of a mesh, used or not, that are farther from its triangles than `allowed`.
fn too_far(mesh: &TriMesh, allowed: f64) -> Vec<u32> {
    let tree = Bvh::new(mesh);
    let vertices = mesh.positions.par_iter().enumerate();
    vertices
        .filter(|(_, position)| !tree.any_within(mesh, **position, allowed))
        .map(|(vertex, _)| vertex as u32)
        .collect()
}

/// Vertices of the full mesh below triangles that lie farther from it than `allowed`, in the middle or at the middle
/// of an edge.
fn bridges(full: &FullSurface, reduced: &TriMesh, allowed: f64) -> Vec<u32> {
    let triangles = 0..reduced.triangles.len();
    let below = triangles.into_par_iter().flat_map_iter(|t| {
        let [a, b, c] = reduced.corners(t);
        let samples = [
            (a + b + c) / 3.0,
            (a + b) / 2.0,
            (b + c) / 2.0,
            (c + a) / 2.0,
        ];
        let is_off = |sample: &DVec3| !full.tree.any_within(&full.mesh, *sample, allowed);
        let off = samples.into_iter().filter(is_off);
        off.flat_map(|sample| {
            let (_, nearest) = full.tree.nearest(&full.mesh, sample);
            full.mesh.triangles[nearest as usize]
        })
        .collect::<Vec<u32>>()
    });
    below.collect()
}
