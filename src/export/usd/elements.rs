//! USD of the elements themselves: one point instancer per body, with a unit sphere as prototype.
//!
//! The instancer is in the prim of its body, so this file and that of the surfaces can be layers of one
//! scene. It is made from frame tables alone, so a shot can be viewed before it has surfaces. Attributes
//! whose columns the frames lack are omitted.

use std::collections::BTreeMap;
use std::io;

use glam::{Quat, Vec3};

use super::scene;
use crate::columns::Frames;
use crate::export::error::ExportError;
use crate::export::format::{Axes, ExportSummary, FormatEntry, RequiredTables};
use crate::export::job::ExportJob;
use crate::export::layer::{self, Array, ArraySpool, Digits, Encoding, Layer, Prim, Value};
use crate::export::space::{FileCoordinates, bounds};
use crate::export::surface_arrays::TimeSamples;
use crate::spec::{ExportFormat, FrameGroup};
use crate::store::StoreError;

/// Table entry of USD of elements.
pub const FORMAT: FormatEntry = FormatEntry {
    format: ExportFormat::UsdElements,
    name: "usd-elements",
    extension: "elements.usdc",
    requires: RequiredTables::Frames,
    axes: Axes::Chosen,
    single_file: true,
    write,
};

/// Elements of one body and the arrays of their attributes.
#[derive(Default)]
struct BodyElements {
    /// Rows of the elements in the tables.
    rows: Vec<u32>,
    ids: Vec<u32>,
    /// Radii, units of the file.
    radii: Vec<f32>,
    /// Rotations in the last frame, w first.
    rotations: Vec<[f32; 4]>,
    /// Time samples by declaration of the attribute.
    samples: BTreeMap<&'static str, TimeSamples>,
}

fn write(
    job: &ExportJob,
    on_frame: &mut dyn FnMut(usize, usize),
) -> Result<ExportSummary, ExportError> {
    let elements = job.store.read_element_columns(&["body", "r"])?;
    let mut bodies: BTreeMap<u32, BodyElements> = BTreeMap::new();
    for (row, &body) in elements.body.iter().enumerate() {
        let body = bodies.entry(body).or_default();
        body.rows.push(row as u32);
        body.ids.push(elements.id[row]);
        body.radii.push((elements.r[row] * job.space.scale) as f32);
    }
    let io = |error| StoreError::io(&job.target)(error);
    let mut spool = ArraySpool::next_to(&job.target, Encoding::of(job.usd)).map_err(io)?;
    for (done, &frame) in job.frames.iter().enumerate() {
        let table = job.read_table(frame, elements.id.len())?;
        for body in bodies.values_mut() {
            body.add_frame(job, frame, &table, &mut spool).map_err(io)?;
        }
        on_frame(done + 1, job.frames.len());
    }
    layer::write(
        (&job.target, job.usd),
        &scene::stage(job),
        &mut spool,
        |layer| {
            layer.begin(scene::WORLD)?;
            for (&number, body) in &bodies {
                body.write(&job.names.body(number), layer)?;
            }
            layer.end()
        },
    )?;
    ExportSummary::of_clip(job)
}

impl BodyElements {
    /// Spools the samples of a frame.
    fn add_frame(
        &mut self,
        job: &ExportJob,
        frame: u32,
        table: &Frames,
        spool: &mut ArraySpool,
    ) -> io::Result<()> {
        let rows = || self.rows.iter().map(|&row| row as usize);
        let lengths = |x: &[f32], y: &[f32], z: &[f32]| -> Vec<[f32; 3]> {
            rows()
                .map(|row| job.space.transform([x[row], y[row], z[row]]))
                .collect()
        };
        let there = |group| !job.missing_groups.contains(&group);
        let mut new_rotations = Vec::new();
        let points = lengths(&table.x, &table.y, &table.z);
        let mut add = |declaration: &'static str, array: Array| -> io::Result<()> {
            let samples = self.samples.entry(declaration).or_default();
            samples.push((frame.into(), spool.store(&array)?));
            Ok(())
        };
        add(
            "float3[] extent",
            Array::vectors(&extent(&points, &self.radii)),
        )?;
        add("point3f[] positions", Array::vectors(&points))?;
        if there(FrameGroup::Rotation) {
            let mut rotations: Vec<[f32; 4]> =
                rows().map(|row| rotation(job.space, table, row)).collect();
            // Of the two quaternions of a rotation, take the one nearer to the last.
            for (rotation, last) in rotations.iter_mut().zip(&self.rotations) {
                if rotation.iter().zip(last).map(|(a, b)| a * b).sum::<f32>() < 0.0 {
                    *rotation = rotation.map(|part| -part);
                }
            }
            add("quath[] orientations", Array::Quath(&rotations))?;
            new_rotations = rotations;
        }
        if there(FrameGroup::Velocity) {
            let time_scale = job.time_scale() as f32;
            let velocities: Vec<[f32; 3]> = lengths(&table.vx, &table.vy, &table.vz)
                .into_iter()
                .map(|velocity| velocity.map(|v| v * time_scale))
                .collect();
            add("vector3f[] velocities", Array::vectors(&velocities))?;
        }
        if there(FrameGroup::Spin) {
            // Angular velocities in USD are in degrees per played second.
            let time_scale = job.time_scale() as f32;
            let spins: Vec<[f32; 3]> = rows()
                .map(|row| [table.wx[row], table.wy[row], table.wz[row]])
                .map(|spin| {
                    job.space
                        .rotate(spin)
                        .map(|w| (w * time_scale).to_degrees())
                })
                .collect();
            add("vector3f[] angularVelocities", Array::vectors(&spins))?;
        }
        if there(FrameGroup::Stress) {
            let sigma: Vec<f32> = rows().map(|row| table.sigma[row]).collect();
            let sigma = Array::Floats(&sigma, Digits::Three);
            add("float[] primvars:stress", sigma)?;
        }
        if there(FrameGroup::Fragment) {
            let labels: Vec<u32> = rows().map(|row| table.fragment[row]).collect();
            add("int[] primvars:fragment", Array::Ints(&labels))?;
        }
        self.rotations = new_rotations;
        Ok(())
    }

    /// Writes the prim of the body.
    fn write(&self, name: &str, layer: &mut dyn Layer) -> io::Result<()> {
        let sizes: Vec<[f32; 3]> = self.radii.iter().map(|&radius| [radius; 3]).collect();
        layer.begin(Prim::new("Xform", name))?;
        layer.begin(Prim::new("PointInstancer", "elements"))?;
        layer.set_array("int64[] ids", "", &Array::Longs(&self.ids))?;
        let prototypes = vec![0; self.ids.len()];
        layer.set_array("int[] protoIndices", "", &Array::Ints(&prototypes))?;
        layer.set_array("float3[] scales", "", &Array::vectors(&sizes))?;
        let prototype = format!("/World/{name}/elements/element");
        layer.relationship("prototypes", &[prototype])?;
        for (&declaration, samples) in &self.samples {
            let is_primvar = declaration.contains("primvars:");
            let varies = if is_primvar { "vertex" } else { "" };
            layer.animate(declaration, varies, samples)?;
        }
        layer.begin(Prim::new("Sphere", "element"))?;
        layer.set("double radius", Value::Double(1.0))?;
        layer.set_array(
            "float3[] extent",
            "",
            &Array::vectors(&[[-1.0; 3], [1.0; 3]]),
        )?;
        let colour = Array::vectors(&[scene::OUTSIDE]);
        layer.set_array("color3f[] primvars:displayColor", "constant", &colour)?;
        layer.end()?;
        layer.end()?;
        layer.end()
    }
}

/// Rotation of an element as a unit quaternion, w first.
fn rotation(space: FileCoordinates, table: &Frames, row: usize) -> [f32; 4] {
    let [x, y, z] = space.rotate([table.qx[row], table.qy[row], table.qz[row]]);
    let rotation = Quat::from_xyzw(x, y, z, table.qw[row]).normalize();
    [rotation.w, rotation.x, rotation.y, rotation.z]
}

/// Bounds of spheres.
fn extent(points: &[[f32; 3]], radii: &[f32]) -> [[f32; 3]; 2] {
    let reach = radii.iter().copied().fold(0.0, f32::max);
    let (low, high) = bounds(points);
    [
        (Vec3::from(low) - reach).to_array(),
        (Vec3::from(high) + reach).to_array(),
    ]
}
