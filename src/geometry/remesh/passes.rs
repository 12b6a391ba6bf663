//! Splits, collapses and flips over all edges.

use glam::DVec3;

use super::sharp::{Class, Classes};
use crate::geometry::half_edges::{HalfEdges, before, next};

/// Cosine of the angle that a triangle may turn by when a vertex moves or goes.
pub const TURNED: f64 = 0.5;

/// Twice the area over the square of the longest edge, below which a triangle has no normal to speak of.
const THIN: f64 = 1e-4;

/// Whether a triangle stays on its side where one of its corners moves.
pub fn stays_on_side(old: [DVec3; 3], new: [DVec3; 3]) -> bool {
    let [m, n] = [old, new].map(|[a, b, c]| (b - a).cross(c - a));
    let longest = |[a, b, c]: [DVec3; 3]| {
        let squares = [(a, b), (b, c), (c, a)].map(|(p, q)| p.distance_squared(q));
        squares.into_iter().fold(0.0, f64::max)
    };
    if m.length() < THIN * longest(old) {
        return n.length() >= m.length();
    }
    n.length() >= THIN * longest(new) && m.dot(n) > TURNED * m.length() * n.length()
}

/// The half-edges of edges for which `wanted` holds of their length, the first by `order` of length before.
fn sorted(
    edges: &HalfEdges,
    wanted: impl Fn(f64) -> bool,
    order: impl Fn(f64, f64) -> std::cmp::Ordering,
) -> Vec<(f64, u32)> {
    let all = (0..edges.len()).filter(|h| edges.is_there(*h) && *h < edges.twin(*h));
    let lengths = all.map(|h| (edges.length(h), h));
    let mut found: Vec<_> = lengths.filter(|(length, _)| wanted(*length)).collect();
    found.sort_unstable_by(|a, b| order(a.0, b.0).then(a.1.cmp(&b.1)));
    found
}

/// Splits edges in their middle, the longest first, until none is longer than `longest`, m.
pub fn split_long(edges: &mut HalfEdges, classes: &mut Classes, longest: f64) {
    loop {
        let long = sorted(edges, |l| l > longest, |a, b| b.total_cmp(&a));
        if long.is_empty() {
            return;
        }
        for (_, h) in long {
            let [a, b] = edges.ends(h).map(|v| edges.positions[v as usize]);
            let class = if edges.sharp[h as usize] {
                Class::Crease
            } else {
                Class::Smooth
            };
            edges.split(h, (a + b) / 2.0);
            classes.0.push(class);
        }
    }
}

/// Collapses edges shorter than the first length, the shortest first, where that makes none longer than the
/// second (m), turns no triangle and leaves sharp edges where they are.
pub fn collapse_short(edges: &mut HalfEdges, classes: &Classes, [shortest, longest]: [f64; 2]) {
    for (_, h) in sorted(edges, |l| l < shortest, |a, b| a.total_cmp(&b)) {
        if !edges.is_there(h) || edges.length(h) >= shortest {
            continue;
        }
        let classes_of = edges.ends(h).map(|v| classes.0[v as usize]);
        // The vertex that may do more goes.
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

fn may_collapse(edges: &HalfEdges, classes: &Classes, h: u32, longest: f64) -> bool {
    let [u, v] = edges.ends(h);
    let is_free = match classes.0[u as usize] {
        Class::Smooth => true,
        Class::Crease => edges.sharp[h as usize],
        Class::Corner => false,
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
    // A crease that closes in on itself would become a single edge.
    let sides = [h, edges.twin(h)].map(|h| [next(h), before(h)].map(|h| edges.sharp[h as usize]));
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

/// Flips edges whose opposite angles sum up to more than half a turn, where that leaves a surface with no
/// edge sharper than `sharp`, rad.
pub fn flip(edges: &mut HalfEdges, sharp: f64) {
    const SWEEPS: usize = 4;
    for _ in 0..SWEEPS {
        let mut flips = 0;
        for h in 0..edges.len() {
            if edges.is_there(h) && h < edges.twin(h) && should_flip(edges, h, sharp) {
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
    // Of angles that sum up to half a turn the cotangents cancel; rounding must not flip back and forth.
    if cotangent(c) + cotangent(d) > -1e-6 || !edges.can_flip(h) {
        return false;
    }
    let normal = |[a, b, c]: [DVec3; 3]| (b - a).cross(c - a).normalize_or_zero();
    let old = [[a, b, c], [b, a, d]].map(normal);
    let new = [[a, d, c], [b, c, d]].map(normal);
    let mean = old[0] + old[1];
    new[0].dot(new[1]) > sharp.cos().min(old[0].dot(old[1]))
        && new.iter().all(|n| n.dot(mean) > TURNED * mean.length())
}
