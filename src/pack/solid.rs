//! Shapes as the filler sees them: which points of a row lie inside, and at least so deep.

use glam::DVec3;

use super::hexagonal::NEIGHBOURS;
use crate::geometry::TriMesh;
use crate::geometry::bvh::Bvh;
use crate::geometry::inside::Crossings;
use crate::geometry::winding::Winding;

/// A shape in its own frame.
pub(super) enum Solid<'a> {
    /// Ball about the origin.
    Ball { radius: f64 },
    /// Box about the origin.
    Cuboid { half: DVec3 },
    /// Cylinder along y about the origin.
    Cylinder { radius: f64, height: f64 },
    /// Inside of a closed mesh.
    Closed {
        mesh: &'a TriMesh,
        crossings: Crossings<'a>,
        bvh: Bvh,
    },
    /// Where an open or self-cutting mesh winds round.
    Wound {
        mesh: &'a TriMesh,
        winding: Winding<'a>,
    },
}

impl<'a> Solid<'a> {
    /// Inside of a mesh that passed its check.
    pub fn closed(mesh: &'a TriMesh) -> Self {
        Solid::Closed {
            mesh,
            crossings: Crossings::new(mesh),
            bvh: Bvh::new(mesh),
        }
    }

    /// Inside of any mesh, by winding number.
    pub fn wound(mesh: &'a TriMesh) -> Self {
        Solid::Wound {
            mesh,
            winding: Winding::new(mesh),
        }
    }

    /// Whether each point (x, y, z) of a row lies at least `depth` (m) inside; `xs` ascend, `inside` is overwritten.
    pub fn row(&self, xs: &[f64], y: f64, z: f64, depth: f64, inside: &mut Vec<bool>) {
        let points = || xs.iter().map(|&x| DVec3::new(x, y, z));
        match self {
            Solid::Ball { radius } => {
                inside.clear();
                inside.extend(points().map(|p| p.length() <= radius - depth));
            }
            Solid::Cuboid { half } => {
                inside.clear();
                inside.extend(points().map(|p| p.abs().cmple(*half - depth).all()));
            }
            Solid::Cylinder { radius, height } => {
                inside.clear();
                inside.extend(points().map(|p| {
                    p.x.hypot(p.z) <= radius - depth && p.y.abs() <= height / 2.0 - depth
                }));
            }
            Solid::Closed {
                mesh,
                crossings,
                bvh,
            } => {
                crossings.row(xs, y, z, inside);
                for (p, inside) in points().zip(inside) {
                    *inside = *inside && !bvh.any_within(mesh, p, depth);
                }
            }
            Solid::Wound { mesh, winding } => {
                inside.clear();
                inside.extend(points().map(|p| {
                    // Triangles may lie within the body, so depth is asked of the winding number, not of the distance.
                    winding.contains(p)
                        && (depth == 0.0
                            || !winding.bvh().any_within(mesh, p, depth)
                            || NEIGHBOURS.iter().all(|d| winding.contains(p + *d * depth)))
                }));
            }
        }
    }
}
