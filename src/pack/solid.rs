//! Inside tests for the shapes that are filled: which points of a row lie inside, at least at a given depth.

use glam::DVec3;

use crate::geometry::TriMesh;
use crate::geometry::bvh::Bvh;
use crate::geometry::inside::InsideTest;

/// A region that is filled, in the frame of the shape.
pub(super) enum FillRegion<'a> {
    /// Ball about the origin.
    Ball { radius: f64 },
    /// Box about the origin.
    Cuboid { half: DVec3 },
    /// Cylinder along y about the origin.
    Cylinder { radius: f64, height: f64 },
    /// Inside of a closed mesh.
    Closed {
        mesh: &'a TriMesh,
        crossings: InsideTest<'a>,
        bvh: Bvh,
    },
}

impl<'a> FillRegion<'a> {
    /// Inside of a mesh that passed its check.
    pub fn closed(mesh: &'a TriMesh) -> Self {
        FillRegion::Closed {
            mesh,
            crossings: InsideTest::new(mesh),
            bvh: Bvh::new(mesh),
        }
    }

    /// Whether each point (x, y, z) of a row lies at least `depth` (m) inside; `xs` ascend, `inside` is overwritten.
    pub fn row(&self, xs: &[f64], y: f64, z: f64, depth: f64, inside: &mut Vec<bool>) {
        let points = || xs.iter().map(|&x| DVec3::new(x, y, z));
        match self {
            FillRegion::Ball { radius } => {
                inside.clear();
                inside.extend(points().map(|p| p.length() <= radius - depth));
            }
            FillRegion::Cuboid { half } => {
                inside.clear();
                inside.extend(points().map(|p| p.abs().cmple(*half - depth).all()));
            }
            FillRegion::Cylinder { radius, height } => {
                inside.clear();
                inside.extend(points().map(|p| {
                    p.x.hypot(p.z) <= radius - depth && p.y.abs() <= height / 2.0 - depth
                }));
            }
            FillRegion::Closed {
                mesh,
                crossings,
                bvh,
            } => {
                crossings.row(xs, y, z, inside);
                for (p, inside) in points().zip(inside) {
                    *inside = *inside && !bvh.any_within(mesh, p, depth);
                }
            }
        }
    }
}
