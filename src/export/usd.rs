//! USD: one text file a shot, one mesh a body, changing topology as time samples.
//!
//! Points are sampled at every frame. What changes only when fragments split is sampled only there, and is a plain
//! value when it never changes, so that readers can see that the topology is constant. The samples of an attribute
//! stand together in the file but come frame by frame; they wait in a [`Spool`], so memory holds one frame.

use std::collections::BTreeMap;
use std::io::{self, Write};

use xxhash_rust::xxh3::xxh3_128;

use super::spool::{Segment, Spool};
use super::text::{array, push_f32, push_tuple, push_u32, push_unit};
use super::{Axes, ExportError, ExportSummary, Format, Job, Needs};
use crate::spec::ExportFormat;
use crate::store::{StoreError, SurfaceFrame, atomic};

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

/// When an attribute gets a sample.
#[derive(Clone, Copy, PartialEq)]
enum Sampling {
    /// At each frame.
    Frames,
    /// Where it changes; readers hold whole numbers between samples.
    Changes,
    /// Where it changes, and at the frame before: readers blend real numbers between samples.
    HeldChanges,
}

struct Attribute {
    declaration: &'static str,
    interpolation: Option<&'static str>,
    sampling: Sampling,
    /// Left out of a body where it is empty in all frames.
    optional: bool,
    format: fn(&Body) -> Vec<String>,
}

const fn attribute(
    declaration: &'static str,
    interpolation: Option<&'static str>,
    sampling: Sampling,
    format: fn(&Body) -> Vec<String>,
) -> Attribute {
    Attribute {
        declaration,
        interpolation,
        sampling,
        optional: false,
        format,
    }
}

const ATTRIBUTES: [Attribute; 10] = [
    attribute("float3[] extent", None, Sampling::Frames, |body| {
        array(&body.extent(), |out, point| {
            push_tuple(out, point, push_f32);
        })
    }),
    attribute("int[] faceVertexCounts", None, Sampling::Changes, |body| {
        array(&body.triangles, |out, _| out.push('3'))
    }),
    attribute("int[] faceVertexIndices", None, Sampling::Changes, |body| {
        array(body.triangles.as_flattened(), |out, &vertex| {
            push_u32(out, vertex);
        })
    }),
    attribute(
        "int[] primvars:fragment",
        Some("uniform"),
        Sampling::Changes,
        |body| array(&body.fragments, |out, &label| push_u32(out, label)),
    ),
    attribute(
        "int[] primvars:inside",
        Some("uniform"),
        Sampling::Changes,
        |body| array(&body.inside, |out, &flag| push_u32(out, flag.into())),
    ),
    attribute(
        "point3f[] primvars:rest",
        Some("vertex"),
        Sampling::HeldChanges,
        |body| vectors(&body.rest_positions),
    ),
    Attribute {
        declaration: "texCoord2f[] primvars:st",
        interpolation: Some("vertex"),
        sampling: Sampling::HeldChanges,
        optional: true,
        format: |body| {
            array(&body.uv, |out, uv| {
                push_tuple(out, uv, push_f32);
            })
        },
    },
    attribute(
        "normal3f[] normals",
        Some("vertex"),
        Sampling::Frames,
        |body| {
            array(&body.normals, |out, normal| {
                push_tuple(out, normal, push_unit);
            })
        },
    ),
    attribute("point3f[] points", None, Sampling::Frames, |body| {
        vectors(&body.positions)
    }),
    attribute("vector3f[] velocities", None, Sampling::Frames, |body| {
        vectors(&body.velocities)
    }),
];

fn vectors(values: &[[f32; 3]]) -> Vec<String> {
    array(values, |out, value| push_tuple(out, value, push_f32))
}

/// All fragments of a body in one frame; indices count from the body's first vertex.
#[derive(Default)]
struct Body {
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    velocities: Vec<[f32; 3]>,
    rest_positions: Vec<[f32; 3]>,
    uv: Vec<[f32; 2]>,
    triangles: Vec<[u32; 3]>,
    fragments: Vec<u32>,
    inside: Vec<u8>,
}

impl Body {
    fn all(surface: &SurfaceFrame) -> BTreeMap<u32, Body> {
        let mut bodies: BTreeMap<u32, Body> = BTreeMap::new();
        for piece in &surface.pieces {
            let body = bodies.entry(piece.body).or_default();
            let base = body.positions.len() as u32;
            let vertices = surface.vertex_range(piece);
            let triangles = surface.triangle_range(piece);
            body.positions
                .extend_from_slice(&surface.positions[vertices.clone()]);
            body.normals
                .extend_from_slice(&surface.normals[vertices.clone()]);
            body.velocities
                .extend_from_slice(&surface.velocities[vertices.clone()]);
            body.rest_positions
                .extend_from_slice(&surface.rest_positions[vertices.clone()]);
            if !surface.uv.is_empty() {
                body.uv.extend_from_slice(&surface.uv[vertices]);
            }
            body.triangles.extend(
                surface
                    .local_triangles(piece)
                    .map(|triangle| triangle.map(|vertex| vertex + base)),
            );
            body.fragments
                .extend(std::iter::repeat_n(piece.fragment, triangles.len()));
            body.inside.extend_from_slice(&surface.inside[triangles]);
        }
        bodies
    }

    fn extent(&self) -> [[f32; 3]; 2] {
        let Some(&first) = self.positions.first() else {
            return [[0.0; 3]; 2];
        };
        let (mut low, mut high) = (first, first);
        for point in &self.positions {
            for axis in 0..3 {
                low[axis] = low[axis].min(point[axis]);
                high[axis] = high[axis].max(point[axis]);
            }
        }
        [low, high]
    }
}

/// Samples of one attribute of one body.
#[derive(Default)]
struct Track {
    samples: Vec<(u32, Segment)>,
    /// Hash of the newest sample's text.
    newest: u128,
    /// Whether any sample holds a value.
    used: bool,
}

impl Track {
    fn add(
        &mut self,
        attribute: &Attribute,
        body: &Body,
        (frame, before): (u32, Option<u32>),
        spool: &mut Spool,
    ) -> io::Result<()> {
        let parts = (attribute.format)(body);
        if attribute.sampling != Sampling::Frames {
            let hashes: Vec<u8> = parts
                .iter()
                .flat_map(|part| xxh3_128(part.as_bytes()).to_le_bytes())
                .collect();
            let hash = xxh3_128(&hashes);
            if !self.samples.is_empty() && hash == self.newest {
                return Ok(());
            }
            self.newest = hash;
        }
        if attribute.sampling == Sampling::HeldChanges
            && let (Some(before), Some(&(at, segment))) = (before, self.samples.last())
            && at < before
        {
            self.samples.push((before, segment));
        }
        self.used |= parts.len() > 2 || parts[0].len() > 1;
        self.samples.push((frame, spool.append(&parts)?));
        Ok(())
    }
}

type Tracks = [Track; ATTRIBUTES.len()];

fn write(job: &Job, on_frame: &mut dyn FnMut(usize, usize)) -> Result<ExportSummary, ExportError> {
    let io = |error| StoreError::io(&job.target)(error);
    let mut spool = Spool::beside(&job.target).map_err(io)?;
    let mut tracks: BTreeMap<u32, Tracks> = BTreeMap::new();
    for (done, &frame) in job.frames.iter().enumerate() {
        let before = done.checked_sub(1).map(|at| job.frames[at]);
        let mut bodies = Body::all(&job.read(frame)?);
        for &body in tracks.keys() {
            bodies.entry(body).or_default();
        }
        for (number, body) in &bodies {
            if !tracks.contains_key(number) {
                let mut fresh = Tracks::default();
                if before.is_some() {
                    // Without an empty first sample a body would show before it appears.
                    let first = (job.frames[0], None);
                    for (track, attribute) in fresh.iter_mut().zip(&ATTRIBUTES) {
                        track
                            .add(attribute, &Body::default(), first, &mut spool)
                            .map_err(io)?;
                    }
                }
                tracks.insert(*number, fresh);
            }
            let tracks = tracks.get_mut(number).expect("entered above");
            for (track, attribute) in tracks.iter_mut().zip(&ATTRIBUTES) {
                track
                    .add(attribute, body, (frame, before), &mut spool)
                    .map_err(io)?;
            }
        }
        on_frame(done + 1, job.frames.len());
    }
    atomic::write(&job.target, |out| assemble(job, &tracks, &mut spool, out))?;
    let mut summary = ExportSummary::default();
    summary.add(job.target.clone())?;
    Ok(summary)
}

fn assemble(
    job: &Job,
    tracks: &BTreeMap<u32, Tracks>,
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
         def Xform \"World\" (\n    kind = \"component\"\n)\n{{\n"
    )?;
    for (at, (&body, tracks)) in tracks.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        writeln!(out, "    def Mesh \"{}\"\n    {{", job.names.body(body))?;
        writeln!(
            out,
            "        uniform token orientation = \"rightHanded\"\n        \
             uniform token subdivisionScheme = \"none\""
        )?;
        for (attribute, track) in ATTRIBUTES.iter().zip(tracks) {
            if track.used || !attribute.optional {
                write_attribute(attribute, track, spool, out)?;
            }
        }
        writeln!(out, "    }}")?;
    }
    writeln!(out, "}}")
}

fn write_attribute(
    attribute: &Attribute,
    track: &Track,
    spool: &mut Spool,
    out: &mut impl Write,
) -> io::Result<()> {
    let declaration = attribute.declaration;
    let metadata = attribute
        .interpolation
        .map(|name| format!(" (\n            interpolation = \"{name}\"\n        )"))
        .unwrap_or_default();
    match track.samples.as_slice() {
        [(_, segment)] if attribute.sampling != Sampling::Frames => {
            write!(out, "        {declaration} = ")?;
            spool.copy(*segment, out)?;
            writeln!(out, "{metadata}")
        }
        samples => {
            if !metadata.is_empty() {
                writeln!(out, "        {declaration}{metadata}")?;
            }
            writeln!(out, "        {declaration}.timeSamples = {{")?;
            for (frame, segment) in samples {
                write!(out, "            {frame}: ")?;
                spool.copy(*segment, out)?;
                writeln!(out, ",")?;
            }
            writeln!(out, "        }}")
        }
    }
}
