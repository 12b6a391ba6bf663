//! The cells of a body in world coordinates.

use glam::{DQuat, DVec3};

use super::super::hilbert;
use crate::geometry::cells::{Cells, FreeFace};
use crate::geometry::convex::Convex;
use crate::spec::Body;

/// Faces smaller than this part of their cell's surface transmit nothing and are left out.
const MIN_FACE_FRACTION: f64 = 1e-9;

/// The cells of a body's solids, ordered along a Hilbert curve; faces between cells are sorted by the numbers
/// of both. The tag of a face is the number of the solid on its other side, and `centres` are the centres of
/// the solids. Also returns the order.
pub fn place_cells(body: &Body, centres: &[DVec3], solids: &[Convex]) -> (Cells, Vec<u32>) {
    let order = hilbert::order(centres);
    let mut cells = Cells::of(&reordered(solids, &order)).expect("solids have a volume");
    cells.remove_slivers(MIN_FACE_FRACTION);
    if !body.is_bonded() {
        free_all_faces(&mut cells);
    }
    cells.between.sort_by_key(|one| one.cells);
    let position = DVec3::from_array(body.position);
    move_rigidly(&mut cells, body.rotation.quaternion(), position);
    (cells, order)
}

/// Reorders the solids and renumbers their tags.
fn reordered(solids: &[Convex], order: &[u32]) -> Vec<Convex> {
    let mut now = vec![0; order.len()];
    for (place, &before) in (0..).zip(order) {
        now[before as usize] = place;
    }
    let mut all: Vec<Convex> = order
        .iter()
        .map(|&at| solids[at as usize].clone())
        .collect();
    for face in all.iter_mut().flat_map(|solid| &mut solid.faces) {
        face.tag = now.get(face.tag as usize).copied().unwrap_or(u32::MAX);
    }
    all
}

/// Replaces every face between cells by two free faces.
fn free_all_faces(cells: &mut Cells) {
    for one in std::mem::take(&mut cells.between) {
        let [i, j] = one.cells;
        let mut back = one.section;
        back.normal = -back.normal;
        // Keeps the axes right-handed with the normal.
        back.axes[1] = -back.axes[1];
        for (cell, section) in [(i, one.section), (j, back)] {
            cells.free.push(FreeFace { cell, section });
        }
    }
    cells.free.sort_by_key(|one| one.cell);
}

fn move_rigidly(cells: &mut Cells, turn: DQuat, position: DVec3) {
    let between = cells.between.iter_mut().map(|one| &mut one.section);
    let free = cells.free.iter_mut().map(|one| &mut one.section);
    for section in between.chain(free) {
        section.centre = position + turn * section.centre;
        section.normal = turn * section.normal;
        section.axes = section.axes.map(|axis| turn * axis);
    }
    for mass in &mut cells.masses {
        mass.centre = position + turn * mass.centre;
    }
}
