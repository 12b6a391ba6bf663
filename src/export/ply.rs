//! Binary PLY: one file per frame. Vertices have a normal, velocity, position at rest, stress (Pa) and
//! fragment; faces have their fragment and a flag for crack faces.
//!
//! Readers of PLY expect closed surfaces with shared vertices, so normals are per vertex and smooth across
//! edges too. Texture coordinates, if there are any, are per vertex as well, since few readers support other
//! ones. A vertex on a seam of the texture, or where skin and crack face meet, is repeated for each texture
//! coordinate.

use super::error::ExportError;
use super::format::{Axes, ExportSummary, FormatEntry, RequiredTables};
use super::job::ExportJob;
use super::sequence;
use crate::geometry::corners::DistinctCorners;
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
    /// Texture coordinates of the vertices; empty without texture.
    uv: Vec<[f32; 2]>,
    /// Vertex indices of each face, piece by piece.
    faces: Vec<[u32; 3]>,
}

impl PlyRows {
    fn new(surface: &SurfaceFrame) -> Self {
        let pieces = || surface.pieces.iter();
        let triangles =
            |piece: &FragmentRange| surface.triangles[surface.triangle_range(piece)].iter();
        if surface.uv.is_empty() {
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
            let uv = Vec::new();
            return PlyRows {
                vertices,
                uv,
                faces,
            };
        }
        let (mut vertices, mut uv, mut faces) = (Vec::new(), Vec::new(), Vec::new());
        for piece in pieces() {
            let corners =
                DistinctCorners::of_vertices(triangles(piece).copied(), surface.uv_of(piece));
            let base = vertices.len() as u32;
            let numbers = corners.numbers.iter();
            faces.extend(numbers.map(|face| face.map(|corner| base + corner)));
            for (vertex, own) in corners.distinct {
                vertices.push((vertex, piece.fragment));
                uv.push(own);
            }
        }
        PlyRows {
            vertices,
            uv,
            faces,
        }
    }
}

fn bytes(job: &ExportJob, surface: &SurfaceFrame) -> Vec<Vec<u8>> {
    let rows = PlyRows::new(surface);
    let header = format!(
        "ply\nformat binary_little_endian 1.0\ncomment {}; frame {}, {} s\n\
         element vertex {}\nproperty float x\nproperty float y\nproperty float z\n\
         property float nx\nproperty float ny\nproperty float nz\n\
         property float vx\nproperty float vy\nproperty float vz\n\
         property float rest_x\nproperty float rest_y\nproperty float rest_z\n\
         property float stress\n{}property int fragment\n\
         element face {}\nproperty list uchar int vertex_indices\n\
         property int fragment\nproperty uchar inside\nend_header\n",
        job.space.describe(),
        surface.frame,
        surface.time,
        rows.vertices.len(),
        match rows.uv[..] {
            [] => "",
            _ => "property float s\nproperty float t\n",
        },
        rows.faces.len(),
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
        let uv = rows.uv.get(row).into_iter().flatten().copied();
        for number in numbers.chain([surface.stress[vertex]]).chain(uv) {
            vertices.extend_from_slice(&number.to_le_bytes());
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
        }
    }
    vec![header.into_bytes(), vertices, polygons]
}
