//! Where a segment crosses a mesh.

use std::ops::ControlFlow;

use glam::DVec3;

use super::bvh::{Bvh, BvhNode};
use super::intersect::segment_meets;
use super::mesh::TriMesh;

/// Fraction of its length at which a line of sight begins, beyond the triangles that its first point is on.
const START: f64 = 1e-6;
/// Rounding error of the parameters at which a segment enters and leaves a box.
const ROUNDING: f64 = 1e-12;

impl Bvh {
    /// Whether the segment from `p` to `q` has a point of the mesh, which is that of the tree.
    pub fn meets_segment(&self, mesh: &TriMesh, p: DVec3, q: DVec3) -> bool {
        let meets = |t: u32| match segment_meets(p, q, mesh.corners(t as usize)) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        self.visit(|node| overlaps(node, p, q - p), meets)
            .is_break()
    }

    /// Whether `p`, which may lie on the mesh, sees `q`: whether the segment between them has no other point of
    /// the mesh. From a point on or in a solid to one in it, the segment then stays in the solid.
    pub fn sees(&self, mesh: &TriMesh, p: DVec3, q: DVec3) -> bool {
        !self.meets_segment(mesh, p.lerp(q, START), q)
    }

    /// Distance (m) from `p` to the first point of the mesh on the segment to `q`, if there is one.
    pub fn first_on_segment(&self, mesh: &TriMesh, p: DVec3, q: DVec3) -> Option<f64> {
        let mut first: Option<f64> = None;
        let _all = self.visit(
            |node| overlaps(node, p, q - p),
            |t| {
                let [a, b, c] = mesh.corners(t as usize);
                if segment_meets(p, q, [a, b, c]) {
                    let normal = (b - a).cross(c - a);
                    let heights = [p, q].map(|end| (end - a).dot(normal));
                    let part = heights[0] / (heights[0] - heights[1]);
                    // A segment in the plane of the triangle begins to touch it at `p` or later.
                    let part = if part.is_finite() { part } else { 0.0 };
                    let distance = part.clamp(0.0, 1.0) * p.distance(q);
                    first = Some(first.map_or(distance, |known| known.min(distance)));
                }
                ControlFlow::Continue(())
            },
        );
        first
    }
}

/// Whether the segment from `p` along `step` overlaps the box of a node.
fn overlaps(node: &BvhNode, p: DVec3, step: DVec3) -> bool {
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for axis in 0..3 {
        let [low, high] = [node.low, node.high].map(|corner| corner[axis] - p[axis]);
        if step[axis] == 0.0 {
            if low > 0.0 || high < 0.0 {
                return false;
            }
            continue;
        }
        let [a, b] = [low, high].map(|distance| distance / step[axis]);
        enter = enter.max(a.min(b));
        leave = leave.min(a.max(b));
    }
    enter <= leave + ROUNDING
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::icosphere;

    #[test]
    fn segments_meet_a_ball_where_all_triangles_say_so() {
        let mesh = icosphere(3);
        let bvh = Bvh::new(&mesh);
        let mut met = 0;
        for k in 0..3000_u32 {
            let part = |m: u32| f64::from((6 * k + m).wrapping_mul(0x9e37_79b9) >> 8) / 8388608.0;
            let point = |m: u32| 1.6 * (DVec3::new(part(m), part(m + 1), part(m + 2)) - 1.0);
            // Some segments are parallel to an axis.
            let (p, mut q) = (point(0), point(3));
            if k % 5 == 0 {
                q = DVec3::new(q.x, p.y, p.z);
            }
            let all = 0..mesh.triangles.len();
            let expected = all.clone().any(|t| segment_meets(p, q, mesh.corners(t)));
            assert_eq!(bvh.meets_segment(&mesh, p, q), expected, "{p} {q}");
            let first = bvh.first_on_segment(&mesh, p, q);
            assert_eq!(first.is_some(), expected);
            let Some(distance) = first else { continue };
            met += 1;
            let at = p + (q - p).normalize() * distance;
            assert!((at.length() - 1.0).abs() < 0.01, "{at}");
            let before = p.lerp(at, 1.0 - 1e-6);
            assert!(!bvh.meets_segment(&mesh, p, before));
            // Seen from its own point, the mesh is in the way unless the rest of the segment lies on one side.
            let own = mesh.positions[k as usize % mesh.positions.len()];
            assert!(bvh.sees(&mesh, own, 0.3 * p));
            assert!(bvh.sees(&mesh, own, 2.0 * own));
            assert!(!bvh.sees(&mesh, own, -2.0 * own));
        }
        assert!(met > 500, "{met}");
    }
}
