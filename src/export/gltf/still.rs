//! Binary glTF 2.0 of one frame: a node and mesh a fragment, pivot at its centre of mass, skin and crack
//! faces as two materials.
//!
//! Of a range of frames the last is written.

use crate::parallel::prelude::*;
use serde_json::{Value, json};

use super::file::{self, Buffers, Usage};
use super::part::{Materials, Part};
use crate::export::error::ExportError;
use crate::export::format::{Axes, ExportSummary, Format, Needs};
use crate::export::job::Job;
use crate::geometry::mass::Mass;
use crate::spec::ExportFormat;
use crate::store::{Piece, SurfaceFrame};

/// Binary glTF.
pub const FORMAT: Format = Format {
    format: ExportFormat::Glb,
    name: "glb",
    extension: "glb",
    needs: Needs::Surfaces,
    space: Axes::YUp,
    single: true,
    write,
};

fn write(job: &Job, on_frame: &mut dyn FnMut(usize, usize)) -> Result<ExportSummary, ExportError> {
    let frame = *job.frames.last().expect("a job has a frame");
    let surface = job.read(frame)?;
    let (root, binary) = document(job, &surface);
    file::write(&job.target, &root, &binary)?;
    let mut summary = ExportSummary::default();
    summary.add(job.target.clone())?;
    on_frame(1, 1);
    Ok(summary)
}

/// The document and the binary chunk.
fn document(job: &Job, surface: &SurfaceFrame) -> (Value, Vec<u8>) {
    let part = |piece: &Piece| {
        let positions = &surface.positions[surface.vertex_range(piece)];
        let mass = Mass::of(positions, surface.local_triangles(piece));
        Part::new(surface, piece, positions, mass.centre)
    };
    let parts: Vec<(&Piece, Part)> = surface
        .pieces
        .par_iter()
        .map(|piece| (piece, part(piece)))
        .filter(|(_, part)| !part.positions.is_empty())
        .collect();
    let materials = Materials::new(parts.iter().map(|(_, part)| part));
    let mut buffers = Buffers::new();
    let positions = buffers.view(Usage::Vertices, 12, None);
    let normals = buffers.view(Usage::Vertices, 12, None);
    let texture = buffers.view(Usage::Vertices, 8, None);
    let mut nodes = vec![json!({"name": job.names.shot()})];
    let mut meshes = Vec::new();
    for (piece, part) in &parts {
        let name = format!("{}_fragment_{}", job.names.body(piece.body), piece.fragment);
        let mut attributes = json!({
            "POSITION": buffers.floats(positions, &part.positions, true),
            "NORMAL": buffers.floats(normals, &part.normals, false),
        });
        if !part.uv.is_empty() {
            attributes["TEXCOORD_0"] = buffers.floats(texture, &part.uv, false).into();
        }
        let mut mesh = part.mesh(&attributes, &materials, &mut buffers);
        mesh["name"] = name.as_str().into();
        nodes.push(json!({"name": name, "mesh": meshes.len(), "translation": file::short(part.pivot.as_vec3().to_array())}));
        meshes.push(mesh);
    }
    let mut root = file::root();
    root["extras"] = json!({"frame": surface.frame, "time": surface.time});
    // glTF allows no empty lists.
    if !parts.is_empty() {
        nodes[0]["children"] = (1..nodes.len()).collect();
        root["meshes"] = meshes.into();
        root["materials"] = materials.entries.into();
    }
    root["nodes"] = nodes.into();
    let binary = buffers.finish(&mut root, false);
    (root, binary)
}
