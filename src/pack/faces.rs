//! The tables of cells and their faces from the packed bodies.

use glam::{DMat3, DQuat, DVec3};

use super::body::PackedBody;
use super::inputs::Inputs;
use crate::columns;
use crate::geometry::cells::Cells;
use crate::geometry::section::Section;
use crate::math::eigen;
use crate::store::Packing;

/// Appends the rows of all cells, of the faces between them in the order of the bonds, and of the free ones,
/// to a packing that has all but those.
pub(super) fn append(packing: &mut Packing, inputs: &Inputs, bodies: &[PackedBody]) {
    let (mut first, mut bond) = (0, 0);
    let mut firsts = Vec::with_capacity(bodies.len());
    for (body, packed) in inputs.bodies.iter().zip(bodies) {
        if let Some(found) = &packed.cells {
            let turn = body.rotation.quaternion();
            let of_element = &packing.elements.material[first as usize..];
            let density = |i: usize| inputs.materials[of_element[i] as usize].density;
            append_moments(&mut packing.cells.cells, found, first, (turn, &density));
            for (k, one) in (bond..).zip(&found.between) {
                let [i, j] = one.cells.map(|cell| first + cell);
                append_face(&mut packing.cells.faces, [i, j, k], &one.section);
            }
        }
        firsts.push(first);
        first += packed.centres.len() as u32;
        bond += packed.pairs.len() as u32;
    }
    append_free_faces(packing, bodies, &firsts);
}

/// Volumes and moments of cells, the first of which is element `first`, of a body that is turned.
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

/// Part of the moments below which products of inertia are rounding.
const ROUNDING: f64 = 1e-10;

/// Principal moments of inertia, and what turns x, y, z into their axes: nothing where those are the axes.
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
    let handed = if x.cross(y).dot(z) < 0.0 { -z } else { z };
    let axes = DQuat::from_mat3(&DMat3::from_cols(x, y, handed)).normalize();
    (DVec3::from_array(moments), axes)
}

/// The rows of free faces, body by body; `firsts` has the number of each body's first element.
fn append_free_faces(packing: &mut Packing, bodies: &[PackedBody], firsts: &[u32]) {
    for (packed, first) in bodies.iter().zip(firsts) {
        for one in packed.cells.iter().flat_map(|cells| &cells.free) {
            let ends = [first + one.cell, columns::NONE, columns::NONE];
            append_face(&mut packing.cells.faces, ends, &one.section);
        }
    }
}

/// A face of these cells and this bond.
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
