//! Whether a point is inside a body, and how far it is from its surface.

use glam::DVec3;

use crate::geometry::TriMesh;
use crate::geometry::bvh::Bvh;
use crate::geometry::inside::InsideTest;

/// Number of points along a vector away from a body at which it is tested for the body.
const TEST_POINTS: u32 = 12;
/// Length over which these tests are done, over the length of the vector.
const TEST_LENGTH: f64 = 1.5;

/// A body's mesh with the data structures for these questions.
pub struct Inside<'a> {
    mesh: &'a TriMesh,
    crossings: InsideTest<'a>,
    bvh: Bvh,
}

impl<'a> Inside<'a> {
    /// Prepares a closed mesh.
    pub fn new(mesh: &'a TriMesh) -> Self {
        Inside {
            mesh,
            crossings: InsideTest::new(mesh),
            bvh: Bvh::new(mesh),
        }
    }

    /// Whether a point is inside.
    pub fn contains(&self, x: DVec3) -> bool {
        self.crossings.contains(x)
    }

    /// Distance of a point from the surface, m.
    pub fn distance(&self, x: DVec3) -> f64 {
        self.bvh.nearest(self.mesh, x).0.sqrt()
    }

    /// Vector in the plane with this normal that moves a point away from the body, m: to a distance of twice
    /// the size of the nearest triangle or `margin`, whichever is more, but not so far that it meets the body
    /// again.
    pub fn vector_away(&self, x: DVec3, normal: DVec3, margin: f64) -> DVec3 {
        let (squared, t) = self.bvh.nearest(self.mesh, x);
        let [a, b, c] = self.mesh.corners(t as usize);
        let size = a.distance(b).max(b.distance(c)).max(c.distance(a));
        let height = if self.contains(x) {
            -squared.sqrt()
        } else {
            squared.sqrt()
        };
        let out = (b - a).cross(c - a).normalize_or_zero();
        let way = (out - normal * out.dot(normal)).normalize_or_zero();
        let mut length = (margin.max(2.0 * size) - height).max(0.0);
        // Tests slightly beyond the end, and only from where the vector is outside.
        let meets = |length: f64| {
            (0..=TEST_POINTS).any(|k| {
                let along = f64::from(k) / f64::from(TEST_POINTS);
                let from = (-height).max(0.0) + 0.05 * length;
                self.contains(x + way * (from + (TEST_LENGTH * length - from) * along))
            })
        };
        for _ in 0..4 {
            if !meets(length) {
                break;
            }
            length /= 2.0;
        }
        way * length
    }
}
