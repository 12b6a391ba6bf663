//! Parts of a USD text that the files of surfaces and of elements share.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::export::job::ExportJob;
use crate::export::materials::FaceMaterial;
use crate::export::spool::{Spool, SpoolSegment};
use crate::export::text::{array, push_f32, push_tuple, push_u32, push_unit};

/// Time samples of an attribute: time, in frames, and spooled text of the value.
pub type TimeSamples = Vec<(f64, SpoolSegment)>;

/// Duration of a jump, in frames: time between the last sample before it and the first after it.
pub const JUMP_DURATION: f64 = 1e-3;

/// Colours of skin and crack faces.
const COLOURS: [&str; 2] = ["(0.8, 0.77, 0.72)", "(0.55, 0.45, 0.38)"];

/// Formats vectors in full precision.
pub fn vectors(values: &[[f32; 3]]) -> Vec<String> {
    array(values, |out, value| push_tuple(out, value, push_f32))
}

/// Formats unit vectors or unit quaternions.
pub fn unit_vectors<const N: usize>(values: &[[f32; N]]) -> Vec<String> {
    array(values, |out, value| push_tuple(out, value, push_unit))
}

/// Formats integers.
pub fn integers(values: &[u32]) -> Vec<String> {
    array(values, |out, value| push_u32(out, *value))
}

/// Writes the header with the file's metadata, and opens the prim that contains all others.
pub fn write_header(job: &ExportJob, out: &mut impl Write) -> io::Result<()> {
    let (first, last) = (job.frames[0], job.frames[job.frames.len() - 1]);
    let (fps, event, slow) = (job.playback, job.fps, 1.0 / job.time_scale());
    let (metre, up) = (1.0 / job.space.scale, job.space.up.name().to_uppercase());
    write!(
        out,
        "#usda 1.0\n(\n    customLayerData = {{\n        double eventFramesPerSecond = {event}\n        \
         double slowMotion = {slow}\n    }}\n    defaultPrim = \"World\"\n    endTimeCode = {last}\n    framesPerSecond = {fps}\n    \
         metersPerUnit = {metre}\n    startTimeCode = {first}\n    timeCodesPerSecond = {fps}\n    upAxis = \"{up}\"\n)\n\n\
         def Xform \"World\" (\n    kind = \"component\"\n)\n{{\n"
    )
}

/// Writes the materials that surfaces are bound to.
pub fn write_materials(
    materials: &BTreeMap<FaceMaterial, String>,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "    def Scope \"materials\"\n    {{")?;
    for (material, name) in materials {
        let colour = COLOURS[usize::from(*material == FaceMaterial::Inside)];
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

/// Writes a constant attribute; with an interpolation unless that is empty.
pub fn write_constant(
    spool: &mut Spool,
    out: &mut impl Write,
    declaration: &str,
    value: SpoolSegment,
    interpolation: &str,
) -> io::Result<()> {
    write!(out, "            {declaration} = ")?;
    spool.copy(value, out)?;
    match interpolation {
        "" => writeln!(out),
        name => writeln!(out, " (interpolation = \"{name}\")"),
    }
}

/// Writes an animated attribute; with an interpolation unless that is empty.
pub fn write_samples(
    spool: &mut Spool,
    out: &mut impl Write,
    declaration: &str,
    samples: &[(f64, SpoolSegment)],
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
