//! USD: one text file a shot, one mesh a fragment.
//!
//! A fragment whose surface stays the same from frame to frame is one prim; when it splits, what keeps its label is the next one, and
//! visibility says from which frame to which each is shown. A prim that moves as one rigid body has its points at rest and a translation
//! and a rotation in time; any other has points in time. Which it is, is known after the last frame: until then texts wait in a [`Spool`],
//! so memory holds one frame and of each surface which corners share a normal. Normals are a primvar with indices, `faceVarying`, and take
//! the place of the attribute `normals`: corners without indices would be six times as many as vertices. Texture coordinates are such a
//! primvar too. Debris, where the pipeline says what is, are instances of a few shapes.

use std::io::{self, Write};

use glam::DVec3;

use super::epochs::{self, Epoch, Epochs, Keep};
use super::rigid::Rigid;
use super::space::bounds;
use super::spool::{Segment, Spool};
use super::text::{array, push_f32, push_rough, push_tuple, push_u32};
use super::usd_debris::Debris;
use super::usd_text::{self, AT_ONCE, MATERIALS, Samples, numbers, plain, samples, units, vectors};
use super::{Axes, ExportError, ExportSummary, Format, Job, Needs};
use crate::geometry::corners::Corners;
use crate::spec::ExportFormat;
use crate::store::corner_normals::Fans;
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

/// Texts of an epoch.
pub struct Texts {
    /// What does not change.
    pub at_rest: AtRest,
    fans: Fans,
    points: Samples,
    normals: Samples,
    velocities: Samples,
    stress: Samples,
    extents: Samples,
}

/// Texts of what does not change.
pub struct AtRest {
    /// Lowest and highest coordinates.
    pub bounds: [[f32; 3]; 2],
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
    /// Texture coordinates, and the corners' by number.
    st: Option<[Segment; 2]>,
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
        let rest = &surface.rest_positions[vertices];
        let fans = Fans::of(surface, piece);
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
        let st = match surface.uv_of(piece) {
            [] => None,
            uv => {
                let corners = Corners::of_texture(uv);
                let values = array(&corners.uv(), |out, uv| push_tuple(out, uv, push_f32));
                let corners = numbers(corners.numbers.as_flattened());
                Some([self.append(&values)?, self.append(&corners)?])
            }
        };
        let (low, high) = bounds(rest);
        Ok(Texts {
            at_rest: AtRest {
                bounds: [low, high],
                counts: self.append(&array(&triangles, |out, _| out.push('3')))?,
                indices: self.append(&numbers(triangles.as_flattened()))?,
                inside: self.append(&array(inside, |out, &flag| push_u32(out, flag.into())))?,
                faces,
                points: self.append(&vectors(rest))?,
                extent: self.append(&vectors(&[low, high]))?,
                normals: self.append(&units(&fans.normals(rest)))?,
                corners: self.append(&numbers(fans.corners.as_flattened()))?,
                st,
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

fn assemble(
    job: &Job,
    prims: &Epochs<Texts>,
    spool: &mut Spool,
    out: &mut impl Write,
) -> io::Result<()> {
    usd_text::head(job, out)?;
    usd_text::materials(out)?;
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
        poses(&prim.motion, out)?;
    } else {
        let normals = "normal3f[] primvars:normals";
        samples(spool, out, "float3[] extent", &texts.extents, "")?;
        samples(spool, out, "point3f[] points", &texts.points, "")?;
        samples(spool, out, normals, &texts.normals, "faceVarying")?;
        samples(spool, out, "vector3f[] velocities", &texts.velocities, "")?;
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
    rest.subsets(spool, out)?;
    writeln!(out, "        }}")
}

impl AtRest {
    /// What a mesh has whether it moves as one body or not.
    pub fn topology(&self, spool: &mut Spool, out: &mut impl Write) -> io::Result<()> {
        write!(
            out,
            "            uniform token orientation = \"rightHanded\"\n            \
             uniform token subdivisionScheme = \"none\"\n            \
             uniform token subsetFamily:materialBind:familyType = \"partition\"\n"
        )?;
        plain(spool, out, "int[] faceVertexCounts", self.counts, "")?;
        plain(spool, out, "int[] faceVertexIndices", self.indices, "")?;
        plain(spool, out, "int[] primvars:inside", self.inside, "uniform")?;
        plain(spool, out, "point3f[] primvars:rest", self.points, "vertex")?;
        if let Some([st, corners]) = self.st {
            plain(spool, out, "texCoord2f[] primvars:st", st, "faceVarying")?;
            plain(spool, out, "int[] primvars:st:indices", corners, "")?;
        }
        let corners = "int[] primvars:normals:indices";
        plain(spool, out, corners, self.corners, "")
    }

    /// Its points and normals at rest.
    pub fn shape(&self, spool: &mut Spool, out: &mut impl Write) -> io::Result<()> {
        let normals = "normal3f[] primvars:normals";
        plain(spool, out, "float3[] extent", self.extent, "")?;
        plain(spool, out, "point3f[] points", self.points, "")?;
        plain(spool, out, normals, self.normals, "faceVarying")
    }

    /// Its faces by material.
    pub fn subsets(&self, spool: &mut Spool, out: &mut impl Write) -> io::Result<()> {
        for ((name, _), faces) in MATERIALS.iter().zip(self.faces) {
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
        Ok(())
    }
}

/// From when to when a prim is shown. Not every importer takes up visibility that changes (Blender's does not): a prim that is not there has
/// no size either.
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
