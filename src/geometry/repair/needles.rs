//! Triangles without a height: needles lose their shortest edge, flat ones their longest.

use glam::DVec3;

use super::error::RepairError;
use super::report::Repairs;
use super::work::Work;
use crate::geometry::half_edges::{HalfEdges, NotManifold, before, next};
use crate::geometry::nearest::nearest_on_triangle;

/// Height of a triangle over its longest edge, below which it goes if the surface can stay where it is.
const THINNEST: f64 = 1e-3;

/// Height of a triangle over its longest edge, below which it has no normal.
const DEGENERATE: f64 = 1e-8;

/// Shortest edge over longest, below which a thin triangle is a needle rather than flat.
const NEEDLE: f64 = 0.1;

/// Part of an edge or height that the surface may move by where that edge or height goes.
const MOVED: f64 = 0.1;

/// Passes over all triangles at most.
const PASSES: usize = 20;

/// Cosine of the angle that a triangle may turn by.
const TURNED: f64 = 0.5;

/// Longest edge of a triangle, m, and its height over that.
fn shape([a, b, c]: [DVec3; 3]) -> (f64, f64) {
    let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
    let twice = (b - a).cross(c - a).length();
    (longest, twice / (longest * longest))
}

fn normal([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a).normalize_or_zero()
}

/// Removes thin triangles of a closed mesh where the surface stays in its place; what is left of them has a
/// normal, or it is an error.
pub fn remove_needles(work: &mut Work, done: &mut Repairs) -> Result<(), RepairError> {
    let is_thin = |t: usize| shape(work.mesh.corners(t)).1 < THINNEST;
    if !(0..work.mesh.triangles.len()).any(is_thin) {
        return Ok(());
    }
    let mut edges = HalfEdges::new(&work.mesh).map_err(|fault| not_manifold(work, fault))?;
    for _ in 0..PASSES {
        let mut changes = 0;
        for t in 0..edges.len() / 3 {
            if !edges.is_there(3 * t) || shape(edges.corners(t)).1 >= THINNEST {
                continue;
            }
            let halves = [3 * t, 3 * t + 1, 3 * t + 2];
            let by_length = |a: &u32, b: &u32| edges.length(*a).total_cmp(&edges.length(*b));
            let shortest = halves.into_iter().min_by(by_length).unwrap_or(3 * t);
            let longest = halves.into_iter().max_by(by_length).unwrap_or(3 * t);
            // A needle has a short edge; a flat triangle has two of about half the longest.
            let is_needle = edges.length(shortest) < NEEDLE * edges.length(longest);
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
    match all.find(|t| shape(work.mesh.corners(*t)).1 < DEGENERATE) {
        None => Ok(()),
        Some(t) => Err(RepairError::Degenerate {
            triangle: work.source[t],
            near: work.centre(t),
        }),
    }
}

fn not_manifold(work: &Work, fault: NotManifold) -> RepairError {
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

/// Collapses an edge to one of its ends if the surface stays where it is.
fn collapse(edges: &mut HalfEdges, h: u32) -> bool {
    for h in [h, edges.twin(h)] {
        if edges.can_collapse(h) && stays(edges, h) {
            edges.collapse(h);
            return true;
        }
    }
    false
}

/// Whether the surface stays near the start of a half-edge that collapses to its end, and no triangle turns.
fn stays(edges: &HalfEdges, h: u32) -> bool {
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
        let (before, after) = (shape(old).1, shape(new).1);
        if after < DEGENERATE && after <= before {
            return false;
        }
        if before > THINNEST && normal(old).dot(normal(new)) < TURNED {
            return false;
        }
        away = away.min(start.distance(nearest_on_triangle(start, new)));
    }
    away <= MOVED * start.distance(end) + Work::TOLERANCE
}

/// Flips the longest edge of a flat triangle if the surface stays where it is.
fn flip(edges: &mut HalfEdges, h: u32) -> bool {
    if !edges.can_flip(h) {
        return false;
    }
    let g = edges.twin(h);
    let place = |v: u32| edges.positions[v as usize];
    let [a, b] = edges.ends(h).map(place);
    let [c, d] = [edges.apex(h), edges.apex(g)].map(place);
    debug_assert_eq!(edges.ends(next(h))[1], edges.ends(before(h))[0]);
    let (old, new) = ([[a, b, c], [b, a, d]], [[a, d, c], [b, c, d]]);
    let thinnest = |pair: [[DVec3; 3]; 2]| shape(pair[0]).1.min(shape(pair[1]).1);
    if thinnest(new) <= thinnest(old) {
        return false;
    }
    let other = normal(old[1]);
    if shape(old[1]).1 > THINNEST && new.iter().any(|t| normal(*t).dot(other) < TURNED) {
        return false;
    }
    let along = b - a;
    let foot = a + along * ((c - a).dot(along) / along.length_squared());
    let away = new.map(|t| foot.distance(nearest_on_triangle(foot, t)));
    if away[0].min(away[1]) > MOVED * c.distance(foot) + Work::TOLERANCE {
        return false;
    }
    edges.flip(h);
    true
}
