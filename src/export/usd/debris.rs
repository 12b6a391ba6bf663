//! Debris in a USD file: fragments below a size are instances of a few shapes, one point instancer a body.
//!
//! An instance is a label; `invisibleIds` names those that are not there, or are too large to be debris. Its
//! shape is that of a fragment of about its size, stretched along the axes at rest until both fill a box of
//! the same size, and moves as the rigid body nearest to the fragment.

use std::io::{self, Write};

use glam::{DQuat, Vec3};

use super::prim::{AtRest, Texts};
use super::text::{AT_ONCE, numbers, units, vectors};
use crate::export::epochs::Epoch;
use crate::export::job::Job;
use crate::export::space::bounds;
use crate::export::spool::Spool;
use crate::export::text::{array, push_u32};

/// Shapes a body's debris has at most: enough that no two alike lie side by side.
const SHAPES: usize = 8;

/// The debris of a body.
pub struct Debris<'a> {
    instances: Vec<Instance<'a>>,
    shapes: Vec<&'a AtRest>,
    fps: f64,
    pace: f64,
}

/// A fragment while it is debris.
struct Instance<'a> {
    label: u32,
    shape: usize,
    epochs: Vec<&'a Epoch<Texts>>,
}

/// An instance in a frame.
struct Pose {
    shown: bool,
    place: [f32; 3],
    /// w, x, y, z.
    rotation: [f32; 4],
    /// Of the centre of mass, units of the file a second that is played.
    velocity: [f32; 3],
    /// Degrees a second that is played.
    spin: [f32; 3],
    scale: [f32; 3],
    size: f32,
}

impl<'a> Debris<'a> {
    /// What of a body's fragments is debris, by label.
    pub fn of(
        job: &Job,
        fragments: impl Iterator<Item = (&'a (u32, u32), &'a Vec<Epoch<Texts>>)>,
    ) -> Self {
        let mut instances: Vec<Instance> = fragments
            .map(|(&(_, label), turns)| Instance {
                label,
                shape: 0,
                epochs: turns.iter().filter(|e| job.is_debris(e.size)).collect(),
            })
            .filter(|instance| !instance.epochs.is_empty())
            .collect();
        let mut by_size: Vec<usize> = (0..instances.len()).collect();
        by_size.sort_by(|&a, &b| {
            let size = |at: usize| instances[at].epochs[0].size;
            size(a).total_cmp(&size(b))
        });
        let count = instances.len().min(SHAPES);
        let end = |part: usize| part * by_size.len() / count;
        let mut shapes = Vec::new();
        for part in 0..count {
            // What is larger and what is smaller takes the shape of the middle one.
            let like = &by_size[end(part)..end(part + 1)];
            shapes.push(&instances[like[like.len() / 2]].epochs[0].kept.at_rest);
            for &at in like {
                instances[at].shape = part;
            }
        }
        Debris {
            instances,
            shapes,
            fps: job.fps,
            pace: job.pace(),
        }
    }

    /// Writes the instancer, if there is debris.
    pub fn write(
        &self,
        job: &Job,
        body: &str,
        spool: &mut Spool,
        out: &mut impl Write,
    ) -> io::Result<()> {
        if self.instances.is_empty() {
            return Ok(());
        }
        let of_all = |number: fn(&Instance) -> u32| -> Vec<u32> {
            self.instances.iter().map(number).collect()
        };
        let labels = numbers(&of_all(|instance| instance.label)).concat();
        let shapes = numbers(&of_all(|instance| instance.shape as u32)).concat();
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
        let of_times = |times: &[(f64, u32)], of: &dyn Fn(&[Pose]) -> Vec<String>| {
            let all = times.iter().zip(self.poses(times));
            all.map(|(&(time, _), poses)| (time, of(&poses).concat()))
                .collect::<Vec<(f64, String)>>()
        };
        let times = self.times(&job.frames);
        let each = |of: &dyn Fn(&[Pose]) -> Vec<String>| of_times(&times, of);
        let extents = each(&|poses| vectors(&extent(poses)));
        let places = each(&|poses| {
            let places: Vec<[f32; 3]> = poses.iter().map(|pose| pose.place).collect();
            vectors(&places)
        });
        let rotations = each(&|poses| {
            let rotations: Vec<[f32; 4]> = poses.iter().map(|pose| pose.rotation).collect();
            units(&rotations)
        });
        let velocities = each(&|poses| {
            let velocities: Vec<[f32; 3]> = poses.iter().map(|pose| pose.velocity).collect();
            vectors(&velocities)
        });
        let spins = each(&|poses| {
            let spins: Vec<[f32; 3]> = poses.iter().map(|pose| pose.spin).collect();
            vectors(&spins)
        });
        let scales = of_times(&frames, &|poses| {
            let scales: Vec<[f32; 3]> = poses.iter().map(|pose| pose.scale).collect();
            vectors(&scales)
        });
        let hidden = of_times(&frames, &|poses| {
            let all = poses.iter().zip(&self.instances);
            let hidden: Vec<u32> = all
                .filter(|(pose, _)| !pose.shown)
                .map(|(_, instance)| instance.label)
                .collect();
            array(&hidden, |out, label| push_u32(out, *label))
        });
        for (declaration, samples) in [
            ("float3[] extent", extents),
            ("point3f[] positions", places),
            ("quath[] orientations", rotations),
            ("vector3f[] velocities", velocities),
            ("vector3f[] angularVelocities", spins),
            ("float3[] scales", jumps(scales, true)),
            ("int64[] invisibleIds", jumps(hidden, false)),
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
            shape.topology(spool, out)?;
            shape.shape(spool, out)?;
            shape.subsets(spool, out)?;
            writeln!(out, "            }}\n            }}")?;
        }
        writeln!(out, "            }}\n        }}")
    }

    /// When instances have a pose, and in which frame they are what they are then: in frames, and on either
    /// side of the middle between two where a label goes on with another surface.
    fn times(&self, frames: &[u32]) -> Vec<(f64, u32)> {
        let mut times = Vec::new();
        for (at, &frame) in frames.iter().enumerate() {
            if let Some(&before) = at.checked_sub(1).and_then(|before| frames.get(before)) {
                let goes_on = |one: &Instance| std::ptr::eq(one.epoch(before), one.epoch(frame));
                if !self.instances.iter().all(goes_on) {
                    let jump = 0.5 * (f64::from(before) + f64::from(frame));
                    times.extend([(jump - AT_ONCE, before), (jump, frame)]);
                }
            }
            times.push((frame.into(), frame));
        }
        times
    }

    /// Every instance at some times, in order.
    fn poses(&self, times: &[(f64, u32)]) -> Vec<Vec<Pose>> {
        let mut last = vec![DQuat::IDENTITY; self.instances.len()];
        let mut poses = |&(time, frame): &(f64, u32)| {
            let all = self.instances.iter().zip(&mut last);
            all.map(|(instance, last)| self.pose(instance, time, frame, last))
                .collect()
        };
        times.iter().map(&mut poses).collect()
    }

    /// An instance at a time, as what it is in a frame; where it is not there, as it moved on after its last
    /// frame, or came before its first. Of the two quaternions of its rotation the one beside the last.
    fn pose(&self, instance: &Instance, time: f64, frame: u32, last: &mut DQuat) -> Pose {
        let epoch = instance.epoch(frame);
        let next = epoch
            .moments
            .partition_point(|moment| f64::from(moment.frame) <= time);
        let moment = &epoch.moments[next.saturating_sub(1)];
        let (place, mut rotation) = match epoch.moments.get(next) {
            Some(after) if next > 0 && time > f64::from(moment.frame) => {
                let whole = f64::from(after.frame - moment.frame);
                let part = (time - f64::from(moment.frame)) / whole;
                let turned = moment.rotation.slerp(after.rotation, part);
                (moment.at.lerp(after.at, part), turned)
            }
            _ => {
                // Beyond its frames it moves on as it did: half of a blend with that is what it shows when it
                // comes and goes.
                let away = (time - f64::from(moment.frame)).clamp(-1.0, 1.0);
                let seconds = away / self.fps;
                let turned = DQuat::from_scaled_axis(moment.spin * seconds) * moment.rotation;
                (moment.at + moment.velocity * seconds, turned)
            }
        };
        if rotation.dot(*last) < 0.0 {
            rotation = -rotation;
        }
        *last = rotation;
        let rest = &epoch.kept.at_rest;
        let (own, shape) = (widths(rest), widths(self.shapes[instance.shape]));
        let [x, y, z, w] = rotation.as_quat().to_array();
        Pose {
            shown: (epoch.first..=epoch.last).contains(&frame),
            place: place.as_vec3().to_array(),
            velocity: (moment.velocity * self.pace).as_vec3().to_array(),
            spin: (moment.spin * self.pace.to_degrees()).as_vec3().to_array(),
            rotation: [w, x, y, z],
            scale: [0, 1, 2].map(|axis| match shape[axis] {
                0.0 => 1.0,
                width => own[axis] / width,
            }),
            size: epoch.size as f32,
        }
    }
}

impl<'a> Instance<'a> {
    /// What it is in a frame, or was before, or will be.
    fn epoch(&self, frame: u32) -> &'a Epoch<Texts> {
        let mut epochs = self.epochs.iter();
        let epoch = epochs.rfind(|epoch| epoch.first <= frame);
        epoch.unwrap_or(&self.epochs[0])
    }
}

fn widths(rest: &AtRest) -> [f32; 3] {
    let [low, high] = rest.bounds;
    [0, 1, 2].map(|axis| high[axis] - low[axis])
}

/// Bounds of what is shown, each instance however it is turned.
fn extent(poses: &[Pose]) -> [[f32; 3]; 2] {
    let ends = poses.iter().filter(|pose| pose.shown).flat_map(|pose| {
        let reach = Vec3::splat(pose.size / 2.0);
        [-reach, reach].map(|reach| (Vec3::from(pose.place) + reach).to_array())
    });
    bounds(&ends.collect::<Vec<_>>()).into()
}

/// The samples of what stays the same but for jumps, which come half-way between two frames as those of
/// visibility do. What readers blend between samples needs one on either side of a jump.
fn jumps(samples: Vec<(f64, String)>, blended: bool) -> Vec<(f64, String)> {
    let mut kept: Vec<(f64, String)> = Vec::new();
    let mut before = None;
    for (frame, text) in samples {
        match (before.replace(frame), kept.last()) {
            (Some(before), Some((_, last))) if *last != text => {
                let jump = 0.5 * (before + frame);
                let last = blended.then(|| (jump - AT_ONCE, last.clone()));
                kept.extend(last);
                kept.push((jump, text));
            }
            (Some(_), _) => {}
            (None, _) => kept.push((frame, text)),
        }
    }
    kept
}
