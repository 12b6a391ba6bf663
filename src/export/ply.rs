//! Binary PLY: one file a frame. Vertices carry normal, velocity, position at rest, stress (Pa) and fragment, faces their fragment and whether
//! they are crack faces.
//!
//! Readers of PLY look for closed surfaces, which share their vertices: normals are the vertices' own, smooth across edges too.

use super::{Axes, ExportError, ExportSummary, Format, Job, Needs, sequence};
use crate::spec::ExportFormat;
use crate::store::SurfaceFrame;

/// PLY.
pub const FORMAT: Format = Format {
    format: ExportFormat::Ply,
    name: "ply",
    extension: "ply",
    needs: Needs::Surfaces,
    space: Axes::Chosen,
    single: false,
    write,
};

fn write(job: &Job, on_frame: &mut dyn FnMut(usize, usize)) -> Result<ExportSummary, ExportError> {
    sequence::write(job, FORMAT.extension, on_frame, bytes)
}

fn bytes(job: &Job, surface: &SurfaceFrame) -> Vec<Vec<u8>> {
    let faces: usize = surface.pieces.iter().map(|p| p.triangles as usize).sum();
    let header = format!(
        "ply\nformat binary_little_endian 1.0\ncomment {}; frame {}, {} s\n\
         element vertex {}\nproperty float x\nproperty float y\nproperty float z\n\
         property float nx\nproperty float ny\nproperty float nz\n\
         property float vx\nproperty float vy\nproperty float vz\n\
         property float rest_x\nproperty float rest_y\nproperty float rest_z\n\
         property float stress\nproperty int fragment\n\
         element face {faces}\nproperty list uchar int vertex_indices\n\
         property int fragment\nproperty uchar inside\nend_header\n",
        job.space.describe(),
        surface.frame,
        surface.time,
        surface.positions.len(),
    );
    // Vertices of no piece, which no face has, keep the first label there is.
    let mut labels = vec![0u32; surface.positions.len()];
    for piece in &surface.pieces {
        labels[surface.vertex_range(piece)].fill(piece.fragment);
    }
    let mut vertices = Vec::with_capacity(surface.positions.len() * 56);
    for (vertex, label) in labels.into_iter().enumerate() {
        let columns = [
            &surface.positions,
            &surface.normals,
            &surface.velocities,
            &surface.rest_positions,
        ];
        let numbers = columns.into_iter().flat_map(|column| column[vertex]);
        for number in numbers.chain([surface.stress[vertex]]) {
            vertices.extend_from_slice(&number.to_le_bytes());
        }
        vertices.extend_from_slice(&label.to_le_bytes());
    }
    let mut polygons = Vec::with_capacity(faces * 18);
    for piece in &surface.pieces {
        for triangle in surface.triangle_range(piece) {
            polygons.push(3);
            for vertex in surface.triangles[triangle] {
                polygons.extend_from_slice(&vertex.to_le_bytes());
            }
            polygons.extend_from_slice(&piece.fragment.to_le_bytes());
            polygons.push(surface.inside[triangle]);
        }
    }
    vec![header.into_bytes(), vertices, polygons]
}
