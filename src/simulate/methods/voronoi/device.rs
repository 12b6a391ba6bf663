//! Cells and faces in the layout of the kernels.

use super::build::CellScene;
use super::columns::{FaceSide, inertia};
use crate::simulate::methods::explicit::device::cells::{CellRow, CellTables, FaceRow};
use crate::simulate::methods::explicit::device::constants::{
    CELL_AXES, CELL_DILATION, CELL_INVERSE, CELL_MOMENTS, CELL_MOMENTUM, CELL_RESISTANCE,
    CELL_ROWS, FACE_ARM_I, FACE_ARM_J, FACE_BENDING, FACE_MODULI, FACE_NORMAL, FACE_SECOND,
    FACE_THROUGH,
};

/// A `vec4` from three numbers and a fourth.
fn row(vector: [f32; 3], more: f32) -> [f32; 4] {
    let [x, y, z] = vector;
    [x, y, z, more]
}

/// The device tables of a scene.
pub fn tables(scene: &CellScene<f32>) -> CellTables {
    let faces = &scene.faces;
    let bonds = &scene.built.system.bonds;
    let mut rows = vec![[[0.0; 4]; FACE_THROUGH as usize + 1]; bonds.other.len()];
    for (owner, side) in bonds.entries() {
        let seen = faces.side(side.entry, owner > side.other);
        rows[side.entry] = face_row(scene, side.entry, &seen);
    }
    let mut cells: Vec<CellRow> = (0..scene.cells.bulk.len())
        .map(|cell| cell_row(scene, cell))
        .collect();
    for (cell, resistance) in &scene.absorbing_sides {
        let to = &mut cells[*cell as usize][CELL_RESISTANCE as usize];
        for (to, more) in to.iter_mut().zip(resistance.as_vec3().to_array()) {
            *to += more;
        }
    }
    CellTables {
        cells,
        faces: rows,
        walls: faces.through.is_some(),
    }
}

fn face_row(scene: &CellScene<f32>, entry: usize, seen: &FaceSide) -> FaceRow {
    let limits = &scene.limits;
    let [counts, ratio] = [0, 1].map(|k| limits.criterion[k].get(entry));
    let mut out = FaceRow::default();
    let mut put = |at: u32, vector: glam::DVec3, more: f32| {
        out[at as usize] = row(vector.as_vec3().to_array(), more);
    };
    put(FACE_ARM_I, seen.arms[0], seen.half_area as f32);
    put(FACE_ARM_J, seen.arms[1], seen.traction as f32);
    put(FACE_NORMAL, seen.normal, seen.damping[0] as f32);
    put(FACE_SECOND, seen.second, seen.damping[1] as f32);
    put(FACE_BENDING, seen.bending, counts);
    put(FACE_MODULI, seen.moduli, ratio);
    put(FACE_THROUGH, seen.through, 0.0);
    out
}

fn cell_row(scene: &CellScene<f32>, cell: usize) -> CellRow {
    let cells = &scene.cells;
    let body = &cells.inertia[cell].0;
    let three = |at: usize| [body[at], body[at + 1], body[at + 2]];
    let volumes = cells.volumes[cell];
    let volume = match volumes.all > 0.0 {
        true => volumes.all + volumes.ratio * volumes.free,
        false => 0.0,
    };
    let axes = inertia::AXES;
    let mut out = [[0.0; 4]; CELL_ROWS as usize];
    out[CELL_MOMENTS as usize] = row(three(inertia::MOMENTS), cells.lame[cell] as f32);
    out[CELL_INVERSE as usize] = row(three(inertia::INVERSE), volume as f32);
    out[CELL_AXES as usize] = row(three(axes), body[axes + 3]);
    out[CELL_MOMENTUM as usize] = cells.momentum[cell].0;
    out[CELL_DILATION as usize] = row([0.0; 3], cells.thickness[cell] as f32);
    out[CELL_RESISTANCE as usize] = row([0.0; 3], volumes.ratio as f32);
    out
}
