//! Builds the tables of cells and faces from the packed bodies.

use glam::{DMat3, DQuat, DVec3};

use super::inputs::Inputs;
use crate::columns;
use crate::geometry::cells::Cells;
use crate::geometry::section::Section;
use crate::math::eigen;
use crate::store::Packing;

/// Appends the rows of the cells of a rotated body, and of the faces between them in the order of the bonds, to a
/// packing. `materials` are those of its elements, by their numbers in the pipeline; the last numbers are those of its
/// first element and bond.
pub(super) fn append(
    packing: &mut Packing,
    (inputs, materials): (&Inputs, &[u32]),
    found: &Cells,
    (turn, [first, first_bond]): (DQuat, [u32; 2]),
) {
    let density = |i: usize| inputs.materials[materials[i] as usize].density;
    append_moments(&mut packing.cells.cells, found, first, (turn, &density));
    for (bond, one) in (first_bond..).zip(&found.between) {
        let [i, j] = one.cells.map(|cell| first + cell);
        append_face(&mut packing.cells.faces, [i, j, bond], &one.section);
    }
}

/// Appends free volumes and moments of the cells of a rotated body; its first cell is element `first`.
fn append_moments(
    cells: &mut columns::Cells,
    found: &Cells,
    first: u32,
    (turn, density): (DQuat, &dyn Fn(usize) -> f64),
) {
    let free = found.free_volumes();
    for (i, (mass, free)) in found.masses.iter().zip(free).enumerate() {
        let (moments, axes) = principal(mass.inertia);
        let [i1, i2, i3] = (moments * density(i)).to_array();
        let axes = turn * axes;
        cells.id.push(first + i as u32);
        cells.free.push(free);
        cells.i1.push(i1);
        cells.i2.push(i2);
        cells.i3.push(i3);
        cells.qx.push(axes.x);
        cells.qy.push(axes.y);
        cells.qz.push(axes.z);
        cells.qw.push(axes.w);
    }
}

/// Fraction of the largest moment below which products of inertia are rounding errors.
const ROUNDING: f64 = 1e-10;

/// Principal moments of inertia, and the rotation from x, y, z to their axes; the identity where x, y, z are
/// the principal axes.
fn principal(inertia: DMat3) -> (DVec3, DQuat) {
    let moments = DVec3::new(inertia.x_axis.x, inertia.y_axis.y, inertia.z_axis.z);
    let mut rows = inertia.to_cols_array_2d();
    for (k, row) in rows.iter_mut().enumerate() {
        for (other, product) in row.iter_mut().enumerate() {
            if other != k && product.abs() <= ROUNDING * moments.max_element() {
                *product = 0.0;
            }
        }
    }
    let (moments, axes) = eigen(rows);
    let [x, y, z] = axes.map(DVec3::from_array);
    let right_handed = if x.cross(y).dot(z) < 0.0 { -z } else { z };
    let axes = DQuat::from_mat3(&DMat3::from_cols(x, y, right_handed)).normalize();
    (DVec3::from_array(moments), axes)
}

/// Appends the rows of free faces, body by body: the number of the first element of each, and its cells.
pub(super) fn append_free(packing: &mut Packing, bodies: &[(u32, Cells)]) {
    for (first, cells) in bodies {
        for one in &cells.free {
            let ends = [first + one.cell, columns::NONE, columns::NONE];
            append_face(&mut packing.cells.faces, ends, &one.section);
        }
    }
}

/// Appends a face of cells `i`, `j` and of `bond`.
fn append_face(faces: &mut columns::Faces, [i, j, bond]: [u32; 3], section: &Section) {
    faces.id.push(faces.id.len() as u32);
    faces.i.push(i);
    faces.j.push(j);
    faces.bond.push(bond);
    faces.area.push(section.area);
    let [along, _] = section.axes;
    for (columns, vector) in [
        ([&mut faces.x, &mut faces.y, &mut faces.z], section.centre),
        (
            [&mut faces.nx, &mut faces.ny, &mut faces.nz],
            section.normal,
        ),
        ([&mut faces.sx, &mut faces.sy, &mut faces.sz], along),
    ] {
        for (column, value) in columns.into_iter().zip(vector.to_array()) {
            column.push(value);
        }
    }
    faces.second_s.push(section.second[0]);
    faces.second_t.push(section.second[1]);
}
