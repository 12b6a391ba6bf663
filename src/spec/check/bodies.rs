//! Checks of the shapes of bodies and of what fills them.

use std::path::{Path, PathBuf};

use glam::DVec3;

use super::faults::Check;
use crate::geometry::curve::Curve;
use crate::geometry::polygon;
use crate::geometry::revolve::Profile;
use crate::spec::body::{
    Body, BodyShape, NEEDS_CUBIC_PACKING, NEEDS_ROWS, PackingSpec, ROPE_NEEDS_AXIS,
};
use crate::spec::error::SpecFault;

impl Check<'_> {
    pub(super) fn filling(
        &mut self,
        path: &str,
        shape: &BodyShape,
        packing: &PackingSpec,
        folder: &Path,
    ) {
        let wall = matches!(
            shape,
            BodyShape::CylinderShell { .. } | BodyShape::SphereShell { .. }
        );
        if wall && !matches!(packing, PackingSpec::Cubic { .. }) {
            self.invalid(&format!("{path}.packing.type"), NEEDS_CUBIC_PACKING);
            return;
        }
        // Whether the shape is given by its rows, or by its layers; whether it has an axis that a rope can wind about.
        let (counted, layered, axial) = match shape {
            BodyShape::Block { .. } => (true, true, false),
            BodyShape::Plate { .. } => (false, true, false),
            BodyShape::Cylinder { .. } | BodyShape::Tube { .. } => (false, false, true),
            BodyShape::Mesh { .. }
            | BodyShape::Box { .. }
            | BodyShape::Sphere { .. }
            | BodyShape::CylinderShell { .. }
            | BodyShape::SphereShell { .. }
            | BodyShape::Revolved { .. } => (false, false, false),
        };
        let (unfit, what) = match packing {
            PackingSpec::None {} => (layered, NEEDS_ROWS),
            PackingSpec::Hexagonal { .. } => (false, NEEDS_ROWS),
            PackingSpec::Random { .. } | PackingSpec::Loose { .. } => (layered, NEEDS_ROWS),
            PackingSpec::Shell { .. } | PackingSpec::Voronoi { .. } | PackingSpec::Cubic { .. } => {
                (layered, NEEDS_ROWS)
            }
            PackingSpec::Woven { .. } => (counted, NEEDS_ROWS),
            PackingSpec::Twisted { .. } => (!axial, ROPE_NEEDS_AXIS),
        };
        if unfit {
            self.invalid(&format!("{path}.packing.type"), what);
        }
        self.size(path, packing, counted);
        self.shape(path, shape, folder);
    }

    pub(super) fn cracks(&mut self, path: &str, body: &Body) {
        if body.cracks.is_empty() {
            return;
        }
        let path = format!("{path}.cracks");
        let why = if body.packing == (PackingSpec::None {}) {
            // Boundary elements refuse it.
            return;
        } else if !body.is_bonded() {
            Some(
                "the elements of this body are loose, so that it cannot have cracks; remove `cracks`",
            )
        } else if body.rigid {
            Some("a rigid body does not break; remove `rigid` or `cracks`")
        } else if body.packing.is_of_cells() {
            Some(
                "bodies of cells cannot have cracks from the start; use another packing, or a shape with a slot",
            )
        } else {
            None
        };
        if let Some(why) = why {
            return self.invalid(&path, why);
        }
        for (index, crack) in body.cracks.iter().enumerate() {
            if let Err(why) = flat_polygon(&crack.points) {
                self.invalid(&format!("{path}.{index}.points"), why);
            }
        }
    }

    /// Checks that either the size or the number of elements is given.
    fn size(&mut self, path: &str, packing: &PackingSpec, counted: bool) {
        let of_cells = match packing {
            PackingSpec::Voronoi { size, cells, .. } => {
                Some((size.is_some(), cells.is_some(), "cells"))
            }
            PackingSpec::Cubic { size, rows } => Some((size.is_some(), rows.is_some(), "rows")),
            PackingSpec::None {} => return,
            _ => None,
        };
        match of_cells {
            Some((true, true, other)) => {
                let what = format!("`size` and `{other}` are both given; give one of them");
                return self.invalid(&format!("{path}.packing.{other}"), what);
            }
            Some((false, false, other)) => {
                let what = format!("give either `size` or `{other}`");
                return self.invalid(&format!("{path}.packing"), what);
            }
            Some(_) => return,
            None => {}
        }
        let (radius, elements) = packing.size();
        match (radius, elements) {
            (Some(_), Some(_)) => self.invalid(
                &format!("{path}.packing.elements"),
                "`radius` and `elements` are both given; give one of them",
            ),
            (None, None) => self.invalid(
                &format!("{path}.packing"),
                "give either `radius` or `elements`",
            ),
            (None, Some(_)) if counted => self.invalid(
                &format!("{path}.packing.elements"),
                "the `rows` of a block give the number of its elements; give `radius`",
            ),
            (Some(_), None) | (None, Some(_)) => {}
        }
    }

    fn shape(&mut self, path: &str, shape: &BodyShape, folder: &Path) {
        match shape {
            BodyShape::Revolved { profile, .. } => {
                if let Err(fault) = Profile::new(profile) {
                    self.invalid(&format!("{path}.shape.profile"), fault.to_string());
                }
            }
            BodyShape::Tube { points, radius } => {
                if let Err(fault) = Curve::new(points, *radius) {
                    self.invalid(&format!("{path}.shape.points"), fault.to_string());
                }
            }
            BodyShape::Plate { size, hole, .. } => {
                if let Some(hole) = hole.filter(|hole| 2.0 * hole >= size[0].min(size[1])) {
                    let what = format!(
                        "a hole of radius {hole} m is too large for a plate of {} x {} m; its radius must be less than half the shorter side",
                        size[0], size[1]
                    );
                    self.invalid(&format!("{path}.shape.hole"), what);
                }
            }
            BodyShape::Mesh {
                file,
                unit,
                scale,
                height,
                ..
            } => self.mesh(path, unit.is_some(), (*scale, *height), folder.join(file)),
            BodyShape::SphereShell {
                radius,
                thickness,
                from,
                to,
            } => {
                self.shell_wall(path, *radius, *thickness);
                if from >= to {
                    let [from, to] = [from, to].map(|angle| angle.to_degrees());
                    let what = format!("{to:.1}° is not greater than `from`, {from:.1}°");
                    self.invalid(&format!("{path}.shape.to"), what);
                }
            }
            BodyShape::CylinderShell {
                radius, thickness, ..
            } => self.shell_wall(path, *radius, *thickness),
            // The schema has checked their lengths and counts.
            BodyShape::Box { .. }
            | BodyShape::Sphere { .. }
            | BodyShape::Cylinder { .. }
            | BodyShape::Block { .. } => {}
        }
    }

    /// Checks a wall with this radius of its middle surface and this thickness, m.
    fn shell_wall(&mut self, path: &str, radius: f64, thickness: f64) {
        if thickness >= 2.0 * radius {
            let what = format!(
                "a wall {thickness} m thick leaves no hollow inside its radius of {radius} m; it must be thinner than twice the radius"
            );
            self.invalid(&format!("{path}.shape.thickness"), what);
        }
    }

    /// Checks the file of a mesh, whether it has a `unit`, and its two sizes, `scale` and `height`.
    pub(super) fn mesh(
        &mut self,
        path: &str,
        has_unit: bool,
        size: (Option<f64>, Option<f64>),
        file: PathBuf,
    ) {
        let other = match size {
            (Some(_), _) => Some("scale"),
            (None, Some(_)) => Some("height"),
            (None, None) => None,
        };
        if let Some(other) = other.filter(|_| has_unit) {
            self.invalid(
                &format!("{path}.shape.unit"),
                format!("`unit` and `{other}` are both given; give one of them"),
            );
        }
        if let (Some(_), Some(_)) = size {
            self.invalid(
                &format!("{path}.shape.scale"),
                "`scale` and `height` are both given; give one of them",
            );
        }
        if !file.is_file() {
            self.fault(
                &format!("{path}.shape.file"),
                SpecFault::MissingMeshFile(file),
            );
        }
    }
}

/// Distance from the plane, over the extent of a polygon, up to which its corners count as in one plane.
const FLAT: f64 = 1e-6;

/// Requires corners of a flat, convex polygon.
fn flat_polygon(points: &[[f64; 3]]) -> Result<(), String> {
    let corners: Vec<DVec3> = points.iter().map(|&p| DVec3::from_array(p)).collect();
    let Some(first) = corners.first().filter(|_| corners.len() >= 3) else {
        let found = corners.len();
        return Err(format!(
            "a polygon has at least 3 corners, this one has {found}"
        ));
    };
    let around = |k: usize| corners[k % corners.len()];
    let normal = polygon::normal(&corners);
    let extent = corners
        .iter()
        .map(|p| p.distance(*first))
        .fold(0.0, f64::max);
    if normal.length() <= FLAT * extent * extent {
        return Err("the corners lie on one line, or the polygon crosses itself".into());
    }
    let normal = normal.normalize();
    if corners
        .iter()
        .any(|p| (p - first).dot(normal).abs() > FLAT * extent)
    {
        return Err(
            "the corners do not lie in one plane; divide the polygon into triangles".into(),
        );
    }
    // Every corner lies on the inner side of every edge, also where a polygon goes round more than once.
    let is_outside = |k: usize, p: &DVec3| {
        let edge = around(k + 1) - around(k);
        edge.cross(*p - around(k)).dot(normal) < -FLAT * extent * extent
    };
    if (0..corners.len()).any(|k| corners.iter().any(|p| is_outside(k, p))) {
        return Err("the polygon is not convex; divide it into convex ones".into());
    }
    Ok(())
}
