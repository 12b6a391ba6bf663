//! USD of the elements themselves: one point instancer per body, with a unit sphere as prototype.
//!
//! The instancer is in the prim of its body, so this file and that of the surfaces can be layers of one
//! scene. It is made from frame tables alone, so a shot can be viewed before it has surfaces. Attributes
//! whose columns the frames lack are omitted.

use std::collections::BTreeMap;
use std::io::{self, Write};

use glam::{Quat, Vec3};

use super::text::{self, TimeSamples, integers, unit_vectors, vectors, write_samples};
use crate::columns::Frames;
use crate::export::error::ExportError;
use crate::export::format::{Axes, ExportSummary, FormatEntry, RequiredTables};
use crate::export::job::ExportJob;
use crate::export::space::{FileCoordinates, bounds};
use crate::export::spool::Spool;
use crate::export::text::{array, push_three_digits};
use crate::spec::{ExportFormat, FrameGroup};
use crate::store::{StoreError, atomic};

/// Table entry of USD of elements.
pub const FORMAT: FormatEntry = FormatEntry {
    format: ExportFormat::UsdElements,
    name: "usd-elements",
    extension: "elements.usda",
    requires: RequiredTables::Frames,
    axes: Axes::Chosen,
    single_file: true,
    write,
};

/// Elements of one body and the texts of their attributes.
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
    texts: BTreeMap<&'static str, TimeSamples>,
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
    let mut spool = Spool::next_to(&job.target).map_err(io)?;
    for (done, &frame) in job.frames.iter().enumerate() {
        let table = job.read_table(frame, elements.id.len())?;
        for body in bodies.values_mut() {
            body.add_frame(job, frame, &table, &mut spool).map_err(io)?;
        }
        on_frame(done + 1, job.frames.len());
    }
    atomic::write(&job.target, |out| assemble(job, &bodies, &mut spool, out))?;
    let mut summary = ExportSummary {
        slow_motion: Some(1.0 / job.time_scale()),
        ..ExportSummary::default()
    };
    summary.add(job.target.clone())?;
    Ok(summary)
}

impl BodyElements {
    /// Spools the samples of a frame.
    fn add_frame(
        &mut self,
        job: &ExportJob,
        frame: u32,
        table: &Frames,
        spool: &mut Spool,
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
        let mut texts = vec![
            ("float3[] extent", vectors(&extent(&points, &self.radii))),
            ("point3f[] positions", vectors(&points)),
        ];
        if there(FrameGroup::Rotation) {
            let mut rotations: Vec<[f32; 4]> =
                rows().map(|row| rotation(job.space, table, row)).collect();
            // Of the two quaternions of a rotation, take the one nearer to the last.
            for (rotation, last) in rotations.iter_mut().zip(&self.rotations) {
                if rotation.iter().zip(last).map(|(a, b)| a * b).sum::<f32>() < 0.0 {
                    *rotation = rotation.map(|part| -part);
                }
            }
            texts.push(("quath[] orientations", unit_vectors(&rotations)));
            new_rotations = rotations;
        }
        if there(FrameGroup::Velocity) {
            let time_scale = job.time_scale() as f32;
            let velocities: Vec<[f32; 3]> = lengths(&table.vx, &table.vy, &table.vz)
                .into_iter()
                .map(|velocity| velocity.map(|v| v * time_scale))
                .collect();
            texts.push(("vector3f[] velocities", vectors(&velocities)));
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
            texts.push(("vector3f[] angularVelocities", vectors(&spins)));
        }
        if there(FrameGroup::Stress) {
            let sigma: Vec<f32> = rows().map(|row| table.sigma[row]).collect();
            texts.push((
                "float[] primvars:stress",
                array(&sigma, |out, s| push_three_digits(out, *s)),
            ));
        }
        if there(FrameGroup::Fragment) {
            let labels: Vec<u32> = rows().map(|row| table.fragment[row]).collect();
            texts.push(("int[] primvars:fragment", integers(&labels)));
        }
        self.rotations = new_rotations;
        for (declaration, text) in texts {
            let segment = spool.append(&text)?;
            let samples = self.texts.entry(declaration).or_default();
            samples.push((frame.into(), segment));
        }
        Ok(())
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

fn assemble(
    job: &ExportJob,
    bodies: &BTreeMap<u32, BodyElements>,
    spool: &mut Spool,
    out: &mut impl Write,
) -> io::Result<()> {
    text::write_header(job, out)?;
    for (&number, body) in bodies {
        let name = job.names.body(number);
        let ids = integers(&body.ids).concat();
        let prototypes = array(&body.ids, |out, _| out.push('0')).concat();
        let sizes: Vec<[f32; 3]> = body.radii.iter().map(|&radius| [radius; 3]).collect();
        let sizes = vectors(&sizes).concat();
        write!(
            out,
            "\n    def Xform \"{name}\"\n    {{\n        def PointInstancer \"elements\"\n        {{\n            \
             int64[] ids = {ids}\n            int[] protoIndices = {prototypes}\n            \
             float3[] scales = {sizes}\n            rel prototypes = [</World/{name}/elements/element>]\n"
        )?;
        for (&declaration, texts) in &body.texts {
            let varies = if declaration.contains("primvars:") {
                "vertex"
            } else {
                ""
            };
            write_samples(spool, out, declaration, texts, varies)?;
        }
        write!(
            out,
            "            def Sphere \"element\"\n            {{\n                double radius = 1\n                \
             float3[] extent = [(-1, -1, -1), (1, 1, 1)]\n                \
             color3f[] primvars:displayColor = [(0.8, 0.77, 0.72)] (interpolation = \"constant\")\n            }}\n        }}\n    }}\n"
        )?;
    }
    writeln!(out, "}}")
}
