//! Stress as USD: one file per table, one mesh per body, with primvars and colours per triangle.

use std::io;

use super::surfaces::{StressSurfaces, positions, vectors};
use crate::export::error::ExportError;
use crate::export::format::ExportSummary;
use crate::export::job::ExportJob;
use crate::export::layer::{self, Array, ArraySpool, Digits, Encoding, Layer, Prim, Value};
use crate::export::space::bounds;
use crate::export::usd::scene;
use crate::geometry::TriMesh;
use crate::picture::scale;
use crate::store::StoreError;

/// Writes `NAME.stress.NNNNNN.usdc`, or another kind of file, next to the USD file of the shot.
pub fn write(job: &ExportJob, surfaces: &StressSurfaces) -> Result<ExportSummary, ExportError> {
    let (frame, extension) = (surfaces.frame, job.usd.extension());
    let name = format!("{}.stress.{frame:06}.{extension}", job.names.shot());
    let path = job.target.with_file_name(name);
    let mut spool =
        ArraySpool::next_to(&path, Encoding::of(job.usd)).map_err(StoreError::io(&path))?;
    layer::write(
        (&path, job.usd),
        &scene::still_stage(job),
        &mut spool,
        |layer| {
            layer.begin(scene::WORLD)?;
            for (body, mesh, rows) in &surfaces.bodies {
                write_body(job, surfaces, (*body, mesh, rows), layer)?;
            }
            layer.end()
        },
    )?;
    let mut summary = ExportSummary::default();
    summary.add(path)?;
    Ok(summary)
}

fn write_body(
    job: &ExportJob,
    surfaces: &StressSurfaces,
    (body, mesh, rows): (u32, &TriMesh, &[usize]),
    layer: &mut dyn Layer,
) -> io::Result<()> {
    let table = &surfaces.table;
    let points = positions(job, mesh);
    let (low, high) = bounds(&points);
    layer.begin(Prim::new("Mesh", &job.names.body(body)))?;
    layer.set("uniform token subdivisionScheme", Value::Token("none"))?;
    layer.set_array("float3[] extent", "", &Array::vectors(&[low, high]))?;
    let counts = vec![3; rows.len()];
    layer.set_array("int[] faceVertexCounts", "", &Array::Ints(&counts))?;
    let corners = Array::Ints(mesh.triangles.as_flattened());
    layer.set_array("int[] faceVertexIndices", "", &corners)?;
    layer.set_array("point3f[] points", "", &Array::vectors(&points))?;
    let largest_stress = surfaces.largest_stress().max(f64::MIN_POSITIVE);
    let colour = |row: &usize| scale::colour(table.s1[*row] / largest_stress).map(scale::linear);
    let colours: Vec<[f32; 3]> = rows.iter().map(colour).collect();
    let name = "color3f[] primvars:displayColor";
    layer.set_array(name, "uniform", &Array::vectors(&colours))?;
    for (name, column) in [
        ("s1", &table.s1),
        ("s2", &table.s2),
        ("s3", &table.s3),
        ("energy", &table.energy),
        ("utilization", &table.utilization),
    ] {
        let values: Vec<f32> = rows.iter().map(|row| column[*row] as f32).collect();
        let values = Array::Floats(&values, Digits::All);
        layer.set_array(&format!("float[] primvars:{name}"), "uniform", &values)?;
    }
    let turned = |columns| -> Vec<[f32; 3]> {
        let all = vectors(columns, rows);
        all.into_iter().map(|v| job.space.rotate(v)).collect()
    };
    let moved: Vec<[f32; 3]> = vectors([&table.ux, &table.uy, &table.uz], rows)
        .into_iter()
        .map(|v| job.space.transform(v))
        .collect();
    let name = "vector3f[] primvars:displacement";
    layer.set_array(name, "uniform", &Array::vectors(&moved))?;
    let first = turned([&table.d1x, &table.d1y, &table.d1z]);
    layer.set_array("vector3f[] primvars:d1", "uniform", &Array::vectors(&first))?;
    layer.end()
}
