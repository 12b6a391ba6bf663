//! Stress as binary PLY: one file a table, its triangles with stress, energy density, utilization and a
//! colour (MeshLab, Blender, `trimesh`).

use super::solids::{Solids, positions};
use crate::export::error::ExportError;
use crate::export::format::ExportSummary;
use crate::export::job::Job;
use crate::picture::scale;
use crate::store::atomic;

/// Writes `NAME.stress.NNNNNN.ply`.
pub fn write(job: &Job, solids: &Solids) -> Result<ExportSummary, ExportError> {
    let table = &solids.table;
    let most = solids.most();
    let (mut points, mut faces) = (Vec::new(), Vec::new());
    let (mut vertices, mut triangles) = (0u32, 0);
    for (body, mesh, rows) in &solids.bodies {
        for value in positions(job, mesh).as_flattened() {
            points.extend_from_slice(&value.to_le_bytes());
        }
        for (corners, row) in mesh.triangles.iter().zip(rows) {
            faces.push(3);
            for corner in corners {
                faces.extend_from_slice(&(corner + vertices).to_le_bytes());
            }
            let numbers = [
                &table.s1,
                &table.s2,
                &table.s3,
                &table.energy,
                &table.utilization,
            ];
            for column in numbers {
                faces.extend_from_slice(&(column[*row] as f32).to_le_bytes());
            }
            faces.extend_from_slice(&scale::colour(table.s1[*row] / most.max(f64::MIN_POSITIVE)));
            faces.extend_from_slice(&body.to_le_bytes());
        }
        vertices += mesh.positions.len() as u32;
        triangles += mesh.triangles.len();
    }
    let header = format!(
        "ply\nformat binary_little_endian 1.0\ncomment {}; colours from 0 to {most} Pa of s1\n\
         element vertex {vertices}\nproperty float x\nproperty float y\nproperty float z\n\
         element face {triangles}\nproperty list uchar uint vertex_indices\n\
         property float s1\nproperty float s2\nproperty float s3\nproperty float energy\nproperty float utilization\n\
         property uchar red\nproperty uchar green\nproperty uchar blue\nproperty uint body\nend_header\n",
        job.space.describe(),
    );
    let name = format!("{}.stress.{:06}.ply", job.names.shot(), solids.frame);
    let path = job.target.join(name);
    atomic::write_parts(&path, &[header.into_bytes(), points, faces])?;
    let mut summary = ExportSummary::default();
    summary.add(path)?;
    Ok(summary)
}
