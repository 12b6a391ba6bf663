//! Binary PLY: one file per frame. Vertices have a normal, velocity, position at rest, stress (Pa) and
//! fragment; faces have their fragment and a flag for crack faces.
//!
//! Readers of PLY expect closed surfaces with shared vertices, so normals are per vertex and smooth across
//! edges too. Texture coordinates and colours, if there are any, are per vertex as well, since few readers support
//! other ones. A vertex on a seam of the texture, or where skin and crack face meet, is repeated for each of its
//! texture coordinates and colours. Faces have the number of their material among those that comments name.

use super::error::ExportError;
use super::format::{Axes, ExportSummary, FormatEntry, RequiredTables};
use super::job::ExportJob;
use super::sequence;
use crate::geometry::corners::DistinctCorners;
use crate::geometry::ply::MATERIAL_COMMENT;
use crate::spec::ExportFormat;
use crate::store::{FragmentRange, SurfaceFrame};

/// Table entry of PLY.
pub const FORMAT: FormatEntry = FormatEntry {
    format: ExportFormat::Ply,
    name: "ply",
    extension: "ply",
    requires: RequiredTables::Surfaces,
    axes: Axes::Chosen,
    single_file: false,
    write,
};

fn write(
    job: &ExportJob,
    on_frame: &mut dyn FnMut(usize, usize),
) -> Result<ExportSummary, ExportError> {
    sequence::write(job, FORMAT.extension, on_frame, bytes)
}

/// Vertices and faces of a PLY file.
struct PlyRows {
    /// For each vertex, its vertex in the surface and its fragment label.
    vertices: Vec<(u32, u32)>,
    /// Texture coordinates and colours of the vertices; empty if the surface has neither.
    attributes: Vec<[f32; 5]>,
    /// Vertex indices of each face, piece by piece.
    faces: Vec<[u32; 3]>,
}

impl PlyRows {
    fn new(surface: &SurfaceFrame) -> Self {
        let pieces = || surface.pieces.iter();
        let triangles =
            |piece: &FragmentRange| surface.triangles[surface.triangle_range(piece)].iter();
        if surface.uv.is_empty() && surface.colours.is_empty() {
            // Vertices outside all pieces, which no face uses, keep label 0.
            let mut vertices: Vec<(u32, u32)> = (0..surface.positions.len() as u32)
                .map(|v| (v, 0))
                .collect();
            for piece in pieces() {
                for (_, label) in &mut vertices[surface.vertex_range(piece)] {
                    *label = piece.fragment;
                }
            }
            let faces = pieces().flat_map(triangles).copied().collect();
            let attributes = Vec::new();
            return PlyRows {
                vertices,
                attributes,
                faces,
            };
        }
        let (mut vertices, mut attributes, mut faces) = (Vec::new(), Vec::new(), Vec::new());
        for piece in pieces() {
            let values = surface.attributes_of(piece);
            let corners = DistinctCorners::of_vertices(triangles(piece).copied(), &values);
            let base = vertices.len() as u32;
            let numbers = corners.numbers.iter();
            faces.extend(numbers.map(|face| face.map(|corner| base + corner)));
            for (vertex, own) in corners.distinct {
                vertices.push((vertex, piece.fragment));
                attributes.push(own);
            }
        }
        PlyRows {
            vertices,
            attributes,
            faces,
        }
    }
}

fn bytes(job: &ExportJob, surface: &SurfaceFrame) -> Vec<Vec<u8>> {
    let rows = PlyRows::new(surface);
    let names = surface.material_names.iter();
    let names: String = names
        .map(|name| format!("comment {MATERIAL_COMMENT}{name}\n"))
        .collect();
    let header = format!(
        "ply\nformat binary_little_endian 1.0\ncomment {}; frame {}, {} s\n{names}\
         element vertex {}\nproperty float x\nproperty float y\nproperty float z\n\
         property float nx\nproperty float ny\nproperty float nz\n\
         property float vx\nproperty float vy\nproperty float vz\n\
         property float rest_x\nproperty float rest_y\nproperty float rest_z\n\
         property float stress\n{}{}property int fragment\n\
         element face {}\nproperty list uchar int vertex_indices\n\
         property int fragment\nproperty uchar inside\n{}end_header\n",
        job.space.describe(),
        surface.frame,
        surface.time,
        rows.vertices.len(),
        match surface.uv[..] {
            [] => "",
            _ => "property float s\nproperty float t\n",
        },
        match surface.colours[..] {
            [] => "",
            _ => "property uchar red\nproperty uchar green\nproperty uchar blue\n",
        },
        rows.faces.len(),
        match surface.materials[..] {
            [] => "",
            _ => "property int material\n",
        },
    );
    let mut vertices = Vec::with_capacity(rows.vertices.len() * 64);
    for (row, &(vertex, label)) in rows.vertices.iter().enumerate() {
        let vertex = vertex as usize;
        let columns = [
            &surface.positions,
            &surface.normals,
            &surface.velocities,
            &surface.rest_positions,
        ];
        let numbers = columns.into_iter().flat_map(|column| column[vertex]);
        let [u, v, colour @ ..] = rows.attributes.get(row).copied().unwrap_or_default();
        let uv = [u, v].into_iter().filter(|_| !surface.uv.is_empty());
        for number in numbers.chain([surface.stress[vertex]]).chain(uv) {
            vertices.extend_from_slice(&number.to_le_bytes());
        }
        if !surface.colours.is_empty() {
            vertices.extend(colour.map(|x| (x * 255.0).round() as u8));
        }
        vertices.extend_from_slice(&label.to_le_bytes());
    }
    let mut polygons = Vec::with_capacity(rows.faces.len() * 18);
    let mut faces = rows.faces.iter();
    for piece in &surface.pieces {
        for (triangle, face) in surface.triangle_range(piece).zip(&mut faces) {
            polygons.push(3);
            for vertex in face {
                polygons.extend_from_slice(&vertex.to_le_bytes());
            }
            polygons.extend_from_slice(&piece.fragment.to_le_bytes());
            polygons.push(surface.inside[triangle]);
            if let Some(&material) = surface.materials.get(triangle) {
                // None is -1.
                polygons.extend(material.cast_signed().to_le_bytes());
            }
        }
    }
    vec![header.into_bytes(), vertices, polygons]
}
