//! Whether a place is inside a body, and how far off its surface.

use glam::DVec3;

use crate::geometry::TriMesh;
use crate::geometry::bvh::Bvh;
use crate::geometry::inside::InsideTest;

/// Places along the way off a body at which it is looked for again.
const SAMPLES: u32 = 12;
/// How far beyond its end over the length of the way that is done.
const AGAIN: f64 = 1.5;

/// A body's mesh prepared for these questions.
pub struct Inside<'a> {
    mesh: &'a TriMesh,
    crossings: InsideTest<'a>,
    bvh: Bvh,
}

impl<'a> Inside<'a> {
    /// Of a closed mesh.
    pub fn new(mesh: &'a TriMesh) -> Self {
        Inside {
            mesh,
            crossings: InsideTest::new(mesh),
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

    /// Way in the plane with this normal that takes a place outside off the body, m: by twice the size of the
    /// triangle there or `margin`, whichever is more, but not so far that the body is met again.
    pub fn push(&self, x: DVec3, normal: DVec3, margin: f64) -> DVec3 {
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
        // A little farther than it goes, from where it is outside.
        let meets = |length: f64| {
            (0..=SAMPLES).any(|k| {
                let along = f64::from(k) / f64::from(SAMPLES);
                let from = (-height).max(0.0) + 0.05 * length;
                self.contains(x + way * (from + (AGAIN * length - from) * along))
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
