//! A body at rest: its elements and bonds, its skin and the grid laid about it.

pub mod bins;
pub mod rest;
pub mod skin;
pub mod solid;
