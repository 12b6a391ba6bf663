//! Debris in a USD file: fragments below a size are instances of a few shapes, one point instancer a body.
//!
//! An instance is a label; `invisibleIds` names those that are not there, or are too large to be debris. Its shape is that of a fragment of
//! about its size, stretched along the axes at rest until both fill the same box, and moves as the rigid body nearest to the fragment.

use std::io::{self, Write};

use glam::Vec3;

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
        Debris { instances, shapes }
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
        let frames = job.frames.iter().map(|&frame| f64::from(frame));
        let each = |of: &dyn Fn(&[Pose]) -> Vec<String>| -> Vec<(f64, String)> {
            let texts = job.frames.iter().map(|&frame| of(&self.poses(frame)));
            let texts = texts.map(|parts| parts.concat());
            frames.clone().zip(texts).collect()
        };
        let extents = each(&|poses| vectors(&extent(poses)));
        let places = each(&|poses| {
            let places: Vec<[f32; 3]> = poses.iter().map(|pose| pose.place).collect();
            vectors(&places)
        });
        let rotations = each(&|poses| {
            let rotations: Vec<[f32; 4]> = poses.iter().map(|pose| pose.rotation).collect();
            units(&rotations)
        });
        let scales = each(&|poses| {
            let scales: Vec<[f32; 3]> = poses.iter().map(|pose| pose.scale).collect();
            vectors(&scales)
        });
        let hidden = each(&|poses| {
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
            let [x, y, z] = middle(shape).map(|x| 0.0 - x);
            write!(
                out,
                "            def Xform \"shape_{number}\"\n            {{\n            def Mesh \"mesh\"\n            {{\n"
            )?;
            shape.topology(spool, out)?;
            shape.shape(spool, out)?;
            write!(
                out,
                "            double3 xformOp:translate = ({x}, {y}, {z})\n            \
                 uniform token[] xformOpOrder = [\"xformOp:translate\"]\n"
            )?;
            shape.subsets(spool, out)?;
            writeln!(out, "            }}\n            }}")?;
        }
        writeln!(out, "            }}\n        }}")
    }

    /// Every instance in a frame; where it is not there, as it was last, or will be first.
    fn poses(&self, frame: u32) -> Vec<Pose> {
        let pose = |instance: &Instance| {
            let mut epochs = instance.epochs.iter();
            let epoch = epochs
                .rfind(|epoch| epoch.first <= frame)
                .unwrap_or(&instance.epochs[0]);
            let next = epoch.motion.partition_point(|(at, _)| *at <= frame);
            let motion = &epoch.motion[next.saturating_sub(1)].1;
            let rest = &epoch.kept.at_rest;
            let (own, shape) = (widths(rest), widths(self.shapes[instance.shape]));
            let [x, y, z, w] = motion.rotation.as_quat().to_array();
            Pose {
                shown: (epoch.first..=epoch.last).contains(&frame),
                place: motion.carry(middle(rest)).as_vec3().to_array(),
                rotation: [w, x, y, z],
                scale: [0, 1, 2].map(|axis| match shape[axis] {
                    0.0 => 1.0,
                    width => own[axis] / width,
                }),
                size: epoch.size as f32,
            }
        };
        self.instances.iter().map(pose).collect()
    }
}

fn middle(rest: &AtRest) -> [f32; 3] {
    let [low, high] = rest.bounds;
    [0, 1, 2].map(|axis| low[axis] + (high[axis] - low[axis]) / 2.0)
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

/// The samples of what stays the same but for jumps, which come half-way between two frames as those of visibility do. What readers blend
/// between samples needs one on either side of a jump.
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
