//! Removes triangles of nearly no height: needles by collapsing their shortest edge, flat ones by flipping
//! their longest.

use glam::DVec3;

use super::error::RepairError;
use super::repair_mesh::RepairMesh;
use super::report::Repairs;
use crate::geometry::half_edges::{HalfEdges, NotManifold, next, previous};
use crate::geometry::nearest::nearest_on_triangle;

/// Ratio of height to longest edge below which a triangle is removed if the surface can stay in place.
const THIN_RATIO: f64 = 1e-3;

/// Ratio of height to longest edge below which a triangle has no normal.
const DEGENERATE_RATIO: f64 = 1e-8;

/// Ratio of shortest to longest edge below which a thin triangle is a needle rather than flat.
const NEEDLE_RATIO: f64 = 0.1;

/// Fraction of the removed edge or height by which the surface may move.
const MAX_RELATIVE_SHIFT: f64 = 0.1;

/// Maximum number of passes over all triangles.
const MAX_PASSES: usize = 20;

/// Minimum cosine of the angle by which a triangle may turn.
const MIN_TURN_COSINE: f64 = 0.5;

/// Longest edge of a triangle, m, and the ratio of its height to that edge.
fn length_and_height_ratio([a, b, c]: [DVec3; 3]) -> (f64, f64) {
    let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
    let twice = (b - a).cross(c - a).length();
    (longest, twice / (longest * longest))
}

fn normal([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a).normalize_or_zero()
}

/// Removes thin triangles of a closed mesh where the surface stays in place. It is an error if a remaining
/// triangle has no normal.
pub fn remove_needles(work: &mut RepairMesh, done: &mut Repairs) -> Result<(), RepairError> {
    let is_thin = |t: usize| length_and_height_ratio(work.mesh.corners(t)).1 < THIN_RATIO;
    if !(0..work.mesh.triangles.len()).any(is_thin) {
        return Ok(());
    }
    let mut edges = HalfEdges::new(&work.mesh).map_err(|fault| not_manifold(work, fault))?;
    for _ in 0..MAX_PASSES {
        let mut changes = 0;
        for t in 0..edges.len() / 3 {
            if !edges.exists(3 * t) || length_and_height_ratio(edges.corners(t)).1 >= THIN_RATIO {
                continue;
            }
            let halves = [3 * t, 3 * t + 1, 3 * t + 2];
            let by_length = |a: &u32, b: &u32| edges.length(*a).total_cmp(&edges.length(*b));
            let shortest = halves.into_iter().min_by(by_length).unwrap_or(3 * t);
            let longest = halves.into_iter().max_by(by_length).unwrap_or(3 * t);
            // A needle has one short edge; a flat triangle has two edges of about half the longest.
            let is_needle = edges.length(shortest) < NEEDLE_RATIO * edges.length(longest);
            let step = |edges: &mut HalfEdges, done: &mut Repairs, should_collapse: bool| {
                let (is_done, count) = if should_collapse {
                    (collapse(edges, shortest), &mut done.collapsed_edges)
                } else {
                    (flip(edges, longest), &mut done.flipped_edges)
                };
                *count += usize::from(is_done);
                is_done
            };
            if step(&mut edges, done, is_needle) || step(&mut edges, done, !is_needle) {
                changes += 1;
            }
        }
        if changes == 0 {
            break;
        }
    }
    let (mesh, kept) = edges.into_mesh();
    work.mesh = mesh;
    work.source = kept.iter().map(|t| work.source[*t as usize]).collect();
    let mut all = 0..work.mesh.triangles.len();
    match all.find(|t| length_and_height_ratio(work.mesh.corners(*t)).1 < DEGENERATE_RATIO) {
        None => Ok(()),
        Some(t) => Err(RepairError::Degenerate {
            triangle: work.source[t],
            near: work.centre(t),
        }),
    }
}

fn not_manifold(work: &RepairMesh, fault: NotManifold) -> RepairError {
    let vertices = match fault {
        NotManifold::Edge(vertices) => vertices,
        NotManifold::Vertex(v) => [v; 2],
    };
    RepairError::NonManifold {
        edges: 1,
        count: 4,
        vertices,
        near: work.middle(vertices[0], vertices[1]),
    }
}

/// Collapses an edge to one of its ends if the surface stays in place.
fn collapse(edges: &mut HalfEdges, h: u32) -> bool {
    for h in [h, edges.twin(h)] {
        if edges.can_collapse(h) && surface_stays(edges, h) {
            edges.collapse(h);
            return true;
        }
    }
    false
}

/// Whether the surface stays near the start of a half-edge that collapses to its end, and no triangle turns
/// too far.
fn surface_stays(edges: &HalfEdges, h: u32) -> bool {
    let [u, v] = edges.ends(h);
    let [start, end] = [u, v].map(|v| edges.positions[v as usize]);
    let mut away = f64::INFINITY;
    for g in edges.ring(u) {
        let vertices = edges.vertices(g / 3);
        if vertices.contains(&v) {
            continue;
        }
        let old = edges.corners(g / 3);
        let mut new = old;
        for (place, vertex) in new.iter_mut().zip(vertices) {
            if vertex == u {
                *place = end;
            }
        }
        let (before, after) = (
            length_and_height_ratio(old).1,
            length_and_height_ratio(new).1,
        );
        if after < DEGENERATE_RATIO && after <= before {
            return false;
        }
        if before > THIN_RATIO && normal(old).dot(normal(new)) < MIN_TURN_COSINE {
            return false;
        }
        away = away.min(start.distance(nearest_on_triangle(start, new)));
    }
    away <= MAX_RELATIVE_SHIFT * start.distance(end) + RepairMesh::TOLERANCE
}

/// Flips the longest edge of a flat triangle if the surface stays in place.
fn flip(edges: &mut HalfEdges, h: u32) -> bool {
    if !edges.can_flip(h) {
        return false;
    }
    let g = edges.twin(h);
    let place = |v: u32| edges.positions[v as usize];
    let [a, b] = edges.ends(h).map(place);
    let [c, d] = [edges.apex(h), edges.apex(g)].map(place);
    debug_assert_eq!(edges.ends(next(h))[1], edges.ends(previous(h))[0]);
    let (old, new) = ([[a, b, c], [b, a, d]], [[a, d, c], [b, c, d]]);
    let thinnest = |pair: [[DVec3; 3]; 2]| {
        length_and_height_ratio(pair[0])
            .1
            .min(length_and_height_ratio(pair[1]).1)
    };
    if thinnest(new) <= thinnest(old) {
        return false;
    }
    let other = normal(old[1]);
    if length_and_height_ratio(old[1]).1 > THIN_RATIO
        && new.iter().any(|t| normal(*t).dot(other) < MIN_TURN_COSINE)
    {
        return false;
    }
    let along = b - a;
    let foot = a + along * ((c - a).dot(along) / along.length_squared());
    let away = new.map(|t| foot.distance(nearest_on_triangle(foot, t)));
    if away[0].min(away[1]) > MAX_RELATIVE_SHIFT * c.distance(foot) + RepairMesh::TOLERANCE {
        return false;
    }
    edges.flip(h);
    true
}
