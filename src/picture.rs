//! Pictures and their files, marks and letters on them, and colours that stand for numbers. Knows no stage.

pub mod drawing;
mod image;
pub mod raster;
pub mod scale;
mod text;

pub use image::{Picture, write};
