//! Cells and their faces in the device's layout.

use super::columns::HasWalls;
use super::constants::{CELL_MOMENTUM, CELL_ROWS, FACE_THROUGH};
use super::slots::{MAX_SLOTS, Slots};
use crate::simulate::bonded::system::System;
use crate::simulate::error::StateError;
use crate::simulate::run_state::sections;
use crate::simulate::run_state::state::State;

/// The `vec4`s of a cell.
pub type CellRow = [[f32; 4]; CELL_ROWS as usize];
/// The `vec4`s of a face, seen from the cell with the lower index.
pub type FaceRow = [[f32; 4]; FACE_THROUGH as usize + 1];

/// Data of a run of cells in addition to elements and bonds, laid out by the constants `CELL_…` and `FACE_…`.
#[derive(Clone, Debug)]
pub struct CellTables {
    /// Cells by element, including the padding of the last chunk.
    pub cells: Vec<CellRow>,
    /// Faces by entry of the bonds.
    pub faces: Vec<FaceRow>,
    /// Whether the body has one-layer walls.
    pub walls: HasWalls,
}

/// Whether every cell has enough slots for its faces and its crowded partners.
pub fn has_enough_slots(system: &System<f32>) -> bool {
    Slots::new(system).slots <= MAX_SLOTS
}

impl CellTables {
    /// The column of cells: row 0 of all cells, then row 1, and so on.
    pub fn cell_rows(&self) -> Vec<[f32; 4]> {
        let rows = 0..CELL_ROWS as usize;
        let of = |row: usize| self.cells.iter().map(move |cell| cell[row]);
        rows.flat_map(of).collect()
    }

    /// The rows that follow the bonds' rest values in their column: row 0 of all faces, then row 1, and so
    /// on.
    pub fn face_rows(&self, slots: &Slots, system: &System<f32>) -> Vec<[f32; 4]> {
        let rows = FACE_THROUGH as usize + usize::from(self.walls);
        let of = |row: usize| {
            slots.map(
                &system.bonds,
                |side| self.faces[side.entry][row],
                |_| [0.0; 4],
            )
        };
        (0..rows).flat_map(of).collect()
    }

    /// Copies the momenta out of a column of cells.
    pub fn take_momenta(&mut self, rows: &[[f32; 4]]) {
        let stride = self.cells.len();
        let momenta = &rows[CELL_MOMENTUM as usize * stride..];
        for (cell, momentum) in self.cells.iter_mut().zip(momenta) {
            cell[CELL_MOMENTUM as usize] = *momentum;
        }
    }

    /// Writes the momenta to a checkpoint, in the format of runs on the CPU.
    pub fn put(&self, state: &mut State) {
        let momenta = self.cells.iter().map(|cell| cell[CELL_MOMENTUM as usize]);
        sections::put_momenta(state, momenta);
    }

    /// Reads the momenta from a checkpoint.
    pub fn restore(&mut self, state: &State) -> Result<(), StateError> {
        let momenta = self.cells.iter_mut();
        sections::read_momenta(state, momenta.map(|cell| &mut cell[CELL_MOMENTUM as usize]))
    }
}
