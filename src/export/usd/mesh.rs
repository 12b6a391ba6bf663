//! Writes the constant attributes of a fragment's surface as those of a USD mesh.

use std::io;

use crate::export::layer::{Layer, Prim, Value};
use crate::export::rest_arrays::RestArrays;

/// Writes the attributes that rigid and bending meshes have in common.
pub fn write_topology(rest: &RestArrays, layer: &mut dyn Layer) -> io::Result<()> {
    for (declaration, word) in [
        ("uniform token orientation", "rightHanded"),
        ("uniform token subdivisionScheme", "none"),
        (
            "uniform token subsetFamily:materialBind:familyType",
            "partition",
        ),
    ] {
        layer.set(declaration, Value::Token(word))?;
    }
    layer.set_stored("int[] faceVertexCounts", "", rest.vertex_counts)?;
    layer.set_stored("int[] faceVertexIndices", "", rest.indices)?;
    layer.set_stored("int[] primvars:inside", "uniform", rest.inside)?;
    layer.set_stored("point3f[] primvars:rest", "vertex", rest.rest)?;
    if let Some([st, corners]) = rest.st {
        layer.set_stored("texCoord2f[] primvars:st", "faceVarying", st)?;
        layer.set_stored("int[] primvars:st:indices", "", corners)?;
    }
    if let Some([colours, corners]) = rest.colours {
        let name = "color3f[] primvars:displayColor";
        layer.set_stored(name, "faceVarying", colours)?;
        layer.set_stored("int[] primvars:displayColor:indices", "", corners)?;
    }
    layer.set_stored("int[] primvars:normals:indices", "", rest.corners)
}

/// Writes the points at rest, relative to the centre of mass, and their normals.
pub fn write_shape(rest: &RestArrays, layer: &mut dyn Layer) -> io::Result<()> {
    layer.set_stored("float3[] extent", "", rest.shape.extent)?;
    layer.set_stored("point3f[] points", "", rest.shape.points)?;
    let normals = "normal3f[] primvars:normals";
    layer.set_stored(normals, "faceVarying", rest.shape.normals)
}

/// Writes the subsets of faces with their materials.
pub fn write_subsets(rest: &RestArrays, layer: &mut dyn Layer) -> io::Result<()> {
    for (name, faces) in &rest.faces {
        layer.begin(Prim {
            api: Some("MaterialBindingAPI"),
            ..Prim::new("GeomSubset", name)
        })?;
        layer.set("uniform token elementType", Value::Token("face"))?;
        layer.set("uniform token familyName", Value::Token("materialBind"))?;
        layer.relationship("material:binding", &[format!("/World/materials/{name}")])?;
        layer.set_stored("int[] indices", "", *faces)?;
        layer.end()?;
    }
    Ok(())
}
