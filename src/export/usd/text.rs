//! The parts of a USD text that files of surfaces and of elements share.

use std::io::{self, Write};

use crate::export::job::Job;
use crate::export::spool::{Segment, Spool};
use crate::export::text::{array, push_f32, push_tuple, push_u32, push_unit};

/// Texts by time, frames.
pub type Samples = Vec<(f64, Segment)>;

/// How long it takes to come and to go, frames.
pub const AT_ONCE: f64 = 1e-3;

/// Name and colour of the materials: skin, cracks.
pub const MATERIALS: [(&str, &str); 2] = [
    ("outside", "(0.8, 0.77, 0.72)"),
    ("inside", "(0.55, 0.45, 0.38)"),
];

/// Vectors with all their digits.
pub fn vectors(values: &[[f32; 3]]) -> Vec<String> {
    array(values, |out, value| push_tuple(out, value, push_f32))
}

/// Unit vectors or quaternions.
pub fn units<const N: usize>(values: &[[f32; N]]) -> Vec<String> {
    array(values, |out, value| push_tuple(out, value, push_unit))
}

/// Whole numbers.
pub fn numbers(values: &[u32]) -> Vec<String> {
    array(values, |out, value| push_u32(out, *value))
}

/// What the file says of itself, and the beginning of the prim that holds all others.
pub fn head(job: &Job, out: &mut impl Write) -> io::Result<()> {
    let (first, last) = (job.frames[0], job.frames[job.frames.len() - 1]);
    let (fps, event, slow) = (job.playback, job.fps, 1.0 / job.pace());
    let (metre, up) = (1.0 / job.space.scale, job.space.up.name().to_uppercase());
    write!(
        out,
        "#usda 1.0\n(\n    customLayerData = {{\n        double eventFramesPerSecond = {event}\n        \
         double slowMotion = {slow}\n    }}\n    defaultPrim = \"World\"\n    endTimeCode = {last}\n    framesPerSecond = {fps}\n    \
         metersPerUnit = {metre}\n    startTimeCode = {first}\n    timeCodesPerSecond = {fps}\n    upAxis = \"{up}\"\n)\n\n\
         def Xform \"World\" (\n    kind = \"component\"\n)\n{{\n"
    )
}

/// The materials that surfaces are bound to.
pub fn materials(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "    def Scope \"materials\"\n    {{")?;
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
    writeln!(out, "    }}")
}

/// An attribute that does not change; with an interpolation where that is not empty.
pub fn plain(
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

/// An attribute in time; with an interpolation where that is not empty.
pub fn samples(
    spool: &mut Spool,
    out: &mut impl Write,
    declaration: &str,
    samples: &[(f64, Segment)],
    interpolation: &str,
) -> io::Result<()> {
    if !interpolation.is_empty() {
        writeln!(
            out,
            "            {declaration} (interpolation = \"{interpolation}\")"
        )?;
    }
    writeln!(out, "            {declaration}.timeSamples = {{")?;
    for (frame, segment) in samples {
        write!(out, "                {frame}: ")?;
        spool.copy(*segment, out)?;
        writeln!(out, ",")?;
    }
    writeln!(out, "            }}")
}
