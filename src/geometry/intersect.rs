//! Self-intersections of a mesh: exact tests of triangle against triangle, over a tree of boxes. A shared
//! corner or edge is no intersection.

use std::ops::ControlFlow;

use crate::parallel::prelude::*;
use glam::{DVec2, DVec3, Vec3Swizzles};

use super::bvh::Bvh;
use super::exact::{normal_signs, side, turn};
use super::mesh::TriMesh;

/// Number of pairs of triangles that meet elsewhere than at shared corners and edges, and the first pair.
pub(super) fn self_intersections(mesh: &TriMesh) -> Option<(usize, [u32; 2])> {
    let pairs = meeting_pairs(mesh);
    pairs.first().map(|first| (pairs.len(), *first))
}

/// Pairs of triangles that meet elsewhere than at shared corners and edges, ascending.
pub(super) fn meeting_pairs(mesh: &TriMesh) -> Vec<[u32; 2]> {
    let bvh = Bvh::new(mesh);
    let pairs = (0..mesh.triangles.len() as u32)
        .into_par_iter()
        .map(|t| {
            let [a, b, c] = mesh.corners(t as usize);
            let (low, high) = (a.min(b).min(c), a.max(b).max(c));
            let mut found = Vec::new();
            let _all = bvh.visit(
                |node| (node.low.cmple(high) & low.cmple(node.high)).all(),
                |other| {
                    if other > t && meet(mesh, t, other) {
                        found.push([t, other]);
                    }
                    ControlFlow::Continue(())
                },
            );
            found.sort_unstable();
            found
        })
        .collect::<Vec<_>>();
    pairs.concat()
}

/// Whether two triangles have a common point other than their shared corners and edges.
fn meet(mesh: &TriMesh, s: u32, t: u32) -> bool {
    let (first, second) = (mesh.triangles[s as usize], mesh.triangles[t as usize]);
    let (a, b) = (mesh.corners(s as usize), mesh.corners(t as usize));
    // Triangles without area lie in their neighbours' edges, which are tested themselves.
    if is_flat(a) || is_flat(b) {
        return false;
    }
    let own = |mine: [u32; 3], others: [u32; 3]| (0..3).find(move |k| !others.contains(&mine[*k]));
    match first.iter().filter(|v| second.contains(v)).count() {
        0 => {
            let apart = |[p, q, r]: [DVec3; 3], other: [DVec3; 3]| {
                let sides = other.map(|point| side(p, q, r, point));
                sides.iter().all(|s| *s > 0.0) || sides.iter().all(|s| *s < 0.0)
            };
            !apart(a, b)
                && !apart(b, a)
                && (0..3).any(|k| {
                    segment_meets(a[k], a[(k + 1) % 3], b) || segment_meets(b[k], b[(k + 1) % 3], a)
                })
        }
        1 => {
            // Apart from the shared corner they meet if the opposite edge of one meets the other.
            let opposite = |corners: [DVec3; 3], mine: [u32; 3], others: [u32; 3]| {
                let shared = (0..3)
                    .find(|k| others.contains(&mine[*k]))
                    .expect("one corner is shared");
                [corners[(shared + 1) % 3], corners[(shared + 2) % 3]]
            };
            let [p, q] = opposite(a, first, second);
            let [u, v] = opposite(b, second, first);
            segment_meets(p, q, b) || segment_meets(u, v, a)
        }
        2 => {
            // They are folded flat onto each other if they lie in one plane with both free corners on one
            // side of the edge.
            let k = own(first, second).expect("one corner is free");
            let l = own(second, first).expect("one corner is free");
            if side(a[0], a[1], a[2], b[l]) != 0.0 {
                return false;
            }
            let flatten = projection(a);
            let [p, q, u, v] = [a[(k + 1) % 3], a[(k + 2) % 3], a[k], b[l]].map(flatten);
            turn(p, q, u) * turn(p, q, v) > 0.0
        }
        _ => true,
    }
}

fn is_flat(corners: [DVec3; 3]) -> bool {
    normal_signs(corners).iter().all(|s| *s == 0.0)
}

/// Projection along the axis for which the triangle's projected area is largest.
fn projection(corners: [DVec3; 3]) -> fn(DVec3) -> DVec2 {
    let size = DVec3::from_array(normal_signs(corners)).abs();
    match size.max_position() {
        0 => |p| p.yz(),
        1 => |p| p.zx(),
        _ => |p| p.xy(),
    }
}

/// Whether the segment `pq` and the triangle have a common point, including end points and edges.
pub fn segment_meets(p: DVec3, q: DVec3, triangle: [DVec3; 3]) -> bool {
    let [a, b, c] = triangle;
    let (sp, sq) = (side(a, b, c, p), side(a, b, c, q));
    if (sp > 0.0 && sq > 0.0) || (sp < 0.0 && sq < 0.0) {
        return false;
    }
    if sp == 0.0 && sq == 0.0 {
        let flatten = projection(triangle);
        return segment_meets_flat(flatten(p), flatten(q), triangle.map(flatten));
    }
    let signs = [side(p, q, a, b), side(p, q, b, c), side(p, q, c, a)];
    signs.iter().all(|s| *s >= 0.0) || signs.iter().all(|s| *s <= 0.0)
}

fn segment_meets_flat(p: DVec2, q: DVec2, [a, b, c]: [DVec2; 3]) -> bool {
    let holds = |point: DVec2| {
        let signs = [turn(a, b, point), turn(b, c, point), turn(c, a, point)];
        signs.iter().all(|s| *s >= 0.0) || signs.iter().all(|s| *s <= 0.0)
    };
    holds(p)
        || holds(q)
        || [(a, b), (b, c), (c, a)]
            .iter()
            .any(|&(u, v)| segments_meet(p, q, u, v))
}

/// Whether two segments in the plane cross or touch. Ends inside the triangle are tested by the caller.
fn segments_meet(p: DVec2, q: DVec2, u: DVec2, v: DVec2) -> bool {
    let opposite = |a: f64, b: f64| (a >= 0.0 && b <= 0.0) || (a <= 0.0 && b >= 0.0);
    let (up, uq) = (turn(u, v, p), turn(u, v, q));
    // Collinear: either an end of `pq` lies on the edge, which the caller tests, or `pq` covers the edge.
    if up == 0.0 && uq == 0.0 {
        let (low, high) = (p.min(q), p.max(q));
        return (u.cmpge(low) & u.cmple(high)).all();
    }
    opposite(up, uq) && opposite(turn(p, q, u), turn(p, q, v))
}
