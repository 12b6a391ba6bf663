//! Writer of binary PLY.

use std::io::{self, Write};

use crate::geometry::mesh::TriMesh;

/// Comment before the name of a material; faces refer to these comments by their order.
pub const MATERIAL_COMMENT: &str = "material ";

/// Writes a binary (little-endian) PLY with positions in double precision, and with texture coordinates, colours and
/// materials of faces if the mesh has any. Names of materials are comments.
pub fn write_ply(mesh: &TriMesh, out: &mut impl Write) -> io::Result<()> {
    let names: String = (mesh.paint.names.iter())
        .map(|name| format!("comment {MATERIAL_COMMENT}{name}\n"))
        .collect();
    write!(
        out,
        "ply\nformat binary_little_endian 1.0\ncomment metres, y up\n{names}element vertex {}\n\
         property double x\nproperty double y\nproperty double z\n\
         element face {}\nproperty list uchar uint vertex_indices\n{}{}{}end_header\n",
        mesh.positions.len(),
        mesh.triangles.len(),
        if_any(&mesh.uv, "property list uchar float texcoord\n"),
        if_any(
            &mesh.paint.colours,
            "property list uchar float corner_colours\n"
        ),
        if_any(&mesh.paint.materials, "property int material\n"),
    )?;
    for position in &mesh.positions {
        for value in position.to_array() {
            out.write_all(&value.to_le_bytes())?;
        }
    }
    for (t, triangle) in mesh.triangles.iter().enumerate() {
        out.write_all(&[3])?;
        for vertex in triangle {
            out.write_all(&vertex.to_le_bytes())?;
        }
        if let Some(uv) = mesh.uv.get(t) {
            out.write_all(&[6])?;
            for value in uv.as_flattened() {
                out.write_all(&value.to_le_bytes())?;
            }
        }
        if let Some(colours) = mesh.paint.colours.get(t) {
            out.write_all(&[9])?;
            for value in colours.as_flattened() {
                out.write_all(&value.to_le_bytes())?;
            }
        }
        if let Some(&material) = mesh.paint.materials.get(t) {
            // None is -1.
            out.write_all(&material.cast_signed().to_le_bytes())?;
        }
    }
    Ok(())
}

/// The text, or none if there are no values.
fn if_any<T>(values: &[T], text: &'static str) -> &'static str {
    match values {
        [] => "",
        _ => text,
    }
}
