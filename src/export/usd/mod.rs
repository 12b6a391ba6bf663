//! USD: one text file per shot, one mesh per fragment.
//!
//! A fragment is one prim as long as its surface mesh stays the same. When it splits, the part that keeps its
//! label becomes the next prim, and visibility says in which frames each is shown. Points are relative to the
//! centre of mass; an animated translation and rotation move a prim as the best-fitting rigid body. A prim
//! that bends also has animated points.
//!
//! Whether a prim bends is known only after the last frame; until then its texts are kept in a [`Spool`].
//! Memory holds one frame, the points of the two before it, and for each surface which corners share a
//! normal.
//!
//! Normals are an indexed `faceVarying` primvar instead of the attribute `normals`: without indices there
//! would be six normals per vertex. Texture coordinates are such a primvar too. Debris, if the options give
//! its size, are instances of a few shapes.

mod debris;
pub mod elements;
mod prim;
mod text;

use std::io::{self, Write};

use self::debris::Debris;
use self::prim::{PrimTexts, PrimWriter};
use self::text::{JUMP_DURATION, write_samples};
use crate::export::epochs::{self, Epoch, Epochs};
use crate::export::error::ExportError;
use crate::export::format::{Axes, ExportSummary, FormatEntry, RequiredTables};
use crate::export::job::ExportJob;
use crate::export::materials::FaceMaterial;
use crate::export::spool::Spool;
use crate::export::text::{push_f32, push_tuple};
use crate::export::track::Track;
use crate::spec::ExportFormat;
use crate::store::{StoreError, atomic};

/// Table entry of USD.
pub const FORMAT: FormatEntry = FormatEntry {
    format: ExportFormat::Usd,
    name: "usd",
    extension: "usda",
    requires: RequiredTables::Surfaces,
    axes: Axes::Chosen,
    single_file: true,
    write,
};

/// Materials that every file has.
const STANDARD: [FaceMaterial; 2] = [FaceMaterial::Outside, FaceMaterial::Inside];

fn write(
    job: &ExportJob,
    on_frame: &mut dyn FnMut(usize, usize),
) -> Result<ExportSummary, ExportError> {
    let mut writer = PrimWriter {
        spool: Spool::next_to(&job.target).map_err(StoreError::io(&job.target))?,
        time_scale: job.time_scale(),
        fps: job.fps,
        shutter: job.shutter,
        materials: STANDARD
            .map(|material| (material.clone(), material.name()))
            .into(),
    };
    let prims = epochs::gather(job, &mut writer, on_frame)?;
    let PrimWriter {
        mut spool,
        materials,
        ..
    } = writer;
    atomic::write(&job.target, |out| {
        text::write_header(job, out)?;
        text::write_materials(&materials, out)?;
        assemble(job, &prims, &mut spool, out)
    })?;
    let mut summary = ExportSummary {
        slow_motion: Some(1.0 / job.time_scale()),
        ..ExportSummary::default()
    };
    summary.add(job.target.clone())?;
    Ok(summary)
}

fn assemble(
    job: &ExportJob,
    prims: &Epochs<PrimTexts>,
    spool: &mut Spool,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut open = None;
    for (&(body, fragment), fragment_epochs) in prims {
        if open != Some(body) {
            if open.is_some() {
                writeln!(out, "    }}")?;
            }
            open = Some(body);
            writeln!(out, "\n    def Xform \"{}\"\n    {{", job.names.body(body))?;
            let debris = Debris::of(job, prims.range((body, 0)..=(body, u32::MAX)));
            debris.write(job, &job.names.body(body), spool, out)?;
        }
        for (index, prim) in fragment_epochs.iter().enumerate() {
            if job.is_debris(prim.size) {
                continue;
            }
            let name = epochs::name(fragment, index);
            write_prim(job, (&name, fragment), prim, spool, out)?;
        }
    }
    if open.is_some() {
        writeln!(out, "    }}")?;
    }
    writeln!(out, "}}")
}

fn write_prim(
    job: &ExportJob,
    (name, fragment): (&str, u32),
    prim: &Epoch<PrimTexts>,
    spool: &mut Spool,
    out: &mut impl Write,
) -> io::Result<()> {
    let (texts, rigid) = (&prim.record, prim.is_rigid());
    let rest = &texts.at_rest;
    writeln!(out, "        def Mesh \"{name}\"\n        {{")?;
    rest.write_topology(spool, out)?;
    writeln!(
        out,
        "            int primvars:fragment = {fragment} (interpolation = \"constant\")"
    )?;
    let stress = "float[] primvars:stress";
    write_samples(spool, out, stress, &texts.stress, "vertex")?;
    if rigid {
        rest.write_shape(spool, out)?;
    } else {
        let normals = "normal3f[] primvars:normals";
        write_samples(spool, out, "float3[] extent", &texts.extents, "")?;
        write_samples(spool, out, "point3f[] points", &texts.points, "")?;
        write_samples(spool, out, normals, &texts.normals, "faceVarying")?;
        write_samples(spool, out, "vector3f[] velocities", &texts.velocities, "")?;
        let accelerations = "vector3f[] accelerations";
        write_samples(spool, out, accelerations, &texts.accelerations, "")?;
    }
    let keyframes = prim.keyframes(&job.frames, job.fps);
    write_poses(&Track::new(&keyframes, prim.size), out)?;
    let mut operations = vec!["\"xformOp:translate\"", "\"xformOp:orient\""];
    let lifetime = prim.lifetime(&job.frames);
    if lifetime != [None; 2] {
        write_visibility(lifetime, out)?;
        operations.push("\"xformOp:scale\"");
    }
    let operations = operations.join(", ");
    writeln!(
        out,
        "            uniform token[] xformOpOrder = [{operations}]"
    )?;
    rest.write_subsets(spool, out)?;
    writeln!(out, "        }}")
}

/// Writes when a prim is shown. Not every importer reads animated visibility (Blender's does not), so a
/// hidden prim also has scale 0.
fn write_visibility(lifetime: [Option<f64>; 2], out: &mut impl Write) -> io::Result<()> {
    let (mut shown, mut sizes) = (Vec::new(), Vec::new());
    if let [Some(birth), _] = lifetime {
        shown.extend([(birth - JUMP_DURATION, "invisible"), (birth, "inherited")]);
        sizes.extend([(birth - JUMP_DURATION, 0), (birth, 1)]);
    }
    if let [_, Some(death)] = lifetime {
        if shown.is_empty() {
            shown.push((death - JUMP_DURATION, "inherited"));
        }
        shown.push((death, "invisible"));
        sizes.extend([(death - JUMP_DURATION, 1), (death, 0)]);
    }
    writeln!(out, "            token visibility.timeSamples = {{")?;
    for (time, word) in shown {
        writeln!(out, "                {time}: \"{word}\",")?;
    }
    writeln!(
        out,
        "            }}\n            float3 xformOp:scale.timeSamples = {{"
    )?;
    for (time, size) in sizes {
        writeln!(out, "                {time}: ({size}, {size}, {size}),")?;
    }
    writeln!(out, "            }}")
}

/// Writes the animated translation and rotation, in single precision like all coordinates of a shot.
fn write_poses(track: &Track, out: &mut impl Write) -> io::Result<()> {
    let open = "            double3 xformOp:translate.timeSamples = {";
    writeln!(out, "{open}")?;
    let tuple = |values: &[f32]| {
        let mut text = String::new();
        push_tuple(&mut text, values, push_f32);
        text
    };
    for (time, at) in &track.translations {
        let at = tuple(&at.as_vec3().to_array());
        writeln!(out, "                {time}: {at},")?;
    }
    let open = "            quatd xformOp:orient.timeSamples = {";
    writeln!(out, "            }}\n{open}")?;
    for (time, rotation) in &track.rotations {
        let [x, y, z, w] = rotation.as_quat().to_array();
        let rotation = tuple(&[w, x, y, z]);
        writeln!(out, "                {time}: {rotation},")?;
    }
    writeln!(out, "            }}")
}
