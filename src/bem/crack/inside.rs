//! Whether a place is inside a body, and how far off its surface.

use glam::DVec3;

use crate::geometry::TriMesh;
use crate::geometry::bvh::Bvh;
use crate::geometry::inside::Crossings;

/// A body's mesh prepared for these questions.
pub struct Inside<'a> {
    mesh: &'a TriMesh,
    crossings: Crossings<'a>,
    bvh: Bvh,
}

impl<'a> Inside<'a> {
    /// Of a closed mesh.
    pub fn new(mesh: &'a TriMesh) -> Self {
        Inside {
            mesh,
            crossings: Crossings::new(mesh),
            bvh: Bvh::new(mesh),
        }
    }

    /// Whether a place is inside.
    pub fn contains(&self, x: DVec3) -> bool {
        self.crossings.contains(x)
    }

    /// Distance from the surface, m.
    pub fn distance(&self, x: DVec3) -> f64 {
        self.bvh.nearest(self.mesh, x).0.sqrt()
    }

    /// Way in the plane with this normal that takes a place outside as far off the body as `margin`, m; about zero where it is that far.
    pub fn push(&self, x: DVec3, normal: DVec3, margin: f64) -> DVec3 {
        let Some((near, t)) = self.bvh.nearest_within(self.mesh, x, 4.0 * margin) else {
            return DVec3::ZERO;
        };
        let [a, b, c] = self.mesh.corners(t as usize);
        let out = (b - a).cross(c - a).normalize_or_zero();
        let height = if self.contains(x) {
            -x.distance(near)
        } else {
            x.distance(near)
        };
        let way = (out - normal * out.dot(normal)).normalize_or_zero();
        way * (margin - height).max(0.0)
    }
}
