//! fmm
mod convolution;
mod fourier;
mod lists;
mod morton;
mod operators;
pub mod pairs;
pub mod product;
pub mod surface;
pub mod svd;
mod tree;
