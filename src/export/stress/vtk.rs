//! Stress for ParaView: triangles and elements of each table as `.vtp`, with all columns.

use super::solids::{Solids, vectors};
use crate::columns::Stress;
use crate::export::error::ExportError;
use crate::export::format::ExportSummary;
use crate::export::job::Job;
use crate::export::vtk::file::{Cells, PolyData};
use crate::store::atomic;

/// A column.
type Of = fn(&Stress) -> &[f64];
/// A column by the name of its array.
type Named = (&'static str, Of);

const NUMBERS: [Named; 5] = [
    ("s1", |t| &t.s1),
    ("s2", |t| &t.s2),
    ("s3", |t| &t.s3),
    ("energy", |t| &t.energy),
    ("utilization", |t| &t.utilization),
];

const VECTORS: [(&str, [Of; 3]); 3] = [
    ("displacement", [|t| &t.ux, |t| &t.uy, |t| &t.uz]),
    ("d1", [|t| &t.d1x, |t| &t.d1y, |t| &t.d1z]),
    ("d3", [|t| &t.d3x, |t| &t.d3y, |t| &t.d3z]),
];

/// VTK's order of a symmetric tensor: XX YY ZZ XY YZ XZ.
const TENSOR: [Of; 6] = [
    |t| &t.xx,
    |t| &t.yy,
    |t| &t.zz,
    |t| &t.xy,
    |t| &t.yz,
    |t| &t.zx,
];

/// Writes `stress/NAME.NNNNNN.vtp`, and `stress_elements/NAME.NNNNNN.vtp` where there are elements.
pub fn write(job: &Job, solids: &Solids) -> Result<ExportSummary, ExportError> {
    let mut summary = ExportSummary::default();
    let table = &solids.table;
    let time = table.time.first().copied().unwrap_or_default();
    let (mut points, mut corners, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for (_, mesh, own) in &solids.bodies {
        let first = points.len() as u32;
        points.extend(mesh.positions.iter().map(|p| p.as_vec3().to_array()));
        let triangles = mesh.triangles.iter();
        corners.extend(triangles.map(|corners| corners.map(|corner| corner + first)));
        rows.extend_from_slice(own);
    }
    let mut surfaces = PolyData::new(time, &points, Cells::Polys, corners.into_iter());
    fill(table, &rows, &mut |name, components, values| {
        surfaces.cells_of(name, components, values);
    });
    surfaces.cell("body", rows.iter().map(|row| table.body[*row]));
    let elements = solids.elements();
    let mut files = vec![("stress", surfaces)];
    if !elements.is_empty() {
        let points = vectors([&table.x, &table.y, &table.z], &elements);
        let own = (0..elements.len() as u32).map(|at| [at]);
        let mut file = PolyData::new(time, &points, Cells::Verts, own);
        fill(table, &elements, &mut |name, components, values| {
            file.point(name, components, values);
        });
        file.point("body", 1, elements.iter().map(|row| table.body[*row]));
        file.point("id", 1, elements.iter().map(|row| table.id[*row]));
        files.push(("stress_elements", file));
    }
    for (kind, file) in files {
        let name = format!("{kind}/{}.{:06}.vtp", job.names.shot(), solids.frame);
        let path = job.target.join(name);
        atomic::write_parts(&path, &file.finish())?;
        summary.add(path)?;
    }
    Ok(summary)
}

/// Hands on the arrays of these rows.
fn fill(table: &Stress, rows: &[usize], put: &mut dyn FnMut(&str, usize, Vec<f32>)) {
    let single = |column: &[f64], row: usize| column[row] as f32;
    for (name, column) in NUMBERS {
        let column = column(table);
        put(
            name,
            1,
            rows.iter().map(|row| single(column, *row)).collect(),
        );
    }
    let mut several = |name: &str, columns: &[Of]| {
        let columns: Vec<&[f64]> = columns.iter().map(|column| column(table)).collect();
        let values = rows
            .iter()
            .flat_map(|row| columns.iter().map(move |c| single(c, *row)));
        put(name, columns.len(), values.collect());
    };
    for (name, columns) in VECTORS {
        several(name, &columns);
    }
    several("stress", &TENSOR);
}
