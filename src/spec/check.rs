//! Checks that the schema cannot express: names that must match, keys that exclude each other, contradictory values.

mod bodies;
mod faults;
mod materials;

use std::path::Path;

use super::body::{PackingSpec, Rotation};
use super::collider::{Action, ColliderShape};
use super::document::{DocumentNode, SourceTexts, ValueOrigin};
use super::error::SpecError;
use super::export::is_shutter;
use super::pipeline::Pipeline;
use super::pose::PrescribedMotion;
use super::replacements::Replacements;
use super::time::Region;
use faults::Check;

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

impl Check<'_> {
    fn pipeline(&mut self, shot: &Pipeline, folder: &Path) {
        self.time(shot);
        if let Some(bounds) = &shot.world.bounds {
            self.region("world.bounds", bounds);
        }
        self.removal(shot);
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
        self.bodies(shot, folder);
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
        self.strengths(shot, cracks);
        self.pairs(shot);
        self.colliders(shot, folder);
        self.attachments(shot);
        self.outputs(shot);
    }

    fn bodies(&mut self, shot: &Pipeline, folder: &Path) {
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
            self.cracks(&path, body);
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
    }

    fn attachments(&mut self, shot: &Pipeline) {
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
    }

    fn outputs(&mut self, shot: &Pipeline) {
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
        if let Some(detail) = &shot.export.detail
            && let Some((key, why)) = detail.contradiction(shot.preview.camera)
        {
            self.invalid(&format!("export.detail.{key}"), why);
        }
        let of_detail = shot.export.detail.and_then(|detail| detail.camera);
        for (key, camera) in [
            ("preview.camera", shot.preview.camera),
            ("export.detail.camera", of_detail),
        ] {
            if camera.is_some_and(|camera| camera.eye == camera.target) {
                self.invalid(
                    &format!("{key}.target"),
                    "the camera's `eye` and `target` are the same point",
                );
            }
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

    fn removal(&mut self, shot: &Pipeline) {
        if shot.world.remove && shot.world.bounds.is_none() {
            self.invalid("world.remove", "needs world.bounds");
        } else if shot.world.remove && !shot.simulate.sleep {
            self.invalid("world.remove", "needs simulate.sleep = true");
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
