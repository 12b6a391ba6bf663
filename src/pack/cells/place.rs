//! The cells of a body in the world.

use glam::{DQuat, DVec3};

use super::super::hilbert;
use crate::geometry::cells::{Cells, Free};
use crate::geometry::convex::Convex;
use crate::spec::Body;

/// Faces smaller than this part of their cell's surface transmit nothing and are left out.
const SLIVER: f64 = 1e-9;

/// The cells of a body's solids, of which a face has the number of the solid beyond it as its tag, along a
/// Hilbert curve; faces between them by the numbers of both. `centres` are those of the solids. Returns the
/// order too.
pub fn placed(body: &Body, centres: &[DVec3], solids: &[Convex]) -> (Cells, Vec<u32>) {
    let order = hilbert::order(centres);
    let mut cells = Cells::of(&ordered(solids, &order)).expect("solids have a volume");
    cells.leave_out_slivers(SLIVER);
    if !body.is_bonded() {
        part(&mut cells);
    }
    cells.between.sort_by_key(|one| one.cells);
    let position = DVec3::from_array(body.position);
    move_rigidly(&mut cells, body.rotation.quaternion(), position);
    (cells, order)
}

/// Solids in an order, their tags numbered by it.
fn ordered(solids: &[Convex], order: &[u32]) -> Vec<Convex> {
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

/// Every face becomes free, on both of its sides.
fn part(cells: &mut Cells) {
    for one in std::mem::take(&mut cells.between) {
        let [i, j] = one.cells;
        let mut back = one.section;
        back.normal = -back.normal;
        // Right-handed with the normal.
        back.axes[1] = -back.axes[1];
        for (cell, section) in [(i, one.section), (j, back)] {
            cells.free.push(Free { cell, section });
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
