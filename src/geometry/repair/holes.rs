//! Fills the holes of a surface: finds the loops of its border and closes those that are small.

mod fair;
mod triangulate;

use std::collections::BTreeMap;

use glam::DVec3;

use super::repair_mesh::RepairMesh;
use crate::geometry::check::{Edge, patches, same_edge, sorted_edges};
use crate::geometry::mesh::{CornerUv, TriMesh};
use crate::geometry::winding::Winding;
use fair::{Patch, refine_and_fair};
use triangulate::{Border, triangulate};

/// A loop is a hole if its vector area has at most this fraction of the area of its surface. The rim of a disc has 1,
/// that of half a ball 0.5, that of a cube without a face 0.2, a slit nothing.
const MAX_AREA_FRACTION: f64 = 0.6;
/// As `MAX_AREA_FRACTION`, of holes that are filled by a curved surface.
const MAX_CURVED_FRACTION: f64 = 0.1;
/// Maximum number of edges of a loop: the time to triangulate it grows with the third power.
const MAX_EDGES: usize = 400;

/// Fills the small holes. Triangles on both sides of an edge must be wound consistently. Returns the number of
/// holes that were filled and the number of triangles added.
pub fn fill_small(work: &mut RepairMesh) -> [usize; 2] {
    let patch = patches(work.mesh.triangles.len(), &sorted_edges(&work.mesh));
    let mut area = vec![0.0; patch.len()];
    for (t, patch) in patch.iter().enumerate() {
        area[*patch as usize] += work.mesh.area_of(t);
    }
    fill_where(work, |work, border| {
        let place = |k: usize| work.mesh.positions[border[k % border.len()].vertex as usize];
        let origin = place(0);
        let vector: DVec3 = (0..border.len())
            .map(|k| (place(k) - origin).cross(place(k + 1) - origin) / 2.0)
            .sum();
        let own = area[patch[border[0].triangle as usize] as usize];
        match vector.length() / own {
            fraction if fraction > MAX_AREA_FRACTION => None,
            fraction if fraction > MAX_CURVED_FRACTION => Some(Fill::Flat),
            _ => Some(Fill::Curved),
        }
    })
}

/// Fills the holes whose borders lie inside `solid`, where nobody sees them. Returns the same as [`fill_small`].
pub fn fill_hidden(work: &mut RepairMesh, solid: &TriMesh) -> [usize; 2] {
    let winding = Winding::new(solid);
    fill_where(work, |work, border| {
        let mut places = border
            .iter()
            .map(|edge| work.mesh.positions[edge.vertex as usize]);
        places
            .all(|p| winding.number(p) > 0.5)
            .then_some(Fill::Flat)
    })
}

/// How a hole is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fill {
    /// By the triangles between the vertices of its border.
    Flat,
    /// By a surface that continues what is around, unless it meets that at large angles.
    Curved,
}

/// Fills the holes for which `choose` returns a way.
fn fill_where(
    work: &mut RepairMesh,
    choose: impl Fn(&RepairMesh, &[LoopEdge]) -> Option<Fill>,
) -> [usize; 2] {
    let mut filled = [0; 2];
    for border in loops(work) {
        if border.len() > MAX_EDGES {
            continue;
        }
        let way = choose(work, &border);
        if let Some(count) = way.and_then(|way| fill(work, &border, way)) {
            filled[0] += 1;
            filled[1] += count;
        }
    }
    filled
}

/// One vertex of a loop and the edge from it to the next vertex, in the sense in which new triangles run.
#[derive(Clone, Copy, Debug)]
pub struct LoopEdge {
    /// The vertex.
    pub vertex: u32,
    /// The triangle on the other side of the edge.
    pub triangle: u32,
}

/// Simple loops of the borders of patches, which edges of two triangles connect, in the order of their first vertices.
fn loops(work: &RepairMesh) -> Vec<Vec<LoopEdge>> {
    let edges = sorted_edges(&work.mesh);
    let patch = patches(work.mesh.triangles.len(), &edges);
    // For each vertex, the border edges that leave it.
    let mut leaving: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
    for edge in edges.chunk_by(same_edge) {
        // An edge is at the border of a patch that has one triangle more one way than the other.
        let of = |e: &Edge, is_forward: bool| {
            let same = edge
                .iter()
                .filter(|o| patch[o.3 as usize] == patch[e.3 as usize]);
            same.filter(|o| o.2 == is_forward).count()
        };
        for own in edge {
            let is_first = edge
                .iter()
                .find(|o| patch[o.3 as usize] == patch[own.3 as usize] && o.2 == own.2)
                == Some(own);
            if !is_first || of(own, own.2) != of(own, !own.2) + 1 {
                continue;
            }
            let (low, high, is_forward, triangle) = *own;
            // New triangles run against the old one.
            let [from, to] = if is_forward { [high, low] } else { [low, high] };
            leaving.entry(from).or_default().push((to, triangle));
        }
    }
    let mut found = Vec::new();
    let starts: Vec<u32> = leaving.keys().copied().collect();
    for start in starts {
        while let Some(border) = next_loop(start, &mut leaving) {
            found.extend(border);
        }
    }
    found
}

/// Follows border edges from a vertex until none is left, and returns the loops on the way; `None` if no edge leaves
/// the vertex.
fn next_loop(
    start: u32,
    leaving: &mut BTreeMap<u32, Vec<(u32, u32)>>,
) -> Option<Vec<Vec<LoopEdge>>> {
    let mut found = Vec::new();
    let mut path: Vec<LoopEdge> = Vec::new();
    let mut place_in_path: BTreeMap<u32, usize> = BTreeMap::new();
    let mut at = start;
    while let Some((to, triangle)) = leaving.get_mut(&at).and_then(Vec::pop) {
        place_in_path.insert(at, path.len());
        path.push(LoopEdge {
            vertex: at,
            triangle,
        });
        // A vertex that is met again closes a loop of its own.
        if let Some(&first) = place_in_path.get(&to) {
            let border = path.split_off(first);
            for edge in &border {
                place_in_path.remove(&edge.vertex);
            }
            found.push(border);
        }
        at = to;
    }
    (at != start || !found.is_empty()).then_some(found)
}

/// Fills one hole; `None` if that would need an edge that exists already.
fn fill(work: &mut RepairMesh, border: &[LoopEdge], way: Fill) -> Option<usize> {
    let edges = sorted_edges(&work.mesh);
    let exists = |a: u32, b: u32| {
        let key = (a.min(b), a.max(b));
        edges.binary_search_by(|e| (e.0, e.1).cmp(&key)).is_ok()
    };
    let positions = &work.mesh.positions;
    let (triangles, angle) = triangulate(&Border {
        points: border
            .iter()
            .map(|edge| positions[edge.vertex as usize])
            .collect(),
        normals: border
            .iter()
            .map(|edge| {
                let [a, b, c] = work.mesh.corners(edge.triangle as usize);
                (b - a).cross(c - a).normalize_or_zero()
            })
            .collect(),
        is_taken: &|i, j| exists(border[i].vertex, border[j].vertex),
    })?;
    let mut patch = Patch {
        vertices: border.iter().map(|edge| edge.vertex).collect(),
        triangles,
        inner: Vec::new(),
    };
    if way == Fill::Curved {
        refine_and_fair(work, &mut patch, angle);
    }
    let uv = corner_textures(work, border, &patch);
    let count = patch.triangles.len();
    let base = work.mesh.positions.len() as u32;
    work.mesh.positions.extend(patch.inner.iter().copied());
    let global = |v: usize| match patch.vertices.get(v) {
        Some(vertex) => *vertex,
        None => base + (v - patch.vertices.len()) as u32,
    };
    work.mesh
        .triangles
        .extend(patch.triangles.iter().map(|t| t.map(global)));
    work.mesh.uv.extend(uv);
    let source = work.source[border[0].triangle as usize];
    work.source.extend(std::iter::repeat_n(source, count));
    Some(count)
}

/// Texture coordinates of the new triangles: those of the border, and their mean inside; none without a texture.
fn corner_textures(work: &RepairMesh, border: &[LoopEdge], patch: &Patch) -> Vec<CornerUv> {
    if work.mesh.uv.is_empty() {
        return Vec::new();
    }
    let of_border: Vec<[f32; 2]> = border
        .iter()
        .map(|edge| {
            let t = edge.triangle as usize;
            let corners = work.mesh.triangles[t];
            let m = corners.iter().position(|v| *v == edge.vertex);
            work.mesh.uv[t][m.unwrap_or(0)]
        })
        .collect();
    let place = |v: usize| work.mesh.positions[patch.vertices[v] as usize];
    // Inverse squared distances to the border interpolate it.
    let inside = |p: DVec3| {
        let (mut sum, mut total) = ([0.0; 2], 0.0);
        for (k, uv) in of_border.iter().enumerate() {
            let weight = 1.0 / p.distance_squared(place(k)).max(f64::MIN_POSITIVE);
            total += weight;
            (0..2).for_each(|m| sum[m] += weight * f64::from(uv[m]));
        }
        sum.map(|s| (s / total) as f32)
    };
    let of = |v: usize| match of_border.get(v) {
        Some(uv) => *uv,
        None => inside(patch.inner[v - of_border.len()]),
    };
    patch.triangles.iter().map(|t| t.map(of)).collect()
}
