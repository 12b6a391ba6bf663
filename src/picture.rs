//! Pictures and their files, marks and letters on them, and colour scales. This module uses no stage.

pub mod drawing;
mod image;
pub mod raster;
pub mod scale;
mod text;

pub use image::{Picture, write};
