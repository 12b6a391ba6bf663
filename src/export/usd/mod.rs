//! USD: one file per shot, one mesh per fragment.
//!
//! A fragment is one prim as long as its surface mesh stays the same. When it splits, the part that keeps its
//! label becomes the next prim, and visibility says in which frames each is shown. Points are relative to the
//! centre of mass; an animated translation and rotation move a prim as the best-fitting rigid body. A prim
//! that bends also has animated points.
//!
//! Whether a prim bends is known only after the last frame; until then its arrays are kept in an
//! [`ArraySpool`](layer::ArraySpool).
//! Memory holds one frame, the points of the two before it and those shown last, and for each surface which corners
//! share a normal. Frames in which nothing visible changes share their points and normals.
//!
//! Normals are an indexed `faceVarying` primvar instead of the attribute `normals`: without indices there
//! would be six normals per vertex. Texture coordinates are such a primvar too. Debris, if the options give
//! its size, are instances of a few shapes.

mod debris;
pub mod elements;
mod mesh;
pub mod scene;

use std::io;

use self::debris::Debris;
use self::mesh::{write_shape, write_subsets, write_topology};
use crate::export::epochs::{self, Epoch, Epochs};
use crate::export::error::ExportError;
use crate::export::format::{Axes, ExportSummary, FormatEntry, RequiredTables};
use crate::export::job::ExportJob;
use crate::export::layer::{self, Content, Encoding, Layer, Prim, Value};
use crate::export::surface_arrays::{ArrayRecorder, SurfaceArrays};
use crate::export::track::Track;
use crate::spec::ExportFormat;
use crate::store::StoreError;

/// Table entry of USD.
pub const FORMAT: FormatEntry = FormatEntry {
    format: ExportFormat::Usd,
    name: "usd",
    extension: "usdc",
    requires: RequiredTables::Surfaces,
    axes: Axes::Chosen,
    single_file: true,
    write,
};

fn write(
    job: &ExportJob,
    on_frame: &mut dyn FnMut(usize, usize),
) -> Result<ExportSummary, ExportError> {
    let mut recorder =
        ArrayRecorder::new(job, Encoding::of(job.usd)).map_err(StoreError::io(&job.target))?;
    let prims = epochs::gather(job, &mut recorder, on_frame)?;
    let ArrayRecorder {
        mut spool,
        materials,
        ..
    } = recorder;
    layer::write(
        (&job.target, job.usd),
        &scene::stage(job),
        &mut spool,
        |layer| {
            layer.begin(scene::WORLD)?;
            scene::write_materials(&materials, layer)?;
            assemble(job, &prims, layer)?;
            layer.end()
        },
    )?;
    ExportSummary::of_clip(job)
}

fn assemble(
    job: &ExportJob,
    prims: &Epochs<SurfaceArrays>,
    layer: &mut dyn Layer,
) -> io::Result<()> {
    let mut open = None;
    for (&(body, fragment), fragment_epochs) in prims {
        if open != Some(body) {
            if open.is_some() {
                layer.end()?;
            }
            open = Some(body);
            let name = job.names.body(body);
            layer.begin(Prim::new("Xform", &name))?;
            let debris = Debris::of(job, prims.range((body, 0)..=(body, u32::MAX)));
            debris.write(job, &name, layer)?;
        }
        for (index, prim) in fragment_epochs.iter().enumerate() {
            if job.is_debris(prim.size) {
                continue;
            }
            let name = epochs::name(fragment, index);
            write_prim(job, (&name, fragment), prim, layer)?;
        }
    }
    match open {
        Some(_) => layer.end(),
        None => Ok(()),
    }
}

fn write_prim(
    job: &ExportJob,
    (name, fragment): (&str, u32),
    prim: &Epoch<SurfaceArrays>,
    layer: &mut dyn Layer,
) -> io::Result<()> {
    let (arrays, rigid) = (&prim.record, prim.is_rigid());
    let rest = &arrays.at_rest;
    layer.begin(Prim::new("Mesh", name))?;
    write_topology(rest, layer)?;
    let label = Content::Constant(Value::Int(fragment));
    layer.attribute("int primvars:fragment", "constant", label)?;
    layer.animate("float[] primvars:stress", "vertex", &arrays.stress)?;
    if rigid {
        write_shape(rest, layer)?;
    } else {
        layer.animate("float3[] extent", "", &arrays.extents)?;
        layer.animate("point3f[] points", "", &arrays.points)?;
        let name = "normal3f[] primvars:normals";
        match arrays.has_constant_normals() {
            true => layer.set_stored(name, "faceVarying", rest.shape.normals)?,
            false => layer.animate(name, "faceVarying", &arrays.normals)?,
        }
        layer.animate("vector3f[] velocities", "", &arrays.velocities)?;
        if arrays.is_accelerated {
            layer.animate("vector3f[] accelerations", "", &arrays.accelerations)?;
        }
    }
    let keyframes = prim.keyframes(&job.frames, job.fps);
    write_poses(&Track::new(&keyframes, prim.size), layer)?;
    let mut operations = vec!["xformOp:translate", "xformOp:orient"];
    let visible = prim.visibility(&job.frames);
    if !visible.is_empty() {
        write_visibility(&visible, layer)?;
        operations.push("xformOp:scale");
    }
    layer.set("uniform token[] xformOpOrder", Value::Tokens(&operations))?;
    write_subsets(rest, layer)?;
    layer.end()
}

/// Writes when a prim is shown, if not always. Not every importer reads animated visibility (Blender's does not), so a
/// hidden prim also has scale 0. Readers hold visibility, but interpolate scales.
fn write_visibility(visible: &[(f64, bool)], layer: &mut dyn Layer) -> io::Result<()> {
    let mut shown: Vec<(f64, Value)> = Vec::new();
    let mut last = None;
    for &(time, is_shown) in visible {
        if last.replace(is_shown) != Some(is_shown) {
            let word = if is_shown { "inherited" } else { "invisible" };
            shown.push((time, Value::Token(word)));
        }
    }
    let size = |is_shown: bool| Value::Vec3f([if is_shown { 1.0 } else { 0.0 }; 3]);
    let sizes: Vec<(f64, Value)> = visible.iter().map(|&(time, s)| (time, size(s))).collect();
    layer.attribute("token visibility", "", Content::Samples(&shown))?;
    layer.attribute("float3 xformOp:scale", "", Content::Samples(&sizes))
}

/// Writes the animated translation, in single precision like all coordinates of a shot, and rotation, in double
/// precision: readers take the angle of a small rotation from the real part, which is near 1.
fn write_poses(track: &Track, layer: &mut dyn Layer) -> io::Result<()> {
    let places = track.translations.iter();
    let places: Vec<(f64, Value)> = places
        .map(|(time, at)| (*time, Value::Vec3d(at.as_vec3().to_array())))
        .collect();
    let turns = track.rotations.iter();
    let turns: Vec<(f64, Value)> = turns
        .map(|(time, rotation)| {
            let [x, y, z, w] = rotation.to_array();
            (*time, Value::Quatd([w, x, y, z]))
        })
        .collect();
    let (places, turns) = (Content::Samples(&places), Content::Samples(&turns));
    layer.attribute("double3 xformOp:translate", "", places)?;
    layer.attribute("quatd xformOp:orient", "", turns)
}
