//! The tables of the frame store as columns of plain numbers.
//!
//! Each table is declared once, in [`tables`]: field, type, unit and meaning. The declaration makes the struct
//! of columns, the Parquet schema and the documentation of the store; [`crate::store::parquet`] reads and writes it.

mod cell;
mod faces;
#[cfg(test)]
pub mod fixture;
mod glossary;
mod kinds;
mod table;
pub mod tables;

pub use cell::{Cell, Misfit, Named};
pub use faces::NONE;
pub use glossary::glossary;
pub use kinds::{
    BondLaw, BreakMode, LoadKind, Method, Shape, SleepEvent, SleepReason, StressPoint,
};
pub use table::{Column, Table, append_rows};
pub use tables::{
    Bars, Bonds, Breaks, Cells, Convergence, Elements, Faces, Fragments, Frames, History, Loads,
    Sleep, Stress,
};
