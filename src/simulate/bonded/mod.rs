//! Elements and bonds as columns, and the passes over them.

mod active;
pub mod bond_filler;
pub mod bond_pass;
pub mod bond_rows;
pub mod bond_tasks;
pub mod bonds;
pub mod border;
pub mod breaks;
pub mod column;
pub mod crowded;
pub mod fragments;
pub mod held;
pub mod hydrostatic;
mod kind;
pub mod motion_pass;
mod orient;
pub mod owned;
pub mod rankine;
pub mod rest;
pub mod rigid_mask;
pub mod rows;
pub mod softening;
pub mod system;
pub mod work;
