//! Cells and their faces as the device has them.

use super::columns::HasWalls;
use super::constants::{CELL_MOMENTUM, CELL_ROWS, FACE_THROUGH};
use super::slots::{MAX_SLOTS, Slots};
use crate::simulate::bonded::system::System;
use crate::simulate::error::StateError;
use crate::simulate::run_state::sections;
use crate::simulate::run_state::state::State;

/// `vec4`s of a cell.
pub type CellRow = [[f32; 4]; CELL_ROWS as usize];
/// `vec4`s of a face, seen from the cell with the lower index.
pub type FaceRow = [[f32; 4]; FACE_THROUGH as usize + 1];

/// What a run of cells has beside elements and bonds, laid out as the constants `CELL_…` and `FACE_…` of kernels say.
#[derive(Clone, Debug)]
pub struct CellTables {
    /// By element, those that fill the last chunk among them.
    pub cells: Vec<CellRow>,
    /// By entry of bonds.
    pub faces: Vec<FaceRow>,
    /// Whether any cells are a wall of one layer.
    pub walls: HasWalls,
}

/// Whether every cell has room for its faces and for the crowded partners beside them.
pub fn has_enough_slots(system: &System<f32>) -> bool {
    Slots::new(system).slots <= MAX_SLOTS
}

impl CellTables {
    /// The column of cells: a row of all cells behind the other.
    pub fn cell_rows(&self) -> Vec<[f32; 4]> {
        let rows = 0..CELL_ROWS as usize;
        let of = |row: usize| self.cells.iter().map(move |cell| cell[row]);
        rows.flat_map(of).collect()
    }

    /// What stands in the column of bonds at rest behind these: a row of all faces behind the other.
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

    /// Takes over the momenta of a column of cells.
    pub fn take_momenta(&mut self, rows: &[[f32; 4]]) {
        let stride = self.cells.len();
        let momenta = &rows[CELL_MOMENTUM as usize * stride..];
        for (cell, momentum) in self.cells.iter_mut().zip(momenta) {
            cell[CELL_MOMENTUM as usize] = *momentum;
        }
    }

    /// Writes momenta to a state as runs on cores do.
    pub fn put(&self, state: &mut State) {
        let momenta = self.cells.iter().map(|cell| cell[CELL_MOMENTUM as usize]);
        sections::put_momenta(state, momenta);
    }

    /// Reads them.
    pub fn restore(&mut self, state: &State) -> Result<(), StateError> {
        let momenta = self.cells.iter_mut();
        sections::read_momenta(state, momenta.map(|cell| &mut cell[CELL_MOMENTUM as usize]))
    }
}
