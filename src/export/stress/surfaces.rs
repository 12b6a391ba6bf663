//! A stress table with the surfaces that it belongs to.

use glam::DVec3;

use crate::columns::{Stress, StressPoint};
use crate::export::error::ExportError;
use crate::export::job::ExportJob;
use crate::geometry::TriMesh;
use crate::store::Store;

/// A stress table and its surfaces.
pub struct StressSurfaces {
    /// Frame number of the table.
    pub frame: u32,
    /// The table.
    pub table: Stress,
    /// For each body: its number, its surface, and the table rows of the surface's triangles.
    pub bodies: Vec<(u32, TriMesh, Vec<usize>)>,
}

impl StressSurfaces {
    /// Reads the table of a frame and its surfaces.
    pub fn read(store: &Store, frame: u32) -> Result<Self, ExportError> {
        let table = store.read_stress(frame)?;
        let is_triangle = |row: &usize| table.kind[*row] == StressPoint::Triangle;
        let rows: Vec<usize> = (0..table.kind.len()).filter(is_triangle).collect();
        let mut bodies = Vec::new();
        for rows in rows.chunk_by(|a, b| table.body[*a] == table.body[*b]) {
            let body = table.body[rows[0]];
            bodies.push((body, store.read_stress_shape(body)?, rows.to_vec()));
        }
        Ok(StressSurfaces {
            frame,
            table,
            bodies,
        })
    }

    /// Table rows of the elements.
    pub fn elements(&self) -> Vec<usize> {
        let rows = 0..self.table.kind.len();
        let is_element = |row: &usize| self.table.kind[*row] == StressPoint::Element;
        rows.filter(is_element).collect()
    }

    /// Largest principal stress over all triangles, Pa, at least 0.
    pub fn largest_stress(&self) -> f64 {
        let rows = self.bodies.iter().flat_map(|(_, _, rows)| rows);
        rows.map(|row| self.table.s1[*row]).fold(0.0, f64::max)
    }
}

/// Three columns as vectors, in single precision, for the given rows.
pub fn vectors(columns: [&[f64]; 3], rows: &[usize]) -> Vec<[f32; 3]> {
    let at = |row: &usize| columns.map(|column| column[*row] as f32);
    rows.iter().map(at).collect()
}

/// Vertex positions in the coordinates of the file.
pub fn positions(job: &ExportJob, mesh: &TriMesh) -> Vec<[f32; 3]> {
    let position = |p: &DVec3| job.space.transform(p.as_vec3().to_array());
    mesh.positions.iter().map(position).collect()
}
