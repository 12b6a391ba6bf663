//! Shapes as the filler sees them: which points of a row lie inside, and at least so deep.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::lattice::NEIGHBOURS;
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

/// Rows, and points of a row, that sample the box of a shape whose volume has no closed formula.
const SAMPLES: [u32; 2] = [1024, 48];

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

    /// Volume within the shape's bounds, m³: the part of points spread evenly over them that lies inside,
    /// whatever their proportions.
    pub fn sampled_volume(&self, (low, high): (DVec3, DVec3)) -> f64 {
        let [rows, points] = SAMPLES;
        // Kronecker's sequence in three dimensions: powers of the reciprocal of the root of x⁴ = x + 1.
        let part = |row: u32, power: i32| {
            (f64::from(row) * 1.220_744_084_605_759_6_f64.powi(-power)).fract()
        };
        let inside: usize = (0..rows)
            .into_par_iter()
            .map_init(
                Default::default,
                |(xs, inside): &mut (Vec<f64>, Vec<bool>), row| {
                    let first =
                        DVec3::new(part(row, 1) / f64::from(points), part(row, 2), part(row, 3));
                    let first = low + (high - low) * first;
                    let step = (high.x - low.x) / f64::from(points);
                    xs.clear();
                    xs.extend((0..points).map(|i| first.x + step * f64::from(i)));
                    self.row(xs, first.y, first.z, 0.0, inside);
                    inside.iter().filter(|inside| **inside).count()
                },
            )
            .sum();
        (high - low).element_product() * inside as f64 / f64::from(rows * points)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    #[test]
    fn volume_is_sampled_alike_in_balls_plates_and_needles() {
        for flat in [1.0, 1e-3, 1e3] {
            let size = DVec3::new(1.0, flat, 0.5);
            // A cylinder fills π/4 of its box.
            let tin = Solid::Cylinder {
                radius: 0.5,
                height: flat,
            };
            let half = DVec3::new(0.5, flat / 2.0, 0.5);
            let found = tin.sampled_volume((-half, half));
            assert!((found / (PI / 4.0 * flat) - 1.0).abs() < 2e-3, "{found}");
            // A box within a box.
            let cuboid = Solid::Cuboid { half: size * 0.4 };
            let found = cuboid.sampled_volume((-size / 2.0, size / 2.0));
            assert!((found / (0.512 * 0.5 * flat) - 1.0).abs() < 5e-3, "{found}");
        }
        let flat = Solid::Ball { radius: 1.0 };
        assert_eq!(flat.sampled_volume((DVec3::ZERO, DVec3::X)), 0.0);
    }
}
