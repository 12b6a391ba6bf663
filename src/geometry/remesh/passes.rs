//! Passes over all edges that split, collapse and flip.

use glam::DVec3;

use super::sharp::{VertexClass, VertexClasses};
use crate::geometry::half_edges::{HalfEdges, next, previous};

/// Minimum cosine of the angle by which a triangle may turn when a vertex moves or is removed.
pub const MIN_TURN_COSINE: f64 = 0.5;

/// Ratio of twice the area to the squared longest edge below which a triangle has no reliable normal.
const THIN_RATIO: f64 = 1e-4;

/// Whether a triangle keeps its orientation when one of its corners moves.
pub fn stays_on_side(old: [DVec3; 3], new: [DVec3; 3]) -> bool {
    let [m, n] = [old, new].map(|[a, b, c]| (b - a).cross(c - a));
    let longest = |[a, b, c]: [DVec3; 3]| {
        let squares = [(a, b), (b, c), (c, a)].map(|(p, q)| p.distance_squared(q));
        squares.into_iter().fold(0.0, f64::max)
    };
    if m.length() < THIN_RATIO * longest(old) {
        return n.length() >= m.length();
    }
    n.length() >= THIN_RATIO * longest(new) && m.dot(n) > MIN_TURN_COSINE * m.length() * n.length()
}

/// Edges whose length satisfies `wanted`, sorted by `order` of their lengths, each as its length (m) and one
/// half-edge.
fn edges_by_length(
    edges: &HalfEdges,
    wanted: impl Fn(f64) -> bool,
    order: impl Fn(f64, f64) -> std::cmp::Ordering,
) -> Vec<(f64, u32)> {
    let all = (0..edges.len()).filter(|h| edges.exists(*h) && *h < edges.twin(*h));
    let lengths = all.map(|h| (edges.length(h), h));
    let mut found: Vec<_> = lengths.filter(|(length, _)| wanted(*length)).collect();
    found.sort_unstable_by(|a, b| order(a.0, b.0).then(a.1.cmp(&b.1)));
    found
}

/// Splits edges in the middle, the longest first, until none is longer than `longest`, m.
pub fn split_long(edges: &mut HalfEdges, classes: &mut VertexClasses, longest: f64) {
    loop {
        let long = edges_by_length(edges, |l| l > longest, |a, b| b.total_cmp(&a));
        if long.is_empty() {
            return;
        }
        for (_, h) in long {
            let [a, b] = edges.ends(h).map(|v| edges.positions[v as usize]);
            let class = if edges.sharp[h as usize] {
                VertexClass::Crease
            } else {
                VertexClass::Smooth
            };
            edges.split(h, (a + b) / 2.0);
            classes.0.push(class);
        }
    }
}

/// Collapses edges shorter than `shortest` (m), the shortest first, if that makes no edge longer than
/// `longest` (m), turns no triangle too far and leaves sharp edges in place.
pub fn collapse_short(
    edges: &mut HalfEdges,
    classes: &VertexClasses,
    [shortest, longest]: [f64; 2],
) {
    for (_, h) in edges_by_length(edges, |l| l < shortest, |a, b| a.total_cmp(&b)) {
        if !edges.exists(h) || edges.length(h) >= shortest {
            continue;
        }
        let classes_of = edges.ends(h).map(|v| classes.0[v as usize]);
        // The vertex with fewer restrictions is removed.
        let first = if classes_of[0] <= classes_of[1] {
            h
        } else {
            edges.twin(h)
        };
        for h in [first, edges.twin(first)] {
            if may_collapse(edges, classes, h, longest) {
                edges.collapse(h);
                break;
            }
        }
    }
}

fn may_collapse(edges: &HalfEdges, classes: &VertexClasses, h: u32, longest: f64) -> bool {
    let [u, v] = edges.ends(h);
    let is_free = match classes.0[u as usize] {
        VertexClass::Smooth => true,
        VertexClass::Crease => edges.sharp[h as usize],
        VertexClass::Corner => false,
    };
    if !is_free || !edges.can_collapse(h) {
        return false;
    }
    let end = edges.positions[v as usize];
    let place = |n: u32| edges.positions[n as usize];
    if edges
        .neighbours(u)
        .any(|n| place(n).distance(end) > longest)
    {
        return false;
    }
    // A closed crease of three edges would become a single edge.
    let sides = [h, edges.twin(h)].map(|h| [next(h), previous(h)].map(|h| edges.sharp[h as usize]));
    if sides.iter().any(|[first, second]| *first && *second) {
        return false;
    }
    edges.ring(u).all(|g| {
        let vertices = edges.vertices(g / 3);
        if vertices.contains(&v) {
            return true;
        }
        let old = edges.corners(g / 3);
        let mut new = old;
        new[(g % 3) as usize] = end;
        stays_on_side(old, new)
    })
}

/// Flips edges whose opposite angles sum to more than π, if that creates no edge sharper than `sharp`, rad.
pub fn flip(edges: &mut HalfEdges, sharp: f64) {
    const SWEEPS: usize = 4;
    for _ in 0..SWEEPS {
        let mut flips = 0;
        for h in 0..edges.len() {
            if edges.exists(h) && h < edges.twin(h) && should_flip(edges, h, sharp) {
                edges.flip(h);
                flips += 1;
            }
        }
        if flips == 0 {
            break;
        }
    }
}

fn should_flip(edges: &HalfEdges, h: u32, sharp: f64) -> bool {
    if edges.sharp[h as usize] {
        return false;
    }
    let [a, b] = edges.ends(h).map(|v| edges.positions[v as usize]);
    let [c, d] = [h, edges.twin(h)].map(|h| edges.positions[edges.apex(h) as usize]);
    let cotangent = |p: DVec3| {
        let (u, v) = (a - p, b - p);
        u.dot(v) / u.cross(v).length().max(f64::MIN_POSITIVE)
    };
    // The cotangents of angles that sum to π cancel; rounding must not flip back and forth.
    if cotangent(c) + cotangent(d) > -1e-6 || !edges.can_flip(h) {
        return false;
    }
    let normal = |[a, b, c]: [DVec3; 3]| (b - a).cross(c - a).normalize_or_zero();
    let old = [[a, b, c], [b, a, d]].map(normal);
    let new = [[a, d, c], [b, c, d]].map(normal);
    let mean = old[0] + old[1];
    new[0].dot(new[1]) > sharp.cos().min(old[0].dot(old[1]))
        && new
            .iter()
            .all(|n| n.dot(mean) > MIN_TURN_COSINE * mean.length())
}
