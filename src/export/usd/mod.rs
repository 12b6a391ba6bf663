//! USD: one text file a shot, one mesh a fragment.
//!
//! A fragment whose surface stays the same from frame to frame is one prim; when it splits, what keeps its
//! label is the next one, and visibility says from which frame to which each is shown. Points are about the
//! centre of mass; a translation and a rotation in time move a prim as the rigid body nearest to it. One that
//! bends has points in time besides.
//!
//! Which it is, is known after the last frame: until then texts wait in a [`Spool`]. Memory holds one frame,
//! the points of the two before it, and of each surface which corners share a normal.
//!
//! Normals are a primvar with indices, `faceVarying`, and take the place of the attribute `normals`: corners
//! without indices would be six times as many as vertices. Texture coordinates are such a primvar too.
//! Debris, where the pipeline says what is, are instances of a few shapes.

mod debris;
pub mod elements;
mod prim;
mod text;

use std::io::{self, Write};

use self::debris::Debris;
use self::prim::{Texts, Writer};
use self::text::{AT_ONCE, samples};
use crate::export::epochs::{self, Epoch, Epochs};
use crate::export::error::ExportError;
use crate::export::format::{Axes, ExportSummary, Format, Needs};
use crate::export::job::Job;
use crate::export::spool::Spool;
use crate::export::text::{push_f32, push_tuple};
use crate::export::track::Track;
use crate::spec::ExportFormat;
use crate::store::{StoreError, atomic};

/// USD.
pub const FORMAT: Format = Format {
    format: ExportFormat::Usd,
    name: "usd",
    extension: "usda",
    needs: Needs::Surfaces,
    space: Axes::Chosen,
    single: true,
    write,
};

fn write(job: &Job, on_frame: &mut dyn FnMut(usize, usize)) -> Result<ExportSummary, ExportError> {
    let mut writer = Writer {
        spool: Spool::beside(&job.target).map_err(StoreError::io(&job.target))?,
        pace: job.pace(),
        fps: job.fps,
        shutter: job.shutter,
    };
    let prims = epochs::gather(job, &mut writer, on_frame)?;
    let mut spool = writer.spool;
    atomic::write(&job.target, |out| assemble(job, &prims, &mut spool, out))?;
    let mut summary = ExportSummary {
        slow_motion: Some(1.0 / job.pace()),
        ..ExportSummary::default()
    };
    summary.add(job.target.clone())?;
    Ok(summary)
}

fn assemble(
    job: &Job,
    prims: &Epochs<Texts>,
    spool: &mut Spool,
    out: &mut impl Write,
) -> io::Result<()> {
    text::head(job, out)?;
    text::materials(out)?;
    let mut open = None;
    for (&(body, fragment), turns) in prims {
        if open != Some(body) {
            if open.is_some() {
                writeln!(out, "    }}")?;
            }
            open = Some(body);
            writeln!(out, "\n    def Xform \"{}\"\n    {{", job.names.body(body))?;
            let debris = Debris::of(job, prims.range((body, 0)..=(body, u32::MAX)));
            debris.write(job, &job.names.body(body), spool, out)?;
        }
        for (turn, prim) in turns.iter().enumerate() {
            if job.is_debris(prim.size) {
                continue;
            }
            let name = epochs::name(fragment, turn);
            write_prim(job, (&name, fragment), prim, spool, out)?;
        }
    }
    if open.is_some() {
        writeln!(out, "    }}")?;
    }
    writeln!(out, "}}")
}

fn write_prim(
    job: &Job,
    (name, fragment): (&str, u32),
    prim: &Epoch<Texts>,
    spool: &mut Spool,
    out: &mut impl Write,
) -> io::Result<()> {
    let (texts, rigid) = (&prim.kept, prim.is_rigid());
    let rest = &texts.at_rest;
    writeln!(out, "        def Mesh \"{name}\"\n        {{")?;
    rest.topology(spool, out)?;
    writeln!(
        out,
        "            int primvars:fragment = {fragment} (interpolation = \"constant\")"
    )?;
    let stress = "float[] primvars:stress";
    samples(spool, out, stress, &texts.stress, "vertex")?;
    if rigid {
        rest.shape(spool, out)?;
    } else {
        let normals = "normal3f[] primvars:normals";
        samples(spool, out, "float3[] extent", &texts.extents, "")?;
        samples(spool, out, "point3f[] points", &texts.points, "")?;
        samples(spool, out, normals, &texts.normals, "faceVarying")?;
        samples(spool, out, "vector3f[] velocities", &texts.velocities, "")?;
        let accelerations = "vector3f[] accelerations";
        samples(spool, out, accelerations, &texts.accelerations, "")?;
    }
    let keys = prim.keys(&job.frames, job.fps);
    poses(&Track::new(&keys, prim.size), out)?;
    let mut operations = vec!["\"xformOp:translate\"", "\"xformOp:orient\""];
    let life = prim.life(&job.frames);
    if life != [None; 2] {
        visibility(life, out)?;
        operations.push("\"xformOp:scale\"");
    }
    let operations = operations.join(", ");
    writeln!(
        out,
        "            uniform token[] xformOpOrder = [{operations}]"
    )?;
    rest.subsets(spool, out)?;
    writeln!(out, "        }}")
}

/// From when to when a prim is shown. Not every importer takes up visibility that changes (Blender's does
/// not): a prim that is not there has no size either.
fn visibility(life: [Option<f64>; 2], out: &mut impl Write) -> io::Result<()> {
    let (mut shown, mut sizes) = (Vec::new(), Vec::new());
    if let [Some(birth), _] = life {
        shown.extend([(birth - AT_ONCE, "invisible"), (birth, "inherited")]);
        sizes.extend([(birth - AT_ONCE, 0), (birth, 1)]);
    }
    if let [_, Some(death)] = life {
        if shown.is_empty() {
            shown.push((death - AT_ONCE, "inherited"));
        }
        shown.push((death, "invisible"));
        sizes.extend([(death - AT_ONCE, 1), (death, 0)]);
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

/// Translation and rotation in time, in single precision as all coordinates of a shot.
fn poses(track: &Track, out: &mut impl Write) -> io::Result<()> {
    let open = "            double3 xformOp:translate.timeSamples = {";
    writeln!(out, "{open}")?;
    let tuple = |values: &[f32]| {
        let mut text = String::new();
        push_tuple(&mut text, values, push_f32);
        text
    };
    for (time, at) in &track.places {
        let at = tuple(&at.as_vec3().to_array());
        writeln!(out, "                {time}: {at},")?;
    }
    let open = "            quatd xformOp:orient.timeSamples = {";
    writeln!(out, "            }}\n{open}")?;
    for (time, turn) in &track.turns {
        let [x, y, z, w] = turn.as_quat().to_array();
        let turn = tuple(&[w, x, y, z]);
        writeln!(out, "                {time}: {turn},")?;
    }
    writeln!(out, "            }}")
}
