//! A body at rest: its elements and bonds, its skin and the grid around it.

pub mod bins;
pub mod graph;
pub mod reach;
pub mod rest;
pub mod skin;
pub mod skin_grid;
