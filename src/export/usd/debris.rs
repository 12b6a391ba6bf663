//! Debris in a USD file: fragments below a size are instances of a few shapes, one point instancer per body.
//!
//! There is one instance per label; `invisibleIds` lists those that do not exist in a frame or are too large
//! to be debris. Its shape is that of a fragment of about the same size, stretched along the axes at rest to
//! the fragment's bounding box. It moves as the rigid body that fits the fragment best.

use std::io;

use glam::{DQuat, Vec3};

use super::mesh::{write_shape, write_subsets, write_topology};
use crate::export::epochs::Epoch;
use crate::export::job::ExportJob;
use crate::export::keyframe::JUMP_DURATION;
use crate::export::layer::{Array, Layer, Prim, StoredArray};
use crate::export::rest_arrays::RestArrays;
use crate::export::space::bounds;
use crate::export::surface_arrays::{SurfaceArrays, TimeSamples};

/// Maximum number of shapes per body: enough that equal shapes rarely lie side by side.
const MAX_SHAPES: usize = 8;

/// Debris of one body.
pub struct Debris<'a> {
    instances: Vec<DebrisInstance<'a>>,
    /// Shapes that the instances share.
    shapes: Vec<&'a RestArrays>,
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
    epochs: Vec<&'a Epoch<SurfaceArrays>>,
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
        fragments: impl Iterator<Item = (&'a (u32, u32), &'a Vec<Epoch<SurfaceArrays>>)>,
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
    pub fn write(&self, job: &ExportJob, body: &str, layer: &mut dyn Layer) -> io::Result<()> {
        if self.instances.is_empty() {
            return Ok(());
        }
        let per_instance = |number: fn(&DebrisInstance) -> u32| -> Vec<u32> {
            self.instances.iter().map(number).collect()
        };
        let labels = per_instance(|instance| instance.label);
        let shapes = per_instance(|instance| instance.shape as u32);
        let paths: Vec<String> = (0..self.shapes.len())
            .map(|shape| format!("/World/{body}/debris/prototypes/shape_{shape}"))
            .collect();
        layer.begin(Prim::new("PointInstancer", "debris"))?;
        layer.set_array("int64[] ids", "", &Array::Longs(&labels))?;
        layer.set_array("int[] primvars:fragment", "vertex", &Array::Ints(&labels))?;
        layer.set_array("int[] protoIndices", "", &Array::Ints(&shapes))?;
        layer.relationship("prototypes", &paths)?;
        self.write_motion(job, layer)?;
        layer.begin(Prim::new("Scope", "prototypes"))?;
        for (number, shape) in self.shapes.iter().enumerate() {
            layer.begin(Prim::new("Xform", &format!("shape_{number}")))?;
            layer.begin(Prim::new("Mesh", "mesh"))?;
            write_topology(shape, layer)?;
            write_shape(shape, layer)?;
            write_subsets(shape, layer)?;
            layer.end()?;
            layer.end()?;
        }
        layer.end()?;
        layer.end()
    }

    /// Writes the attributes that change with time.
    fn write_motion(&self, job: &ExportJob, layer: &mut dyn Layer) -> io::Result<()> {
        let frames: Vec<(f64, u32)> = job.frames.iter().map(|&f| (f.into(), f)).collect();
        let times = self.times(&job.frames);
        let vectors = |of: fn(&InstancePose) -> [f32; 3]| {
            move |layer: &mut dyn Layer, poses: &[InstancePose]| {
                let values: Vec<[f32; 3]> = poses.iter().map(of).collect();
                layer.store(&Array::vectors(&values))
            }
        };
        let extents = self.samples(&times, layer, |layer, poses| {
            layer.store(&Array::vectors(&extent(poses)))
        })?;
        layer.animate("float3[] extent", "", &extents)?;
        let positions = self.samples(&times, layer, vectors(|pose| pose.position))?;
        layer.animate("point3f[] positions", "", &positions)?;
        let rotations = self.samples(&times, layer, |layer, poses| {
            let rotations: Vec<[f32; 4]> = poses.iter().map(|pose| pose.rotation).collect();
            layer.store(&Array::Quath(&rotations))
        })?;
        layer.animate("quath[] orientations", "", &rotations)?;
        let velocities = self.samples(&times, layer, vectors(|pose| pose.velocity))?;
        layer.animate("vector3f[] velocities", "", &velocities)?;
        let spins = self.samples(&times, layer, vectors(|pose| pose.spin))?;
        layer.animate("vector3f[] angularVelocities", "", &spins)?;
        let scales = self.samples(&frames, layer, vectors(|pose| pose.scale))?;
        layer.animate("float3[] scales", "", &step_samples(scales, true))?;
        let hidden = self.samples(&frames, layer, |layer, poses| {
            let all = poses.iter().zip(&self.instances);
            let hidden = all.filter(|(pose, _)| !pose.shown);
            let hidden: Vec<u32> = hidden.map(|(_, instance)| instance.label).collect();
            layer.store(&Array::Longs(&hidden))
        })?;
        layer.animate("int64[] invisibleIds", "", &step_samples(hidden, false))
    }

    /// An array for each of the times, from the poses of all instances.
    fn samples(
        &self,
        times: &[(f64, u32)],
        layer: &mut dyn Layer,
        mut of: impl FnMut(&mut dyn Layer, &[InstancePose]) -> io::Result<StoredArray>,
    ) -> io::Result<TimeSamples> {
        let all = times.iter().zip(self.poses(times));
        all.map(|(&(time, _), poses)| Ok((time, of(layer, &poses)?)))
            .collect()
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
    fn epoch(&self, frame: u32) -> &'a Epoch<SurfaceArrays> {
        let mut epochs = self.epochs.iter();
        let epoch = epochs.rfind(|epoch| epoch.first <= frame);
        epoch.unwrap_or(&self.epochs[0])
    }
}

/// Edge lengths of the bounding box at rest.
fn widths(rest: &RestArrays) -> [f32; 3] {
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
fn step_samples(samples: TimeSamples, interpolated: bool) -> TimeSamples {
    let mut record: TimeSamples = Vec::new();
    let mut before = None;
    for (frame, values) in samples {
        match (before.replace(frame), record.last()) {
            (Some(before), Some((_, last))) if *last != values => {
                let jump = 0.5 * (before + frame);
                let last = interpolated.then_some((jump - JUMP_DURATION, *last));
                record.extend(last);
                record.push((jump, values));
            }
            (Some(_), _) => {}
            (None, _) => record.push((frame, values)),
        }
    }
    record
}
