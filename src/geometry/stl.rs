//! STL reader for text and binary files. Triangles come without shared vertices; the caller merges equal
//! ones.

use std::io::Cursor;

use glam::DVec3;

use super::fault::{FormatFault, FormatSource, ParseResult};
use super::mesh::TriMesh;

/// Parses all triangles. Stored normals are ignored; the winding defines them.
pub(super) fn parse(source: &FormatSource<'_>) -> ParseResult {
    let fault = |error: std::io::Error| FormatFault::new(None, error.to_string());
    let mut cursor = Cursor::new(source.bytes);
    let mut mesh = TriMesh::default();
    for (number, triangle) in stl_io::create_stl_reader(&mut cursor)
        .map_err(fault)?
        .enumerate()
    {
        let first = mesh.positions.len() as u32;
        for vertex in triangle.map_err(fault)?.vertices {
            let position = DVec3::from_array(vertex.0.map(f64::from));
            if !position.is_finite() {
                let what = format!("triangle {}: a coordinate is not finite", number + 1);
                return Err(FormatFault::new(None, what));
            }
            mesh.positions.push(position);
        }
        mesh.triangles.push([first, first + 1, first + 2]);
    }
    Ok(mesh.into())
}
