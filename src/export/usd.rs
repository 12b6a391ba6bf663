//! USD: one text file a shot, one mesh a fragment.
//!
//! A fragment whose surface stays the same from frame to frame is one prim; when it splits, what keeps its label is the next one, and
//! visibility says from which frame to which each is shown. A prim that moves as one rigid body has its points at rest and a translation
//! and a rotation in time; any other has points in time. Which it is, is known after the last frame: until then texts wait in a [`Spool`],
//! so memory holds one frame.

use std::collections::BTreeMap;
use std::io::{self, Write};

use glam::{DVec3, Vec3};
use xxhash_rust::xxh3::Xxh3;

use super::rigid::Rigid;
use super::space::bounds;
use super::spool::{Segment, Spool};
use super::text::{array, push_f32, push_tuple, push_u32, push_unit};
use super::{Axes, ExportError, ExportSummary, Format, Job, Needs};
use crate::spec::ExportFormat;
use crate::store::{Piece, StoreError, SurfaceFrame, atomic};

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

/// How far off a point of a rigid fragment may be, over the fragment's size: less than a pixel of a fragment that fills a picture.
const RIGID: f64 = 2e-4;

/// A text for each frame.
type Samples = Vec<(u32, Segment)>;

/// A fragment while its surface stays the same.
struct Prim {
    /// Hash of all that does not change.
    shape: u64,
    first: u32,
    last: u32,
    size: f64,
    at_rest: AtRest,
    motion: Vec<(u32, Rigid)>,
    rigid: bool,
    points: Samples,
    normals: Samples,
    velocities: Samples,
    extents: Samples,
}

/// Texts of what does not change.
struct AtRest {
    counts: Segment,
    indices: Segment,
    inside: Segment,
    /// Faces of the skin, and of cracks.
    faces: [Option<Segment>; 2],
    points: Segment,
    extent: Segment,
    normals: Segment,
    st: Option<Segment>,
}

/// Fragments by body and label, each with what it was in turn.
type Prims = BTreeMap<(u32, u32), Vec<Prim>>;

fn write(job: &Job, on_frame: &mut dyn FnMut(usize, usize)) -> Result<ExportSummary, ExportError> {
    let io = |error| StoreError::io(&job.target)(error);
    let mut spool = Spool::beside(&job.target).map_err(io)?;
    let mut prims = Prims::new();
    for (done, &frame) in job.frames.iter().enumerate() {
        let before = done.checked_sub(1).map(|at| job.frames[at]);
        let surface = job.read(frame)?;
        for piece in &surface.pieces {
            let known = prims.entry((piece.body, piece.fragment)).or_default();
            let shape = shape(&surface, piece);
            let same = |prim: &Prim| prim.shape == shape && Some(prim.last) == before;
            if !known.last().is_some_and(same) {
                known.push(Prim::new(&surface, piece, shape, &mut spool).map_err(io)?);
            }
            let prim = known.last_mut().expect("there is one now");
            prim.add(&surface, piece, &mut spool).map_err(io)?;
        }
        on_frame(done + 1, job.frames.len());
    }
    atomic::write(&job.target, |out| assemble(job, &prims, &mut spool, out))?;
    let mut summary = ExportSummary::default();
    summary.add(job.target.clone())?;
    Ok(summary)
}

fn shape(surface: &SurfaceFrame, piece: &Piece) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(bytemuck::cast_slice(
        &surface.rest_positions[surface.vertex_range(piece)],
    ));
    for triangle in surface.local_triangles(piece) {
        hash.update(bytemuck::cast_slice(&triangle));
    }
    hash.update(&surface.inside[surface.triangle_range(piece)]);
    hash.digest()
}

impl Prim {
    fn new(
        surface: &SurfaceFrame,
        piece: &Piece,
        shape: u64,
        spool: &mut Spool,
    ) -> io::Result<Self> {
        let vertices = surface.vertex_range(piece);
        let triangles: Vec<[u32; 3]> = surface.local_triangles(piece).collect();
        let inside = &surface.inside[surface.triangle_range(piece)];
        let rest = &surface.rest_positions[vertices.clone()];
        let motion = Rigid::fit(rest, &surface.positions[vertices.clone()]);
        let back = motion.rotation.inverse().as_quat();
        let normals = surface.normals[vertices.clone()].iter();
        let normals: Vec<[f32; 3]> = normals
            .map(|n| (back * Vec3::from(*n)).to_array())
            .collect();
        let numbers = |values: &[u32]| array(values, |out, value| push_u32(out, *value));
        let faces = [0, 1].map(|flag| -> Vec<u32> {
            let with = |face: &u32| inside[*face as usize] == flag;
            (0..inside.len() as u32).filter(with).collect()
        });
        let [skin, cracks] = faces;
        let mut subset = |faces: &[u32]| match faces {
            [] => Ok(None),
            faces => spool.append(&numbers(faces)).map(Some),
        };
        let faces = [subset(&skin)?, subset(&cracks)?];
        let uv = surface.uv.get(vertices).unwrap_or_default();
        let (low, high) = bounds(rest);
        Ok(Prim {
            shape,
            first: surface.frame,
            last: surface.frame,
            size: (DVec3::from(high.map(f64::from)) - DVec3::from(low.map(f64::from))).length(),
            at_rest: AtRest {
                counts: spool.append(&array(&triangles, |out, _| out.push('3')))?,
                indices: spool.append(&numbers(triangles.as_flattened()))?,
                inside: spool.append(&array(inside, |out, &flag| push_u32(out, flag.into())))?,
                faces,
                points: spool.append(&vectors(rest))?,
                extent: spool.append(&vectors(&[low, high]))?,
                normals: spool.append(&units(&normals))?,
                st: match uv {
                    [] => None,
                    uv => Some(spool.append(&array(uv, |out, uv| push_tuple(out, uv, push_f32)))?),
                },
            },
            motion: Vec::new(),
            rigid: true,
            points: Samples::new(),
            normals: Samples::new(),
            velocities: Samples::new(),
            extents: Samples::new(),
        })
    }

    /// Takes a frame.
    fn add(&mut self, surface: &SurfaceFrame, piece: &Piece, spool: &mut Spool) -> io::Result<()> {
        let (frame, vertices) = (surface.frame, surface.vertex_range(piece));
        let rest = &surface.rest_positions[vertices.clone()];
        let now = &surface.positions[vertices.clone()];
        let mut motion = Rigid::fit(rest, now);
        self.rigid &= motion.worst(rest, now) <= RIGID * self.size;
        // Of the two quaternions of a rotation the one beside the last, or the blend between them takes the long way round.
        if self
            .motion
            .last()
            .is_some_and(|(_, last)| last.rotation.dot(motion.rotation) < 0.0)
        {
            motion.rotation = -motion.rotation;
        }
        self.motion.push((frame, motion));
        self.last = frame;
        let normals = &surface.normals[vertices.clone()];
        self.points.push((frame, spool.append(&vectors(now))?));
        self.normals.push((frame, spool.append(&units(normals))?));
        let velocities = vectors(&surface.velocities[vertices]);
        self.velocities.push((frame, spool.append(&velocities)?));
        self.extents
            .push((frame, spool.append(&vectors(&<[_; 2]>::from(bounds(now))))?));
        Ok(())
    }
}

fn vectors(values: &[[f32; 3]]) -> Vec<String> {
    array(values, |out, value| push_tuple(out, value, push_f32))
}

fn units(values: &[[f32; 3]]) -> Vec<String> {
    array(values, |out, value| push_tuple(out, value, push_unit))
}

/// Name and colour of the materials: skin, cracks.
const MATERIALS: [(&str, &str); 2] = [
    ("outside", "(0.8, 0.77, 0.72)"),
    ("inside", "(0.55, 0.45, 0.38)"),
];

fn assemble(job: &Job, prims: &Prims, spool: &mut Spool, out: &mut impl Write) -> io::Result<()> {
    let (first, last) = (job.frames[0], job.frames[job.frames.len() - 1]);
    let fps = job.fps;
    let (metre, up) = (1.0 / job.space.scale, job.space.up.name().to_uppercase());
    write!(
        out,
        "#usda 1.0\n(\n    defaultPrim = \"World\"\n    endTimeCode = {last}\n    framesPerSecond = {fps}\n    \
         metersPerUnit = {metre}\n    startTimeCode = {first}\n    timeCodesPerSecond = {fps}\n    upAxis = \"{up}\"\n)\n\n\
         def Xform \"World\" (\n    kind = \"component\"\n)\n{{\n    def Scope \"materials\"\n    {{\n"
    )?;
    for (name, colour) in MATERIALS {
        write!(
            out,
            "        def Material \"{name}\"\n        {{\n            \
             token outputs:surface.connect = </World/materials/{name}/shader.outputs:surface>\n            \
             def Shader \"shader\"\n            {{\n                \
             uniform token info:id = \"UsdPreviewSurface\"\n                \
             color3f inputs:diffuseColor = {colour}\n                float inputs:roughness = 0.8\n                \
             token outputs:surface\n            }}\n        }}\n"
        )?;
    }
    writeln!(out, "    }}")?;
    let mut open = None;
    for (&(body, fragment), turns) in prims {
        if open != Some(body) {
            if open.is_some() {
                writeln!(out, "    }}")?;
            }
            writeln!(out, "\n    def Xform \"{}\"\n    {{", job.names.body(body))?;
            open = Some(body);
        }
        for (turn, prim) in turns.iter().enumerate() {
            let name = match turn {
                0 => format!("fragment_{fragment}"),
                turn => format!("fragment_{fragment}_{turn}"),
            };
            write_prim(job, (&name, fragment), prim, spool, out)?;
        }
    }
    if open.is_some() {
        writeln!(out, "    }}")?;
    }
    writeln!(out, "}}")
}

const BINDING: &str =
    "(\n                prepend apiSchemas = [\"MaterialBindingAPI\"]\n            )";

fn write_prim(
    job: &Job,
    (name, fragment): (&str, u32),
    prim: &Prim,
    spool: &mut Spool,
    out: &mut impl Write,
) -> io::Result<()> {
    let rest = &prim.at_rest;
    write!(
        out,
        "        def Mesh \"{name}\"\n        {{\n            uniform token orientation = \"rightHanded\"\n            \
         uniform token subdivisionScheme = \"none\"\n            uniform token subsetFamily:materialBind:familyType = \"partition\"\n"
    )?;
    plain(spool, out, "int[] faceVertexCounts", rest.counts, "")?;
    plain(spool, out, "int[] faceVertexIndices", rest.indices, "")?;
    writeln!(
        out,
        "            int primvars:fragment = {fragment} (interpolation = \"constant\")"
    )?;
    plain(spool, out, "int[] primvars:inside", rest.inside, "uniform")?;
    plain(spool, out, "point3f[] primvars:rest", rest.points, "vertex")?;
    if let Some(st) = rest.st {
        plain(spool, out, "texCoord2f[] primvars:st", st, "vertex")?;
    }
    if prim.rigid {
        plain(spool, out, "float3[] extent", rest.extent, "")?;
        plain(spool, out, "point3f[] points", rest.points, "")?;
        plain(spool, out, "normal3f[] normals", rest.normals, "vertex")?;
        poses(&prim.motion, out)?;
    } else {
        samples(spool, out, "float3[] extent", &prim.extents)?;
        samples(spool, out, "point3f[] points", &prim.points)?;
        writeln!(
            out,
            "            normal3f[] normals (interpolation = \"vertex\")"
        )?;
        samples(spool, out, "normal3f[] normals", &prim.normals)?;
        samples(spool, out, "vector3f[] velocities", &prim.velocities)?;
    }
    let mut operations = if prim.rigid {
        vec!["\"xformOp:translate\"", "\"xformOp:orient\""]
    } else {
        Vec::new()
    };
    let life = life(job, prim);
    if life != [None; 2] {
        visibility(life, out)?;
        operations.push("\"xformOp:scale\"");
    }
    if !operations.is_empty() {
        let operations = operations.join(", ");
        writeln!(
            out,
            "            uniform token[] xformOpOrder = [{operations}]"
        )?;
    }
    for ((name, _), faces) in MATERIALS.iter().zip(rest.faces) {
        let Some(faces) = faces else { continue };
        write!(
            out,
            "            def GeomSubset \"{name}\" {BINDING}\n            {{\n                \
             uniform token elementType = \"face\"\n                uniform token familyName = \"materialBind\"\n                \
             rel material:binding = </World/materials/{name}>\n                int[] indices = "
        )?;
        spool.copy(faces, out)?;
        writeln!(out, "\n            }}")?;
    }
    writeln!(out, "        }}")
}

/// When a prim comes and goes, if it is not there all along: half-way between two frames, so that a shutter open around a frame sees one
/// surface only.
fn life(job: &Job, prim: &Prim) -> [Option<f64>; 2] {
    let between = |a: u32, b: u32| 0.5 * (f64::from(a) + f64::from(b));
    let before = job.frames.iter().rev().find(|frame| **frame < prim.first);
    let after = job.frames.iter().find(|frame| **frame > prim.last);
    [
        before.map(|before| between(*before, prim.first)),
        after.map(|after| between(prim.last, *after)),
    ]
}

/// From when to when a prim is shown. Not every importer takes up visibility that changes (Blender's does not): a prim that is not there has
/// no size either.
fn visibility(life: [Option<f64>; 2], out: &mut impl Write) -> io::Result<()> {
    // How long it takes to come and to go, frames.
    const AT_ONCE: f64 = 1e-3;
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

/// Translation and rotation in time.
fn poses(motion: &[(u32, Rigid)], out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "            double3 xformOp:translate.timeSamples = {{"
    )?;
    for (frame, Rigid { shift, .. }) in motion {
        let DVec3 { x, y, z } = *shift + DVec3::ZERO;
        writeln!(out, "                {frame}: ({x}, {y}, {z}),")?;
    }
    write!(
        out,
        "            }}\n            quatd xformOp:orient.timeSamples = {{\n"
    )?;
    for (frame, Rigid { rotation: q, .. }) in motion {
        let [x, y, z, w] = q.to_array().map(|value| value + 0.0);
        writeln!(out, "                {frame}: ({w}, {x}, {y}, {z}),")?;
    }
    writeln!(out, "            }}")
}

fn plain(
    spool: &mut Spool,
    out: &mut impl Write,
    declaration: &str,
    value: Segment,
    interpolation: &str,
) -> io::Result<()> {
    write!(out, "            {declaration} = ")?;
    spool.copy(value, out)?;
    match interpolation {
        "" => writeln!(out),
        name => writeln!(out, " (interpolation = \"{name}\")"),
    }
}

fn samples(
    spool: &mut Spool,
    out: &mut impl Write,
    declaration: &str,
    samples: &Samples,
) -> io::Result<()> {
    writeln!(out, "            {declaration}.timeSamples = {{")?;
    for (frame, segment) in samples {
        write!(out, "                {frame}: ")?;
        spool.copy(*segment, out)?;
        writeln!(out, ",")?;
    }
    writeln!(out, "            }}")
}
