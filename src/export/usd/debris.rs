//! Debris in a USD file: fragments below a size are instances of a few shapes, one point instancer per body.
//!
//! There is one instance per label; `invisibleIds` lists those that do not exist in a frame or are too large
//! to be debris. Its shape is that of a fragment of about the same size, stretched along the axes at rest to
//! the fragment's bounding box. It moves as the rigid body that fits the fragment best.

use std::io::{self, Write};

use glam::{DQuat, Vec3};

use super::prim::{PrimTexts, RestTexts};
use super::text::{JUMP_DURATION, integers, unit_vectors, vectors};
use crate::export::epochs::Epoch;
use crate::export::job::ExportJob;
use crate::export::space::bounds;
use crate::export::spool::Spool;
use crate::export::text::{array, push_u32};

/// Maximum number of shapes per body: enough that equal shapes rarely lie side by side.
const MAX_SHAPES: usize = 8;

/// Debris of one body.
pub struct Debris<'a> {
    instances: Vec<DebrisInstance<'a>>,
    /// Shapes that the instances share.
    shapes: Vec<&'a RestTexts>,
    /// Frames per second of the event.
    fps: f64,
    /// Seconds of the event per played second.
    time_scale: f64,
}

/// A label and its epochs as debris.
struct DebrisInstance<'a> {
    label: u32,
    /// Index of its shape.
    shape: usize,
    epochs: Vec<&'a Epoch<PrimTexts>>,
}

/// Pose of an instance at one time.
struct InstancePose {
    /// Whether the instance is visible.
    shown: bool,
    /// Position of the centre of mass, units of the file.
    position: [f32; 3],
    /// Unit quaternion w, x, y, z.
    rotation: [f32; 4],
    /// Velocity of the centre of mass, units of the file per played second.
    velocity: [f32; 3],
    /// Angular velocity, degrees per played second.
    spin: [f32; 3],
    /// Stretch of the shape along the axes at rest.
    scale: [f32; 3],
    /// Diagonal of the fragment's bounding box at rest, units of the file.
    size: f32,
}

impl<'a> Debris<'a> {
    /// Selects the debris among a body's fragments, given by (body, label).
    pub fn of(
        job: &ExportJob,
        fragments: impl Iterator<Item = (&'a (u32, u32), &'a Vec<Epoch<PrimTexts>>)>,
    ) -> Self {
        let mut instances: Vec<DebrisInstance> = fragments
            .map(|(&(_, label), epochs)| DebrisInstance {
                label,
                shape: 0,
                epochs: epochs.iter().filter(|e| job.is_debris(e.size)).collect(),
            })
            .filter(|instance| !instance.epochs.is_empty())
            .collect();
        let mut by_size: Vec<usize> = (0..instances.len()).collect();
        by_size.sort_by(|&a, &b| {
            let size = |at: usize| instances[at].epochs[0].size;
            size(a).total_cmp(&size(b))
        });
        let count = instances.len().min(MAX_SHAPES);
        let end = |part: usize| part * by_size.len() / count;
        let mut shapes = Vec::new();
        for part in 0..count {
            // All instances of a size class take the shape of the one in the middle.
            let class = &by_size[end(part)..end(part + 1)];
            shapes.push(&instances[class[class.len() / 2]].epochs[0].record.at_rest);
            for &at in class {
                instances[at].shape = part;
            }
        }
        Debris {
            instances,
            shapes,
            fps: job.fps,
            time_scale: job.time_scale(),
        }
    }

    /// Writes the point instancer, if there is debris.
    pub fn write(
        &self,
        job: &ExportJob,
        body: &str,
        spool: &mut Spool,
        out: &mut impl Write,
    ) -> io::Result<()> {
        if self.instances.is_empty() {
            return Ok(());
        }
        let per_instance = |number: fn(&DebrisInstance) -> u32| -> Vec<u32> {
            self.instances.iter().map(number).collect()
        };
        let labels = integers(&per_instance(|instance| instance.label)).concat();
        let shapes = integers(&per_instance(|instance| instance.shape as u32)).concat();
        let paths: Vec<String> = (0..self.shapes.len())
            .map(|shape| format!("</World/{body}/debris/prototypes/shape_{shape}>"))
            .collect();
        write!(
            out,
            "        def PointInstancer \"debris\"\n        {{\n            int64[] ids = {labels}\n            \
             int[] primvars:fragment = {labels} (interpolation = \"vertex\")\n            int[] protoIndices = {shapes}\n            \
             rel prototypes = [{}]\n",
            paths.join(", ")
        )?;
        let frames: Vec<(f64, u32)> = job.frames.iter().map(|&f| (f.into(), f)).collect();
        let samples_at = |times: &[(f64, u32)], of: &dyn Fn(&[InstancePose]) -> Vec<String>| {
            let all = times.iter().zip(self.poses(times));
            all.map(|(&(time, _), poses)| (time, of(&poses).concat()))
                .collect::<Vec<(f64, String)>>()
        };
        let times = self.times(&job.frames);
        let pose_samples = |of: &dyn Fn(&[InstancePose]) -> Vec<String>| samples_at(&times, of);
        let extents = pose_samples(&|poses| vectors(&extent(poses)));
        let positions = pose_samples(&|poses| {
            let positions: Vec<[f32; 3]> = poses.iter().map(|pose| pose.position).collect();
            vectors(&positions)
        });
        let rotations = pose_samples(&|poses| {
            let rotations: Vec<[f32; 4]> = poses.iter().map(|pose| pose.rotation).collect();
            unit_vectors(&rotations)
        });
        let velocities = pose_samples(&|poses| {
            let velocities: Vec<[f32; 3]> = poses.iter().map(|pose| pose.velocity).collect();
            vectors(&velocities)
        });
        let spins = pose_samples(&|poses| {
            let spins: Vec<[f32; 3]> = poses.iter().map(|pose| pose.spin).collect();
            vectors(&spins)
        });
        let scales = samples_at(&frames, &|poses| {
            let scales: Vec<[f32; 3]> = poses.iter().map(|pose| pose.scale).collect();
            vectors(&scales)
        });
        let hidden = samples_at(&frames, &|poses| {
            let all = poses.iter().zip(&self.instances);
            let hidden: Vec<u32> = all
                .filter(|(pose, _)| !pose.shown)
                .map(|(_, instance)| instance.label)
                .collect();
            array(&hidden, |out, label| push_u32(out, *label))
        });
        for (declaration, samples) in [
            ("float3[] extent", extents),
            ("point3f[] positions", positions),
            ("quath[] orientations", rotations),
            ("vector3f[] velocities", velocities),
            ("vector3f[] angularVelocities", spins),
            ("float3[] scales", step_samples(scales, true)),
            ("int64[] invisibleIds", step_samples(hidden, false)),
        ] {
            writeln!(out, "            {declaration}.timeSamples = {{")?;
            for (time, text) in samples {
                writeln!(out, "                {time}: {text},")?;
            }
            writeln!(out, "            }}")?;
        }
        writeln!(out, "            def Scope \"prototypes\"\n            {{")?;
        for (number, shape) in self.shapes.iter().enumerate() {
            write!(
                out,
                "            def Xform \"shape_{number}\"\n            {{\n            def Mesh \"mesh\"\n            {{\n"
            )?;
            shape.write_topology(spool, out)?;
            shape.write_shape(spool, out)?;
            shape.write_subsets(spool, out)?;
            writeln!(out, "            }}\n            }}")?;
        }
        writeln!(out, "            }}\n        }}")
    }

    /// Times of the poses, each with the frame whose epochs apply: all frames, and both sides of the middle
    /// between two frames where a label continues with another surface.
    fn times(&self, frames: &[u32]) -> Vec<(f64, u32)> {
        let mut times = Vec::new();
        for (at, &frame) in frames.iter().enumerate() {
            if let Some(&before) = at.checked_sub(1).and_then(|before| frames.get(before)) {
                let continues =
                    |one: &DebrisInstance| std::ptr::eq(one.epoch(before), one.epoch(frame));
                if !self.instances.iter().all(continues) {
                    let jump = 0.5 * (f64::from(before) + f64::from(frame));
                    times.extend([(jump - JUMP_DURATION, before), (jump, frame)]);
                }
            }
            times.push((frame.into(), frame));
        }
        times
    }

    /// Poses of all instances at each of the times, which ascend.
    fn poses(&self, times: &[(f64, u32)]) -> Vec<Vec<InstancePose>> {
        let mut last = vec![DQuat::IDENTITY; self.instances.len()];
        let mut poses = |&(time, frame): &(f64, u32)| {
            let all = self.instances.iter().zip(&mut last);
            all.map(|(instance, last)| self.pose(instance, time, frame, last))
                .collect()
        };
        times.iter().map(&mut poses).collect()
    }

    /// Pose of an instance at a time, in its epoch of `frame`; before the first and after the last frame of
    /// the epoch by its velocity and spin there. Of the two quaternions of the rotation, the one nearer to
    /// `last`.
    fn pose(
        &self,
        instance: &DebrisInstance,
        time: f64,
        frame: u32,
        last: &mut DQuat,
    ) -> InstancePose {
        let epoch = instance.epoch(frame);
        let next = epoch
            .states
            .partition_point(|state| f64::from(state.frame) <= time);
        let state = &epoch.states[next.saturating_sub(1)];
        let (position, mut rotation) = match epoch.states.get(next) {
            Some(after) if next > 0 && time > f64::from(state.frame) => {
                let whole = f64::from(after.frame - state.frame);
                let part = (time - f64::from(state.frame)) / whole;
                let turned = state.rotation.slerp(after.rotation, part);
                (state.at.lerp(after.at, part), turned)
            }
            _ => {
                // Beyond its frames it moves on with its velocity, for at most one frame: players interpolate
                // with that pose until it appears or disappears half-way.
                let away = (time - f64::from(state.frame)).clamp(-1.0, 1.0);
                let seconds = away / self.fps;
                let turned = DQuat::from_scaled_axis(state.spin * seconds) * state.rotation;
                (state.at + state.velocity * seconds, turned)
            }
        };
        if rotation.dot(*last) < 0.0 {
            rotation = -rotation;
        }
        *last = rotation;
        let rest = &epoch.record.at_rest;
        let (own, shape) = (widths(rest), widths(self.shapes[instance.shape]));
        let [x, y, z, w] = rotation.as_quat().to_array();
        InstancePose {
            shown: (epoch.first..=epoch.last).contains(&frame),
            position: position.as_vec3().to_array(),
            velocity: (state.velocity * self.time_scale).as_vec3().to_array(),
            spin: (state.spin * self.time_scale.to_degrees())
                .as_vec3()
                .to_array(),
            rotation: [w, x, y, z],
            scale: [0, 1, 2].map(|axis| match shape[axis] {
                0.0 => 1.0,
                width => own[axis] / width,
            }),
            size: epoch.size as f32,
        }
    }
}

impl<'a> DebrisInstance<'a> {
    /// The epoch at a frame: the last that began by then, else the first.
    fn epoch(&self, frame: u32) -> &'a Epoch<PrimTexts> {
        let mut epochs = self.epochs.iter();
        let epoch = epochs.rfind(|epoch| epoch.first <= frame);
        epoch.unwrap_or(&self.epochs[0])
    }
}

/// Edge lengths of the bounding box at rest.
fn widths(rest: &RestTexts) -> [f32; 3] {
    let [low, high] = rest.bounds;
    [0, 1, 2].map(|axis| high[axis] - low[axis])
}

/// Bounds of the visible instances in any orientation.
fn extent(poses: &[InstancePose]) -> [[f32; 3]; 2] {
    let ends = poses.iter().filter(|pose| pose.shown).flat_map(|pose| {
        let reach = Vec3::splat(pose.size / 2.0);
        [-reach, reach].map(|reach| (Vec3::from(pose.position) + reach).to_array())
    });
    bounds(&ends.collect::<Vec<_>>()).into()
}

/// Samples of an attribute that is constant except for jumps. A jump is half-way between two frames, as for
/// visibility. Attributes that readers interpolate (`interpolated`) need a sample on both sides of a jump.
fn step_samples(samples: Vec<(f64, String)>, interpolated: bool) -> Vec<(f64, String)> {
    let mut record: Vec<(f64, String)> = Vec::new();
    let mut before = None;
    for (frame, text) in samples {
        match (before.replace(frame), record.last()) {
            (Some(before), Some((_, last))) if *last != text => {
                let jump = 0.5 * (before + frame);
                let last = interpolated.then(|| (jump - JUMP_DURATION, last.clone()));
                record.extend(last);
                record.push((jump, text));
            }
            (Some(_), _) => {}
            (None, _) => record.push((frame, text)),
        }
    }
    record
}
