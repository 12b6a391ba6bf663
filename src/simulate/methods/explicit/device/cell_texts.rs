//! The kernels of cells: source texts and columns, as in [`texts`](super::texts).

use super::columns::names as column;
use super::launch::LAUNCH;
use super::solids;
use super::texts::{kernel, kernel_text, law};
use crate::gpu::KernelText;

/// Forces and motion of a step of cells.
pub const MOVE: KernelText = kernel_text(
    "move_cells",
    &[
        LAUNCH,
        kernel!("launch"),
        law!("real"),
        law!("quat"),
        law!("mat3"),
        law!("bond"),
        law!("cell"),
        law!("rattle"),
        law!("failure"),
        law!("damping"),
        law!("contact"),
        law!("motion"),
        law!("solid"),
        solids::TEXT,
        kernel!("element"),
        kernel!("face"),
        kernel!("collider"),
        kernel!("touch"),
        kernel!("reaction_sums"),
        kernel!("add_reactions"),
        kernel!("clamp"),
        kernel!("step"),
        kernel!("face_loads"),
        kernel!("cell_spin"),
        kernel!("move"),
    ],
    &[
        column::motion.read(),
        column::moved.write(),
        column::own.read(),
        column::neighbour.read(),
        column::bond_rest.write(),
        column::bond_strength.write(),
        column::cell_rows.write(),
        column::masks.write(),
        column::loads.write(),
        column::list_bounds.read(),
        column::list_partner.read(),
        column::list_spring.write(),
        column::tables.read(),
        column::poses.read(),
        column::reactions.write(),
        column::status.write(),
    ],
);

/// Dilation of cells, before each force pass.
pub const DILATE: KernelText = kernel_text(
    "dilate",
    &[
        LAUNCH,
        kernel!("launch"),
        law!("real"),
        law!("quat"),
        law!("mat3"),
        law!("bond"),
        law!("cell"),
        law!("failure"),
        law!("motion"),
        kernel!("element"),
        kernel!("face"),
        kernel!("dilate"),
    ],
    &[
        column::motion.read(),
        column::own.read(),
        column::neighbour.read(),
        column::bond_rest.read(),
        column::cell_rows.write(),
        column::masks.write(),
        column::status.write(),
    ],
);

/// Removal of faces whose strength was exceeded.
pub const BREAK: KernelText = kernel_text(
    "break_cells",
    &[
        LAUNCH,
        kernel!("launch"),
        law!("real"),
        law!("quat"),
        law!("bond"),
        law!("softening"),
        law!("motion"),
        kernel!("element"),
        kernel!("bond_left"),
        kernel!("bond_damage"),
        kernel!("face_released"),
        kernel!("break"),
    ],
    &[
        column::motion.read(),
        column::own.read(),
        column::neighbour.read(),
        column::bond_rest.write(),
        column::bond_strength.write(),
        column::masks.write(),
        column::events.write(),
        column::status.write(),
    ],
);

/// Stresses, energies and contacts of each cell.
pub const MEASURE: KernelText = kernel_text(
    "measure_cells",
    &[
        LAUNCH,
        kernel!("launch"),
        law!("real"),
        law!("quat"),
        law!("mat3"),
        law!("bond"),
        law!("cell"),
        law!("failure"),
        law!("damping"),
        law!("contact"),
        law!("motion"),
        law!("solid"),
        solids::TEXT,
        kernel!("element"),
        kernel!("face"),
        kernel!("collider"),
        kernel!("touch"),
        kernel!("face_carried"),
        kernel!("measure"),
    ],
    &[
        column::motion.read(),
        column::own.read(),
        column::neighbour.read(),
        column::bond_rest.read(),
        column::cell_rows.read(),
        column::masks.write(),
        column::list_bounds.read(),
        column::list_partner.read(),
        column::list_spring.read(),
        column::tables.read(),
        column::poses.read(),
        column::measured.write(),
        column::touched.write(),
        column::reactions.write(),
        column::status.write(),
    ],
);

/// All of them.
#[cfg(test)]
pub const ALL: [&KernelText; 4] = [&MOVE, &MEASURE, &BREAK, &DILATE];
