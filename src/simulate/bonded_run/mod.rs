//! Shared by all methods of bonded elements: the scene built from a packing, its critical step, and the
//! course of a run.

pub mod advance;
mod applied;
mod bond_classes;
mod bond_ends;
pub mod build;
pub mod costs;
mod cracks;
mod element_columns;
mod element_survey;
pub mod frame;
mod held_rows;
pub mod hold;
mod pack;
pub mod ranks;
pub mod refuse;
pub mod run;
pub mod stability;
mod start;
mod toughness;
