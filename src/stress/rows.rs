//! Fields as rows of the table of stress.

use glam::DVec3;

use crate::bem::{Field, Surface};
use crate::columns::{Stress, StressPoint};

/// What all rows of a body share.
#[derive(Clone, Copy, Debug)]
pub struct Owner {
    /// Frame number.
    pub frame: u32,
    /// Time of the loads, s.
    pub time: f64,
    /// Index of the body in the pipeline.
    pub body: u32,
    /// Tensile strength, Pa.
    pub strength: Option<f64>,
}

/// Adds a row a triangle.
pub fn triangles(table: &mut Stress, owner: Owner, surface: &Surface, fields: &[Field]) {
    for (t, field) in fields.iter().enumerate() {
        table.kind.push(StressPoint::Triangle);
        table.id.push(t as u32);
        table.area.push(surface.areas[t]);
        row(table, owner, surface.centroids[t], field);
    }
}

/// Adds a row an element.
pub fn elements(table: &mut Stress, owner: Owner, ids: &[u32], points: &[DVec3], fields: &[Field]) {
    for ((id, point), field) in ids.iter().zip(points).zip(fields) {
        table.kind.push(StressPoint::Element);
        table.id.push(*id);
        table.area.push(0.0);
        row(table, owner, *point, field);
    }
}

fn row(table: &mut Stress, owner: Owner, place: DVec3, field: &Field) {
    table.frame.push(owner.frame);
    table.time.push(owner.time);
    table.body.push(owner.body);
    vector([&mut table.x, &mut table.y, &mut table.z], place);
    let u = field.displacement;
    vector([&mut table.ux, &mut table.uy, &mut table.uz], u);
    let stress = field.stress;
    let diagonal = DVec3::new(stress.x_axis.x, stress.y_axis.y, stress.z_axis.z);
    let shear = DVec3::new(stress.z_axis.y, stress.x_axis.z, stress.y_axis.x);
    vector([&mut table.xx, &mut table.yy, &mut table.zz], diagonal);
    vector([&mut table.yz, &mut table.zx, &mut table.xy], shear);
    let principal = field.principal();
    let values = DVec3::from(principal.values);
    vector([&mut table.s1, &mut table.s2, &mut table.s3], values);
    let [first, _, third] = principal.directions;
    vector([&mut table.d1x, &mut table.d1y, &mut table.d1z], first);
    vector([&mut table.d3x, &mut table.d3y, &mut table.d3z], third);
    table.energy.push(field.energy_density);
    let tension = principal.values[0].max(0.0);
    table
        .utilization
        .push(owner.strength.map_or(0.0, |strength| tension / strength));
}

fn vector(columns: [&mut Vec<f64>; 3], vector: DVec3) {
    for (column, value) in columns.into_iter().zip(vector.to_array()) {
        column.push(value);
    }
}
