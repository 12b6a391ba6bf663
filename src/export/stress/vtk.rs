//! Stress for ParaView: triangles and elements of each table as `.vtp`, with stress, energy and displacement.

use super::surfaces::{StressSurfaces, vectors};
use crate::columns::Stress;
use crate::export::error::ExportError;
use crate::export::format::ExportSummary;
use crate::export::job::ExportJob;
use crate::export::vtk::file::{CellKind, PolyData};
use crate::store::atomic;

/// A column of the stress table.
type StressColumn = fn(&Stress) -> &[f64];
/// Name of an array and the column that it is made from.
type NamedColumn = (&'static str, StressColumn);

/// Arrays of one component.
const SCALARS: [NamedColumn; 5] = [
    ("s1", |t| &t.s1),
    ("s2", |t| &t.s2),
    ("s3", |t| &t.s3),
    ("energy", |t| &t.energy),
    ("utilization", |t| &t.utilization),
];

/// Arrays of three components.
const VECTORS: [(&str, [StressColumn; 3]); 3] = [
    ("displacement", [|t| &t.ux, |t| &t.uy, |t| &t.uz]),
    ("d1", [|t| &t.d1x, |t| &t.d1y, |t| &t.d1z]),
    ("d3", [|t| &t.d3x, |t| &t.d3y, |t| &t.d3z]),
];

/// Components of the stress tensor in VTK's order: XX YY ZZ XY YZ XZ.
const TENSOR: [StressColumn; 6] = [
    |t| &t.xx,
    |t| &t.yy,
    |t| &t.zz,
    |t| &t.xy,
    |t| &t.yz,
    |t| &t.zx,
];

/// Writes `stress/NAME.NNNNNN.vtp`, and `stress_elements/NAME.NNNNNN.vtp` if the table has elements.
pub fn write(job: &ExportJob, surfaces: &StressSurfaces) -> Result<ExportSummary, ExportError> {
    let mut summary = ExportSummary::default();
    let table = &surfaces.table;
    let time = table.time.first().copied().unwrap_or_default();
    let (mut points, mut corners, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for (_, mesh, own) in &surfaces.bodies {
        let first = points.len() as u32;
        points.extend(mesh.positions.iter().map(|p| p.as_vec3().to_array()));
        let triangles = mesh.triangles.iter();
        corners.extend(triangles.map(|corners| corners.map(|corner| corner + first)));
        rows.extend_from_slice(own);
    }
    let mut triangles = PolyData::new(time, &points, CellKind::Polys, corners.into_iter());
    add_arrays(table, &rows, &mut |name, components, values| {
        triangles.add_cell_array(name, components, values);
    });
    triangles.add_cell_scalars("body", rows.iter().map(|row| table.body[*row]));
    let elements = surfaces.elements();
    let mut files = vec![("stress", triangles)];
    if !elements.is_empty() {
        let points = vectors([&table.x, &table.y, &table.z], &elements);
        let own = (0..elements.len() as u32).map(|at| [at]);
        let mut file = PolyData::new(time, &points, CellKind::Verts, own);
        add_arrays(table, &elements, &mut |name, components, values| {
            file.add_point_array(name, components, values);
        });
        file.add_point_array("body", 1, elements.iter().map(|row| table.body[*row]));
        file.add_point_array("id", 1, elements.iter().map(|row| table.id[*row]));
        files.push(("stress_elements", file));
    }
    for (kind, file) in files {
        let name = format!("{kind}/{}.{:06}.vtp", job.names.shot(), surfaces.frame);
        let path = job.target.join(name);
        atomic::write_parts(&path, &file.finish())?;
        summary.add(path)?;
    }
    Ok(summary)
}

/// Passes the arrays of the given rows to `put`, as (name, components, values).
fn add_arrays(table: &Stress, rows: &[usize], put: &mut dyn FnMut(&str, usize, Vec<f32>)) {
    let single = |column: &[f64], row: usize| column[row] as f32;
    for (name, column) in SCALARS {
        let column = column(table);
        put(
            name,
            1,
            rows.iter().map(|row| single(column, *row)).collect(),
        );
    }
    let mut several = |name: &str, columns: &[StressColumn]| {
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
