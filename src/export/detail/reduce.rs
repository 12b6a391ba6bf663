//! Reduces the mesh of a fragment as far as an error allows.

use glam::DVec3;

use super::corners::{self, CornerRow, SMOOTH_NUMBERS};
use super::fidelity::{Fault, find_fault};
use super::full::FullSurface;

/// Reduced mesh of a fragment.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduced {
    /// For each vertex, its vertex in the full mesh, ascending.
    pub sources: Vec<u32>,
    /// Vertices of the triangles.
    pub triangles: Vec<[u32; 3]>,
    /// Numbers of the triangles' corners.
    pub rows: Vec<[CornerRow; 3]>,
    /// Groups of the triangles' corners that share a normal.
    pub groups: Vec<[u32; 3]>,
}

/// Change of a colour that counts as much as the allowed error.
const COLOUR_STEP: f64 = 0.05;

/// How often a mesh that is not as good as promised is reduced again.
const ROUNDS: usize = 20;

/// Part of the target that is left after a round in which faults were everywhere.
const SMALLER_TARGET: f64 = 0.6;

/// Largest radius around a defect in which vertices are kept, over the size of the fragment.
const LARGEST_RADIUS: f64 = 0.25;

/// Parts of the allowed error that are tried in turn, until one gives a mesh that is as good as promised.
const PARTS: [f64; 4] = [1.0, 1.0 / 4.0, 1.0 / 16.0, 1.0 / 64.0];

/// What came of reducing a mesh.
enum Outcome {
    Fewer(Reduced),
    /// All triangles are needed.
    NeedsAll,
    /// No round gave a mesh that is as good as promised.
    NotFound,
}

/// The mesh with about as few triangles as `allowed` lets it have, units of the file; `None` if it keeps all of them.
pub fn reduce(full: &FullSurface, allowed: f64) -> Option<Reduced> {
    if !(allowed.is_finite() && allowed > 0.0) {
        return None;
    }
    for part in PARTS {
        match reduce_within(full, part * allowed) {
            Outcome::Fewer(reduced) => return Some(reduced),
            Outcome::NeedsAll => return None,
            Outcome::NotFound => {}
        }
    }
    None
}

fn reduce_within(full: &FullSurface, allowed: f64) -> Outcome {
    let mut locked = vec![false; full.mesh.positions.len()];
    full.defects
        .iter()
        .for_each(|vertex| locked[*vertex as usize] = true);
    let (mut target, mut radius) = (allowed, 0.5 * allowed);
    for _ in 0..ROUNDS {
        let triangles = simplified(full, target, &locked);
        if triangles.len() == full.mesh.triangles.len() {
            return Outcome::NeedsAll;
        }
        let vertices: Vec<[u32; 3]> = triangles.iter().map(|t| vertices_of(full, *t)).collect();
        match find_fault(full, &vertices, allowed, radius) {
            None => return Outcome::Fewer(compact(full, &triangles)),
            Some(Fault::Everywhere) => target *= SMALLER_TARGET,
            Some(Fault::At(places)) => {
                let before = locked.clone();
                places
                    .iter()
                    .for_each(|vertex| locked[*vertex as usize] = true);
                // Locks that were there already cannot help again: what is wrong comes from vertices around them.
                if locked == before {
                    radius = (2.0 * radius).min(LARGEST_RADIUS * full.size);
                    lock_neighbours(full, &places, &mut locked);
                }
            }
        }
    }
    Outcome::NotFound
}

/// Locks the vertices of all triangles at some places.
fn lock_neighbours(full: &FullSurface, places: &[u32], locked: &mut [bool]) {
    let mut is_place = vec![false; locked.len()];
    places
        .iter()
        .for_each(|vertex| is_place[*vertex as usize] = true);
    for triangle in &full.mesh.triangles {
        if triangle.iter().any(|vertex| is_place[*vertex as usize]) {
            triangle
                .iter()
                .for_each(|vertex| locked[*vertex as usize] = true);
        }
    }
}

fn vertices_of(full: &FullSurface, corners: [u32; 3]) -> [u32; 3] {
    corners.map(|corner| full.corners.distinct[corner as usize].0)
}

/// Triangles, as distinct corners, that remain when vertices are moved by about `target`. Vertices that are `locked`
/// stay. Slides of the texture, changes of colour and differences between shapes that bend count as movement does.
fn simplified(full: &FullSurface, target: f64, locked: &[bool]) -> Vec<[u32; 3]> {
    let positions = &full.mesh.positions;
    let distinct = &full.corners.distinct;
    // In units of the error, relative to the first vertex, single precision is enough. Both faces of a crack coincide
    // at rest, and would be merged; a thousandth of the error keeps them apart.
    let scaled: Vec<[f32; 3]> = distinct
        .iter()
        .map(|&(v, _)| {
            let apart = f64::from(v.wrapping_mul(0x9e37_79b9) >> 16) / 65536e3;
            let place = (positions[v as usize] - positions[0]) / target;
            (place + apart).as_vec3().to_array()
        })
        .collect();
    let locked: Vec<bool> = distinct.iter().map(|&(v, _)| locked[v as usize]).collect();
    // The library compares attributes with lengths over the extent of the mesh.
    let extent = (0..3).map(|axis| {
        let at = || scaled.iter().map(|place| place[axis]);
        at().fold(f32::NEG_INFINITY, f32::max) - at().fold(f32::INFINITY, f32::min)
    });
    let extent = f64::from(extent.fold(0.0, f32::max));
    let weight = |step: f64| match step * extent > 0.0 {
        true => (1.0 / (step * extent)) as f32,
        false => 0.0,
    };
    let [of_uv, of_colour] = [full.density * target, COLOUR_STEP].map(weight);
    let mut weights = vec![of_uv, of_uv, of_colour, of_colour, of_colour];
    weights.extend(vec![weight(1.0); 3 * full.bent.len()]);
    let mut attributes = Vec::with_capacity(weights.len() * distinct.len());
    for (v, row) in distinct {
        let v = *v as usize;
        attributes.extend_from_slice(&row[..SMOOTH_NUMBERS]);
        for bent in &full.bent {
            let moved = (bent[v] - positions[v]) / target;
            attributes.extend(moved.as_vec3().to_array());
        }
    }
    let options = meshopt::SimplifyOptions::LockBorder | meshopt::SimplifyOptions::ErrorAbsolute;
    let indices = meshopt::simplify_with_attributes_and_locks_decoder(
        full.corners.numbers.as_flattened(),
        &scaled,
        &attributes,
        &weights,
        weights.len() * size_of::<f32>(),
        &locked,
        0,
        1.0,
        options,
        None,
    );
    let mut triangles = indices.as_chunks::<3>().0.to_vec();
    triangles.retain(|corners| {
        let [a, b, c] = vertices_of(full, *corners);
        a != b && b != c && c != a
    });
    triangles
}

/// The mesh of some triangles, given as distinct corners, with the vertices that they use.
fn compact(full: &FullSurface, triangles: &[[u32; 3]]) -> Reduced {
    let vertices: Vec<[u32; 3]> = triangles.iter().map(|t| vertices_of(full, *t)).collect();
    let mut sources = vertices.as_flattened().to_vec();
    sources.sort_unstable();
    sources.dedup();
    let number = |vertex: u32| sources.partition_point(|known| *known < vertex) as u32;
    let rows = triangles.iter().zip(&vertices).map(|(corners, triangle)| {
        let mut rows = corners.map(|corner| full.row(corner));
        if corners::is_inside(&rows[0]) {
            let uv = full.crack_texture.project(&full.mesh, *triangle);
            rows.iter_mut()
                .zip(uv)
                .for_each(|(row, [u, v])| (row[0], row[1]) = (u, v));
        }
        rows
    });
    let rows: Vec<[CornerRow; 3]> = rows.collect();
    let groups = vertices.iter().zip(&rows).map(|(triangle, rows)| {
        let [a, b, c] = triangle.map(|vertex| full.mesh.positions[vertex as usize]);
        let normal: DVec3 = (b - a).cross(c - a).normalize_or_zero();
        triangle.map(|vertex| full.fan_for(vertex, normal, corners::is_inside(&rows[0])))
    });
    Reduced {
        groups: groups.collect(),
        triangles: vertices.iter().map(|t| t.map(number)).collect(),
        rows,
        sources,
    }
}
