//! Stress as USD: one text file per table, one mesh per body, with primvars and colours per triangle.

use std::io::{self, Write as _};

use super::surfaces::{StressSurfaces, positions, vectors};
use crate::export::error::ExportError;
use crate::export::format::ExportSummary;
use crate::export::job::ExportJob;
use crate::export::space::bounds;
use crate::export::text::{array, push_f32, push_tuple, push_u32};
use crate::geometry::TriMesh;
use crate::picture::scale;
use crate::store::atomic;

/// Writes `NAME.stress.NNNNNN.usda` next to the USD file of the shot.
pub fn write(job: &ExportJob, surfaces: &StressSurfaces) -> Result<ExportSummary, ExportError> {
    let name = format!("{}.stress.{:06}.usda", job.names.shot(), surfaces.frame);
    let path = job.target.with_file_name(name);
    atomic::write(&path, |out| {
        write!(
            out,
            "#usda 1.0\n(\n    defaultPrim = \"World\"\n    metersPerUnit = {}\n    upAxis = \"{}\"\n)\n\n\
             def Xform \"World\" (\n    kind = \"component\"\n)\n{{\n",
            1.0 / job.space.scale,
            job.space.up.name().to_uppercase(),
        )?;
        for (body, mesh, rows) in &surfaces.bodies {
            write_body(job, surfaces, (*body, mesh, rows), out)?;
        }
        writeln!(out, "}}")
    })?;
    let mut summary = ExportSummary::default();
    summary.add(path)?;
    Ok(summary)
}

fn write_body(
    job: &ExportJob,
    surfaces: &StressSurfaces,
    (body, mesh, rows): (u32, &TriMesh, &[usize]),
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let table = &surfaces.table;
    let points = positions(job, mesh);
    let (low, high) = bounds(&points);
    writeln!(out, "    def Mesh \"{}\"\n    {{", job.names.body(body))?;
    writeln!(out, "        uniform token subdivisionScheme = \"none\"")?;
    let mut attribute = |declaration: &str, texts: Vec<String>, interpolation: &str| {
        write!(out, "        {declaration} = ")?;
        for text in texts {
            out.write_all(text.as_bytes())?;
        }
        match interpolation {
            "" => writeln!(out),
            name => writeln!(out, " (interpolation = \"{name}\")"),
        }
    };
    let tuples = |values: &[[f32; 3]]| array(values, |text, v| push_tuple(text, v, push_f32));
    let whole = |values: &[u32]| array(values, |text, v| push_u32(text, *v));
    attribute("float3[] extent", tuples(&[low, high]), "")?;
    attribute("int[] faceVertexCounts", whole(&vec![3; rows.len()]), "")?;
    let corners = mesh.triangles.as_flattened();
    attribute("int[] faceVertexIndices", whole(corners), "")?;
    attribute("point3f[] points", tuples(&points), "")?;
    let largest_stress = surfaces.largest_stress().max(f64::MIN_POSITIVE);
    let colour = |row: &usize| scale::colour(table.s1[*row] / largest_stress).map(scale::linear);
    let colours: Vec<[f32; 3]> = rows.iter().map(colour).collect();
    attribute(
        "color3f[] primvars:displayColor",
        tuples(&colours),
        "uniform",
    )?;
    for (name, column) in [
        ("s1", &table.s1),
        ("s2", &table.s2),
        ("s3", &table.s3),
        ("energy", &table.energy),
        ("utilization", &table.utilization),
    ] {
        let values: Vec<f32> = rows.iter().map(|row| column[*row] as f32).collect();
        let texts = array(&values, |text, value| push_f32(text, *value));
        attribute(&format!("float[] primvars:{name}"), texts, "uniform")?;
    }
    let turned = |columns| -> Vec<[f32; 3]> {
        let all = vectors(columns, rows);
        all.into_iter().map(|v| job.space.rotate(v)).collect()
    };
    let moved: Vec<[f32; 3]> = vectors([&table.ux, &table.uy, &table.uz], rows)
        .into_iter()
        .map(|v| job.space.transform(v))
        .collect();
    attribute(
        "vector3f[] primvars:displacement",
        tuples(&moved),
        "uniform",
    )?;
    let first = turned([&table.d1x, &table.d1y, &table.d1z]);
    attribute("vector3f[] primvars:d1", tuples(&first), "uniform")?;
    writeln!(out, "    }}")
}
