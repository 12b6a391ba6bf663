//! Where the surface crosses an edge of the grid, and its normal there.

use std::ops::ControlFlow;

use glam::DVec3;

use crate::geometry::mesh::TriMesh;
use crate::geometry::winding::Winding;

/// Steps of bisection in a hole.
const BISECTIONS: u32 = 20;
/// Step of the differences of the winding number in a hole, cells.
const GRADIENT_STEP: f64 = 0.05;

/// A crossing of the surface and an edge of the grid.
#[derive(Clone, Copy, Debug)]
pub struct Crossing {
    /// Its position, m.
    pub position: DVec3,
    /// Unit normal of the surface, outward.
    pub normal: DVec3,
    /// Whether it lies on a triangle of the mesh.
    pub is_on_mesh: bool,
}

impl Crossing {
    /// The crossing on the segment from a point inside to one outside.
    pub fn between(mesh: &TriMesh, winding: &Winding, inside: DVec3, outside: DVec3) -> Self {
        let mut hits = hits(mesh, winding, inside, outside);
        hits.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let along = outside - inside;
        // The first triangle behind which the segment is outside.
        let mut ends: Vec<f64> = hits.iter().map(|hit| hit.0).skip(1).collect();
        ends.push(1.0);
        let first = hits.iter().zip(ends).find(|((part, _), end)| {
            *end == 1.0 || (end > part && !winding.contains(inside + along * ((part + end) / 2.0)))
        });
        if let Some(((part, triangle), _)) = first {
            let [a, b, c] = mesh.corners(*triangle as usize);
            let normal = (b - a).cross(c - a).normalize_or_zero();
            return Crossing {
                position: inside + along * *part,
                normal: if normal.dot(along) < 0.0 {
                    -normal
                } else {
                    normal
                },
                is_on_mesh: true,
            };
        }
        in_hole(winding, inside, outside)
    }
}

/// Parts of the segment at which it crosses triangles, with the triangles.
fn hits(mesh: &TriMesh, winding: &Winding, p: DVec3, q: DVec3) -> Vec<(f64, u32)> {
    let (low, high, along) = (p.min(q), p.max(q), q - p);
    let mut found = Vec::new();
    let _all = winding.bvh().visit(
        |node| (node.low.cmple(high) & low.cmple(node.high)).all(),
        |t| {
            // Möller and Trumbore 1997.
            let [a, b, c] = mesh.corners(t as usize);
            let (ab, ac) = (b - a, c - a);
            let h = along.cross(ac);
            let determinant = ab.dot(h);
            if determinant != 0.0 {
                let s = p - a;
                let u = s.dot(h) / determinant;
                let k = s.cross(ab);
                let v = along.dot(k) / determinant;
                let part = ac.dot(k) / determinant;
                if u >= 0.0 && v >= 0.0 && u + v <= 1.0 && (0.0..=1.0).contains(&part) {
                    found.push((part, t));
                }
            }
            ControlFlow::Continue(())
        },
    );
    found
}

/// The point of a segment through a hole where the winding number is ½, with its gradient as normal.
fn in_hole(winding: &Winding, inside: DVec3, outside: DVec3) -> Crossing {
    let (mut a, mut b) = (inside, outside);
    for _ in 0..BISECTIONS {
        let middle = (a + b) / 2.0;
        match winding.contains(middle) {
            true => a = middle,
            false => b = middle,
        }
    }
    let position = (a + b) / 2.0;
    let step = inside.distance(outside) * GRADIENT_STEP;
    let difference = |axis: DVec3| {
        let [near, far] = [-axis, axis].map(|d| winding.number(position + d * step).abs());
        near - far
    };
    let gradient = DVec3::new(
        difference(DVec3::X),
        difference(DVec3::Y),
        difference(DVec3::Z),
    );
    Crossing {
        position,
        normal: gradient
            .try_normalize()
            .unwrap_or((outside - inside).normalize_or_zero()),
        is_on_mesh: false,
    }
}
