//! Parts of a scene that the files of surfaces and of elements share.

use std::collections::BTreeMap;
use std::io;

use crate::export::job::ExportJob;
use crate::export::layer::{Content, Layer, Prim, Stage, Timing, Value};
use crate::export::materials::FaceMaterial;

/// Colour of skin.
pub const OUTSIDE: [f32; 3] = [0.8, 0.77, 0.72];
/// Colour of crack faces.
const INSIDE: [f32; 3] = [0.55, 0.45, 0.38];

/// The prim that contains all others.
pub const WORLD: Prim = Prim {
    schema: "Xform",
    name: "World",
    kind: Some("component"),
    api: None,
};

/// Metadata of the file of a shot.
pub fn stage(job: &ExportJob) -> Stage {
    let (first, last) = (job.frames[0], job.frames[job.frames.len() - 1]);
    let timing = Timing {
        frames: [first, last],
        playback: job.playback,
        event: job.fps,
        slow_motion: 1.0 / job.time_scale(),
    };
    Stage {
        timing: Some(timing),
        ..still_stage(job)
    }
}

/// Metadata of a file in which nothing moves.
pub fn still_stage(job: &ExportJob) -> Stage {
    Stage {
        metre: 1.0 / job.space.scale,
        up: job.space.up.name().to_uppercase(),
        timing: None,
    }
}

/// Writes the materials that surfaces are bound to.
pub fn write_materials(
    materials: &BTreeMap<FaceMaterial, String>,
    layer: &mut dyn Layer,
) -> io::Result<()> {
    layer.begin(Prim::new("Scope", "materials"))?;
    for (material, name) in materials {
        let colour = match material {
            FaceMaterial::Inside => INSIDE,
            _ => OUTSIDE,
        };
        layer.begin(Prim::new("Material", name))?;
        let shader = format!("/World/materials/{name}/shader.outputs:surface");
        let content = Content::Connection(&shader);
        layer.attribute("token outputs:surface", "", content)?;
        layer.begin(Prim::new("Shader", "shader"))?;
        layer.set("uniform token info:id", Value::Token("UsdPreviewSurface"))?;
        layer.set("color3f inputs:diffuseColor", Value::Vec3f(colour))?;
        layer.set("float inputs:roughness", Value::Float(0.8))?;
        layer.attribute("token outputs:surface", "", Content::Declared)?;
        layer.end()?;
        layer.end()?;
    }
    layer.end()
}
