//! USD of the elements themselves: one point instancer a body, its prototype a unit sphere.
//!
//! It stands beside the fragments of its body, so that this file and that of the surfaces can be layers of
//! one scene. Made from frame tables alone, so that a shot can be looked at before it has surfaces. Columns
//! that the frames leave out are left out.

use std::collections::BTreeMap;
use std::io::{self, Write};

use glam::{Quat, Vec3};

use super::text::{self, Samples, numbers, samples, units, vectors};
use crate::columns::Frames;
use crate::export::error::ExportError;
use crate::export::format::{Axes, ExportSummary, Format, Needs};
use crate::export::job::Job;
use crate::export::space::{Space, bounds};
use crate::export::spool::Spool;
use crate::export::text::{array, push_rough};
use crate::spec::{ExportFormat, FrameGroup};
use crate::store::{StoreError, atomic};

/// USD of elements.
pub const FORMAT: Format = Format {
    format: ExportFormat::UsdElements,
    name: "usd-elements",
    extension: "elements.usda",
    needs: Needs::Frames,
    space: Axes::Chosen,
    single: true,
    write,
};

/// The elements of a body, and their texts.
#[derive(Default)]
struct Body {
    rows: Vec<u32>,
    ids: Vec<u32>,
    /// Units of the file.
    radii: Vec<f32>,
    /// Rotations in the last frame.
    turns: Vec<[f32; 4]>,
    /// By declaration.
    texts: BTreeMap<&'static str, Samples>,
}

fn write(job: &Job, on_frame: &mut dyn FnMut(usize, usize)) -> Result<ExportSummary, ExportError> {
    let elements = job.store.read_element_columns(&["body", "r"])?;
    let mut bodies: BTreeMap<u32, Body> = BTreeMap::new();
    for (row, &body) in elements.body.iter().enumerate() {
        let body = bodies.entry(body).or_default();
        body.rows.push(row as u32);
        body.ids.push(elements.id[row]);
        body.radii.push((elements.r[row] * job.space.scale) as f32);
    }
    let io = |error| StoreError::io(&job.target)(error);
    let mut spool = Spool::beside(&job.target).map_err(io)?;
    for (done, &frame) in job.frames.iter().enumerate() {
        let table = job.read_table(frame, elements.id.len())?;
        for body in bodies.values_mut() {
            body.follow(job, frame, &table, &mut spool).map_err(io)?;
        }
        on_frame(done + 1, job.frames.len());
    }
    atomic::write(&job.target, |out| assemble(job, &bodies, &mut spool, out))?;
    let mut summary = ExportSummary {
        slow_motion: Some(1.0 / job.pace()),
        ..ExportSummary::default()
    };
    summary.add(job.target.clone())?;
    Ok(summary)
}

impl Body {
    /// Spools what a frame has of it.
    fn follow(
        &mut self,
        job: &Job,
        frame: u32,
        table: &Frames,
        spool: &mut Spool,
    ) -> io::Result<()> {
        let rows = || self.rows.iter().map(|&row| row as usize);
        let lengths = |x: &[f32], y: &[f32], z: &[f32]| -> Vec<[f32; 3]> {
            rows()
                .map(|row| job.space.lengths([x[row], y[row], z[row]]))
                .collect()
        };
        let there = |group| !job.left_out.contains(&group);
        let mut new_turns = Vec::new();
        let points = lengths(&table.x, &table.y, &table.z);
        let mut texts = vec![
            ("float3[] extent", vectors(&extent(&points, &self.radii))),
            ("point3f[] positions", vectors(&points)),
        ];
        if there(FrameGroup::Rotation) {
            let mut turns: Vec<[f32; 4]> = rows().map(|row| turn(job.space, table, row)).collect();
            // Of the two quaternions of a rotation the one beside the last.
            for (turn, last) in turns.iter_mut().zip(&self.turns) {
                if turn.iter().zip(last).map(|(a, b)| a * b).sum::<f32>() < 0.0 {
                    *turn = turn.map(|part| -part);
                }
            }
            texts.push(("quath[] orientations", units(&turns)));
            new_turns = turns;
        }
        if there(FrameGroup::Velocity) {
            let pace = job.pace() as f32;
            let velocities: Vec<[f32; 3]> = lengths(&table.vx, &table.vy, &table.vz)
                .into_iter()
                .map(|velocity| velocity.map(|v| v * pace))
                .collect();
            texts.push(("vector3f[] velocities", vectors(&velocities)));
        }
        if there(FrameGroup::Spin) {
            // USD turns by degrees a second that is played.
            let pace = job.pace() as f32;
            let spins: Vec<[f32; 3]> = rows()
                .map(|row| [table.wx[row], table.wy[row], table.wz[row]])
                .map(|spin| job.space.turned(spin).map(|w| (w * pace).to_degrees()))
                .collect();
            texts.push(("vector3f[] angularVelocities", vectors(&spins)));
        }
        if there(FrameGroup::Stress) {
            let sigma: Vec<f32> = rows().map(|row| table.sigma[row]).collect();
            texts.push((
                "float[] primvars:stress",
                array(&sigma, |out, s| push_rough(out, *s)),
            ));
        }
        if there(FrameGroup::Fragment) {
            let labels: Vec<u32> = rows().map(|row| table.fragment[row]).collect();
            texts.push(("int[] primvars:fragment", numbers(&labels)));
        }
        self.turns = new_turns;
        for (declaration, text) in texts {
            let segment = spool.append(&text)?;
            let samples = self.texts.entry(declaration).or_default();
            samples.push((frame.into(), segment));
        }
        Ok(())
    }
}

/// How an element is turned, w first.
fn turn(space: Space, table: &Frames, row: usize) -> [f32; 4] {
    let [x, y, z] = space.turned([table.qx[row], table.qy[row], table.qz[row]]);
    let turn = Quat::from_xyzw(x, y, z, table.qw[row]).normalize();
    [turn.w, turn.x, turn.y, turn.z]
}

/// Bounds of balls.
fn extent(points: &[[f32; 3]], radii: &[f32]) -> [[f32; 3]; 2] {
    let reach = radii.iter().copied().fold(0.0, f32::max);
    let (low, high) = bounds(points);
    [
        (Vec3::from(low) - reach).to_array(),
        (Vec3::from(high) + reach).to_array(),
    ]
}

fn assemble(
    job: &Job,
    bodies: &BTreeMap<u32, Body>,
    spool: &mut Spool,
    out: &mut impl Write,
) -> io::Result<()> {
    text::head(job, out)?;
    for (&number, body) in bodies {
        let name = job.names.body(number);
        let ids = numbers(&body.ids).concat();
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
            samples(spool, out, declaration, texts, varies)?;
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
