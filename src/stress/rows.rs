//! Converts fields to rows of the stress table.

use glam::DVec3;

use crate::bem::{Field, Surface};
use crate::columns::{Stress, StressPoint};

/// Columns that all rows of a body share, and its strength.
#[derive(Clone, Copy, Debug)]
pub struct RowContext {
    /// Frame number.
    pub frame: u32,
    /// Time of the loads, s.
    pub time: f64,
    /// Index of the body in the pipeline.
    pub body: u32,
    /// Tensile strength, Pa.
    pub strength: Option<f64>,
}

/// Adds a row for each triangle.
pub fn triangles(table: &mut Stress, context: RowContext, surface: &Surface, fields: &[Field]) {
    for (t, field) in fields.iter().enumerate() {
        table.kind.push(StressPoint::Triangle);
        table.id.push(t as u32);
        table.area.push(surface.areas[t]);
        row(table, context, surface.centroids[t], field);
    }
}

/// Adds a row for each element.
pub fn elements(
    table: &mut Stress,
    context: RowContext,
    ids: &[u32],
    points: &[DVec3],
    fields: &[Field],
) {
    for ((id, point), field) in ids.iter().zip(points).zip(fields) {
        table.kind.push(StressPoint::Element);
        table.id.push(*id);
        table.area.push(0.0);
        row(table, context, *point, field);
    }
}

fn row(table: &mut Stress, context: RowContext, place: DVec3, field: &Field) {
    table.frame.push(context.frame);
    table.time.push(context.time);
    table.body.push(context.body);
    push_vector([&mut table.x, &mut table.y, &mut table.z], place);
    let u = field.displacement;
    push_vector([&mut table.ux, &mut table.uy, &mut table.uz], u);
    let stress = field.stress;
    let diagonal = DVec3::new(stress.x_axis.x, stress.y_axis.y, stress.z_axis.z);
    let shear = DVec3::new(stress.z_axis.y, stress.x_axis.z, stress.y_axis.x);
    push_vector([&mut table.xx, &mut table.yy, &mut table.zz], diagonal);
    push_vector([&mut table.yz, &mut table.zx, &mut table.xy], shear);
    let principal = field.principal();
    let values = DVec3::from(principal.values);
    push_vector([&mut table.s1, &mut table.s2, &mut table.s3], values);
    let [first, _, third] = principal.directions;
    push_vector([&mut table.d1x, &mut table.d1y, &mut table.d1z], first);
    push_vector([&mut table.d3x, &mut table.d3y, &mut table.d3z], third);
    table.energy.push(field.energy_density);
    let tension = principal.values[0].max(0.0);
    table
        .utilization
        .push(context.strength.map_or(0.0, |strength| tension / strength));
}

fn push_vector(columns: [&mut Vec<f64>; 3], vector: DVec3) {
    for (column, value) in columns.into_iter().zip(vector.to_array()) {
        column.push(value);
    }
}
