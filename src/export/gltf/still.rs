//! Binary glTF 2.0 of one frame: one node and mesh per fragment with the pivot at its centre of mass, and
//! separate materials for skin and crack faces.
//!
//! Writes the last frame of a range.

use crate::parallel::prelude::*;
use serde_json::{Value, json};

use super::file::{self, BufferBuilder, ViewUsage};
use super::mesh::{FragmentMesh, Materials};
use crate::export::error::ExportError;
use crate::export::format::{Axes, ExportSummary, FormatEntry, RequiredTables};
use crate::export::job::ExportJob;
use crate::geometry::mass::Mass;
use crate::spec::ExportFormat;
use crate::store::{FragmentRange, SurfaceFrame};

/// Table entry of still glTF.
pub const FORMAT: FormatEntry = FormatEntry {
    format: ExportFormat::Glb,
    name: "glb",
    extension: "glb",
    requires: RequiredTables::Surfaces,
    axes: Axes::YUp,
    single_file: true,
    write,
};

fn write(
    job: &ExportJob,
    on_frame: &mut dyn FnMut(usize, usize),
) -> Result<ExportSummary, ExportError> {
    let frame = *job.frames.last().expect("a job has a frame");
    let surface = job.read(frame)?;
    let (root, binary) = document(job, &surface);
    file::write(&job.target, &root, &binary)?;
    let mut summary = ExportSummary::default();
    summary.add(job.target.clone())?;
    on_frame(1, 1);
    Ok(summary)
}

/// Builds the document and the binary chunk.
fn document(job: &ExportJob, surface: &SurfaceFrame) -> (Value, Vec<u8>) {
    let fragment_mesh = |piece: &FragmentRange| {
        let positions = &surface.positions[surface.vertex_range(piece)];
        let mass = Mass::of(positions, surface.local_triangles(piece));
        FragmentMesh::new(surface, piece, positions, mass.centre)
    };
    let fragment_meshes: Vec<(&FragmentRange, FragmentMesh)> = surface
        .pieces
        .par_iter()
        .map(|piece| (piece, fragment_mesh(piece)))
        .filter(|(_, fragment_mesh)| !fragment_mesh.positions.is_empty())
        .collect();
    let materials = Materials::new(
        fragment_meshes
            .iter()
            .map(|(_, fragment_mesh)| fragment_mesh),
    );
    let mut buffers = BufferBuilder::new();
    let positions = buffers.add_view(ViewUsage::Vertices, 12, None);
    let normals = buffers.add_view(ViewUsage::Vertices, 12, None);
    let texture = buffers.add_view(ViewUsage::Vertices, 8, None);
    let colours = buffers.add_view(ViewUsage::Vertices, 12, None);
    let mut nodes = vec![json!({"name": job.names.shot()})];
    let mut meshes = Vec::new();
    for (piece, fragment_mesh) in &fragment_meshes {
        let name = format!("{}_fragment_{}", job.names.body(piece.body), piece.fragment);
        let mut attributes = json!({
            "POSITION": buffers.add_floats(positions, &fragment_mesh.positions, true),
            "NORMAL": buffers.add_floats(normals, &fragment_mesh.normals, false),
        });
        if !fragment_mesh.uv.is_empty() {
            attributes["TEXCOORD_0"] = buffers.add_floats(texture, &fragment_mesh.uv, false).into();
        }
        if !fragment_mesh.colours.is_empty() {
            let values = &fragment_mesh.colours;
            attributes["COLOR_0"] = buffers.add_floats(colours, values, false).into();
        }
        let mut mesh = fragment_mesh.mesh(&attributes, &materials, &mut buffers);
        mesh["name"] = name.as_str().into();
        nodes.push(json!({"name": name, "mesh": meshes.len(), "translation": file::shortest_decimals(fragment_mesh.pivot.as_vec3().to_array())}));
        meshes.push(mesh);
    }
    let mut root = file::new_document();
    root["extras"] = json!({"frame": surface.frame, "time": surface.time});
    // glTF allows no empty lists.
    if !fragment_meshes.is_empty() {
        nodes[0]["children"] = (1..nodes.len()).collect();
        root["meshes"] = meshes.into();
        root["materials"] = materials.entries.into();
    }
    root["nodes"] = nodes.into();
    let binary = buffers.finish(&mut root, false);
    (root, binary)
}
