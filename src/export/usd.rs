//! USD: one text file a shot, one mesh a fragment.
//!
//! A fragment whose surface stays the same from frame to frame is one prim; when it splits, what keeps its label is the next one, and
//! visibility says from which frame to which each is shown. A prim that moves as one rigid body has its points at rest and a translation
//! and a rotation in time; any other has points in time. Which it is, is known after the last frame: until then texts wait in a [`Spool`],
//! so memory holds one frame and of each surface which corners share a normal. Normals are a primvar with indices, `faceVarying`, and take
//! the place of the attribute `normals`: corners without indices would be six times as many as vertices.

use std::io::{self, Write};

use glam::DVec3;

use super::corner_normals::Fans;
use super::epochs::{self, Epoch, Epochs, Keep};
use super::rigid::Rigid;
use super::space::bounds;
use super::spool::{Segment, Spool};
use super::text::{array, push_f32, push_rough, push_tuple, push_u32, push_unit};
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

/// A text for each frame.
type Samples = Vec<(u32, Segment)>;

/// Texts of an epoch.
pub struct Texts {
    at_rest: AtRest,
    fans: Fans,
    points: Samples,
    normals: Samples,
    velocities: Samples,
    stress: Samples,
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
    /// The corners' normals by number.
    corners: Segment,
    st: Option<Segment>,
}

fn write(job: &Job, on_frame: &mut dyn FnMut(usize, usize)) -> Result<ExportSummary, ExportError> {
    let mut spool = Spool::beside(&job.target).map_err(StoreError::io(&job.target))?;
    let prims = epochs::gather(job, &mut spool, on_frame)?;
    atomic::write(&job.target, |out| assemble(job, &prims, &mut spool, out))?;
    let mut summary = ExportSummary::default();
    summary.add(job.target.clone())?;
    Ok(summary)
}

impl Keep for Spool {
    type Kept = Texts;

    fn begin(&mut self, surface: &SurfaceFrame, piece: &Piece) -> io::Result<Texts> {
        let vertices = surface.vertex_range(piece);
        let triangles: Vec<[u32; 3]> = surface.local_triangles(piece).collect();
        let inside = &surface.inside[surface.triangle_range(piece)];
        let rest = &surface.rest_positions[vertices.clone()];
        let fans = Fans::of(surface, piece);
        let numbers = |values: &[u32]| array(values, |out, value| push_u32(out, *value));
        let faces = [0, 1].map(|flag| -> Vec<u32> {
            let with = |face: &u32| inside[*face as usize] == flag;
            (0..inside.len() as u32).filter(with).collect()
        });
        let [skin, cracks] = faces;
        let mut subset = |faces: &[u32]| match faces {
            [] => Ok(None),
            faces => self.append(&numbers(faces)).map(Some),
        };
        let faces = [subset(&skin)?, subset(&cracks)?];
        let uv = surface.uv.get(vertices).unwrap_or_default();
        let (low, high) = bounds(rest);
        Ok(Texts {
            at_rest: AtRest {
                counts: self.append(&array(&triangles, |out, _| out.push('3')))?,
                indices: self.append(&numbers(triangles.as_flattened()))?,
                inside: self.append(&array(inside, |out, &flag| push_u32(out, flag.into())))?,
                faces,
                points: self.append(&vectors(rest))?,
                extent: self.append(&vectors(&[low, high]))?,
                normals: self.append(&units(&fans.normals(rest)))?,
                corners: self.append(&numbers(fans.corners.as_flattened()))?,
                st: match uv {
                    [] => None,
                    uv => Some(self.append(&array(uv, |out, uv| push_tuple(out, uv, push_f32)))?),
                },
            },
            fans,
            points: Samples::new(),
            normals: Samples::new(),
            velocities: Samples::new(),
            stress: Samples::new(),
            extents: Samples::new(),
        })
    }

    fn follow(
        &mut self,
        texts: &mut Texts,
        surface: &SurfaceFrame,
        piece: &Piece,
    ) -> io::Result<()> {
        let (frame, vertices) = (surface.frame, surface.vertex_range(piece));
        let now = &surface.positions[vertices.clone()];
        let normals = texts.fans.normals(now);
        let velocities = &surface.velocities[vertices.clone()];
        let stress = array(&surface.stress[vertices], |out, s| push_rough(out, *s));
        let extent = <[_; 2]>::from(bounds(now));
        for (samples, text) in [
            (&mut texts.points, vectors(now)),
            (&mut texts.normals, units(&normals)),
            (&mut texts.velocities, vectors(velocities)),
            (&mut texts.stress, stress),
            (&mut texts.extents, vectors(&extent)),
        ] {
            samples.push((frame, self.append(&text)?));
        }
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

fn assemble(
    job: &Job,
    prims: &Epochs<Texts>,
    spool: &mut Spool,
    out: &mut impl Write,
) -> io::Result<()> {
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
            let name = epochs::name(fragment, turn);
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
    prim: &Epoch<Texts>,
    spool: &mut Spool,
    out: &mut impl Write,
) -> io::Result<()> {
    let (texts, rigid) = (&prim.kept, prim.is_rigid());
    let rest = &texts.at_rest;
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
    writeln!(
        out,
        "            float[] primvars:stress (interpolation = \"vertex\")"
    )?;
    samples(spool, out, "float[] primvars:stress", &texts.stress)?;
    if let Some(st) = rest.st {
        plain(spool, out, "texCoord2f[] primvars:st", st, "vertex")?;
    }
    let corners = "int[] primvars:normals:indices";
    plain(spool, out, corners, rest.corners, "")?;
    if rigid {
        plain(spool, out, "float3[] extent", rest.extent, "")?;
        plain(spool, out, "point3f[] points", rest.points, "")?;
        let normals = "normal3f[] primvars:normals";
        plain(spool, out, normals, rest.normals, "faceVarying")?;
        poses(&prim.motion, out)?;
    } else {
        samples(spool, out, "float3[] extent", &texts.extents)?;
        samples(spool, out, "point3f[] points", &texts.points)?;
        writeln!(
            out,
            "            normal3f[] primvars:normals (interpolation = \"faceVarying\")"
        )?;
        samples(spool, out, "normal3f[] primvars:normals", &texts.normals)?;
        samples(spool, out, "vector3f[] velocities", &texts.velocities)?;
    }
    let mut operations = if rigid {
        vec!["\"xformOp:translate\"", "\"xformOp:orient\""]
    } else {
        Vec::new()
    };
    let life = prim.life(&job.frames);
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
