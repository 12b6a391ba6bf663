//! Checks that the schema cannot express: names that must match, keys that exclude each other, contradictory values.

mod materials;

use std::path::{Path, PathBuf};

use super::body::{
    BodyShape, NEEDS_CUBIC_PACKING, NEEDS_ROWS, PackingSpec, ROPE_NEEDS_AXIS, Rotation,
};
use super::collider::{Action, ColliderShape};
use super::document::{DocumentNode, SourceTexts, ValueOrigin};
use super::error::{Hint, MAX_REPORTED, SpecError, SpecFault};
use super::pipeline::Pipeline;
use super::pose::PrescribedMotion;
use super::replacements::Replacements;
use super::settings::is_shutter;
use super::time::Region;
use crate::geometry::curve::Curve;
use crate::geometry::revolve::Profile;

/// Checks a pipeline that fits the schema, except for values that were `replaced` to make it fit. `document`
/// holds where each value was written; paths of files are relative to `folder`.
pub(super) fn check(
    pipeline: &Pipeline,
    document: &DocumentNode,
    folder: &Path,
    sources: &SourceTexts<'_>,
    replaced: &Replacements,
) -> Vec<(ValueOrigin, SpecError)> {
    let mut check = Check {
        document,
        sources,
        replaced,
        errors: Vec::new(),
    };
    check.pipeline(pipeline, folder);
    check.errors
}

struct Check<'a> {
    document: &'a DocumentNode,
    sources: &'a SourceTexts<'a>,
    replaced: &'a Replacements,
    errors: Vec<(ValueOrigin, SpecError)>,
}

impl Check<'_> {
    /// Reports a fault of the value at `path`, or of the nearest table above it if the value is absent.
    fn fault(&mut self, path: &str, fault: SpecFault) {
        let hidden = match &fault {
            SpecFault::UnknownName { what, .. } => {
                self.replaced.may_hide_names(what) || self.replaced.affects(path)
            }
            SpecFault::DuplicateName(_) | SpecFault::MissingMeshFile(_) => {
                self.replaced.affects(path)
            }
            _ => self.replaced.may_explain(path),
        };
        if hidden {
            return;
        }
        // One more than is reported, to know that there are more.
        if self.errors.len() > MAX_REPORTED {
            return;
        }
        let (at, shown) = self.document.locate(path);
        self.errors.push((at, self.sources.error(at, shown, fault)));
    }

    fn invalid(&mut self, path: &str, what: impl Into<String>) {
        self.fault(path, SpecFault::Invalid(what.into()));
    }

    fn pipeline(&mut self, shot: &Pipeline, folder: &Path) {
        self.time(shot);
        if let Some(bounds) = &shot.world.bounds {
            self.region("world.bounds", bounds);
        }
        if shot.bodies.is_empty() {
            self.invalid("body", "a shot needs at least one [[body]]");
        }
        self.unique_names("material", shot.materials.iter().map(|one| &one.name));
        self.unique_names("body", shot.bodies.iter().map(|one| &one.name));
        self.unique_names("collider", shot.colliders.iter().map(|one| &one.name));
        self.unique_names("attach", shot.attachments.iter().map(|one| &one.name));
        for (index, material) in shot.materials.iter().enumerate() {
            self.material(&format!("material.{index}"), material, shot);
        }
        for (index, body) in shot.bodies.iter().enumerate() {
            let path = format!("body.{index}");
            let names = shot.materials.iter().map(|one| one.name.as_str());
            self.known_name(
                &format!("{path}.material"),
                "material",
                &body.material,
                names,
            );
            if body.packing == (PackingSpec::None {}) && !shot.is_static() {
                self.invalid(
                    &format!("{path}.packing.type"),
                    "a body without elements cannot move; use simulate.method = \"bem\" or another packing",
                );
            }
            self.grains(&path, body, shot);
            let by_elements = shot.is_static() || shot.stress.is_some();
            if let Some((key, why)) = body.boundary_element_refusal().filter(|_| by_elements) {
                self.invalid(&format!("{path}.{key}"), why);
            }
            self.filling(&path, &body.shape, &body.packing, folder);
            self.rotation(&format!("{path}.rotation"), &body.rotation);
            if body.rigid && !body.is_bonded() {
                self.invalid(
                    &format!("{path}.rigid"),
                    "a rigid body cannot consist of loose elements; remove `rigid`, or bond its elements (`bonded`, `packing`)",
                );
            }
        }
        let cracks = shot
            .stress
            .as_ref()
            .is_some_and(|stress| stress.fracture.is_some());
        if cracks && !shot.is_static() {
            self.invalid(
                "stress.fracture",
                "boundary elements crack only bodies at rest; use simulate.method = \"bem\", or remove `fracture`",
            );
        }
        for (index, material) in shot.materials.iter().enumerate() {
            let is_used = shot.bodies.iter().any(|one| one.material == material.name);
            if cracks && is_used && material.tensile_strength.is_none() {
                let fault = SpecFault::Missing {
                    key: "tensile_strength".to_owned(),
                    what: "stress.fracture needs the material's strength".to_owned(),
                };
                self.fault(&format!("material.{index}"), fault);
            }
            if material.toughness.is_some() && material.tensile_strength.is_none() {
                let fault = SpecFault::Missing {
                    key: "tensile_strength".to_owned(),
                    what: "toughness needs the strength from which bonds soften".to_owned(),
                };
                self.fault(&format!("material.{index}"), fault);
            }
        }
        self.pairs(shot);
        self.colliders(shot, folder);
        for (index, attachment) in shot.attachments.iter().enumerate() {
            let path = format!("attach.{index}");
            let names = shot.bodies.iter().map(|one| one.name.as_str());
            self.known_name(&format!("{path}.body"), "body", &attachment.body, names);
            self.region(&format!("{path}.region"), &attachment.region);
            let is_idle = |force: &[f64; 3], torque: &[f64; 3]| [force, torque] == [&[0.0; 3]; 2];
            if matches!(&attachment.action, Action::Force { force, torque, .. } if is_idle(force, torque))
            {
                self.invalid(
                    &format!("{path}.action.force"),
                    "a force of zero has no effect; use type = \"gauge\" to measure displacements",
                );
            }
            if attachment.action == (Action::Pressure { pressure: 0.0 }) {
                self.invalid(
                    &format!("{path}.action.pressure"),
                    "a pressure of zero has no effect; use type = \"gauge\" to measure displacements",
                );
            }
            if let Some(drive) = attachment.action.drive() {
                self.drive(&format!("{path}.action"), &drive);
            }
        }
        for (group, _) in shot.output.precision_bits.groups() {
            if !shot.output.columns.contains(&group) {
                let word = group.name();
                let what =
                    format!("`columns` leaves {word} out; add {word:?} there, or remove this key");
                self.invalid(&format!("output.precision_bits.{word}"), what);
            }
        }
        if shot.export.shutter.is_some_and(|ends| !is_shutter(ends)) {
            self.invalid(
                "export.shutter",
                "the shutter must open before it closes, both within half a frame, for example [-0.25, 0.25]",
            );
        }
        if let Some(camera) = &shot.preview.camera
            && camera.eye == camera.target
        {
            self.invalid(
                "preview.camera.target",
                "the camera's `eye` and `target` are the same point",
            );
        }
        if shot
            .preview
            .section
            .is_some_and(|cut| cut.normal == [0.0; 3])
        {
            self.invalid("preview.section.normal", "the normal must not be zero");
        }
    }

    fn time(&mut self, shot: &Pipeline) {
        let time = &shot.time;
        let frame = 1.0 / time.frames_per_second;
        // A run of one frame must not fail by the rounding of the frame interval.
        if time.end * time.frames_per_second < 1.0 - 1e-9 {
            let what = format!(
                "{} s ends before the first frame at {frame} s; it must be ≥ 1 / frames_per_second",
                time.end
            );
            self.invalid("time.end", what);
        }
        if let Some(step) = time.step
            && step > frame
        {
            let what = format!("{step} s is longer than a frame, {frame} s");
            self.invalid("time.step", what);
        }
    }

    fn unique_names<'n>(&mut self, list: &str, names: impl Iterator<Item = &'n String>) {
        let mut seen: Vec<&String> = Vec::new();
        for (index, name) in names.enumerate() {
            let path = format!("{list}.{index}.name");
            if name.trim().is_empty() {
                self.invalid(&path, "a name must not be empty");
            } else if seen.contains(&name) {
                self.fault(&path, SpecFault::DuplicateName(name.clone()));
            }
            seen.push(name);
        }
    }

    fn known_name<'n>(
        &mut self,
        path: &str,
        what: &'static str,
        name: &str,
        names: impl Iterator<Item = &'n str>,
    ) {
        let names: Vec<&str> = names.collect();
        if !names.contains(&name) {
            let fault = SpecFault::UnknownName {
                what,
                name: name.to_owned(),
                hint: Hint::new(name, names, &format!("[[{what}]] in this file")),
            };
            self.fault(path, fault);
        }
    }

    fn filling(&mut self, path: &str, shape: &BodyShape, packing: &PackingSpec, folder: &Path) {
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
    fn mesh(
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

    fn colliders(&mut self, shot: &Pipeline, folder: &Path) {
        for (index, collider) in shot.colliders.iter().enumerate() {
            let path = format!("collider.{index}");
            self.rotation(&format!("{path}.rotation"), &collider.rotation);
            match &collider.shape {
                ColliderShape::HalfSpace { normal } => {
                    if *normal == [0.0; 3] {
                        self.invalid(
                            &format!("{path}.shape.normal"),
                            "the normal must not be zero",
                        );
                    }
                }
                ColliderShape::Mesh {
                    file,
                    unit,
                    scale,
                    height,
                    ..
                } => self.mesh(&path, unit.is_some(), (*scale, *height), folder.join(file)),
                // The schema has checked their lengths.
                ColliderShape::Box { .. }
                | ColliderShape::Sphere { .. }
                | ColliderShape::Cylinder { .. } => {}
            }
            self.drive(&path, &collider.drive());
        }
    }

    fn drive(&mut self, path: &str, drive: &PrescribedMotion<'_>) {
        if !drive.keys.is_empty() {
            for (key, value) in [("velocity", drive.velocity), ("spin", drive.spin)] {
                if value != [0.0; 3] {
                    let what = format!("`keys` replace `{key}`; give one of them");
                    self.invalid(&format!("{path}.{key}"), what);
                }
            }
        }
        for (index, key) in drive.keys.iter().enumerate() {
            let path = format!("{path}.keys.{index}");
            self.rotation(&format!("{path}.rotation"), &key.rotation);
            if index > 0 && key.time <= drive.keys[index - 1].time {
                let before = drive.keys[index - 1].time;
                let what = format!(
                    "{} s is not later than the key before, at {before} s; times must ascend",
                    key.time
                );
                self.invalid(&format!("{path}.time"), what);
            }
        }
    }

    fn region(&mut self, path: &str, region: &Region) {
        for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
            let (min, max) = (region.min[axis], region.max[axis]);
            if min >= max {
                let what = format!("{max} m is not greater than `min` along {name}, {min} m");
                self.invalid(&format!("{path}.max.{axis}"), what);
            }
        }
    }

    fn rotation(&mut self, path: &str, rotation: &Rotation) {
        if rotation.axis == [0.0; 3] {
            self.invalid(&format!("{path}.axis"), "the axis must not be zero");
        }
    }
}
