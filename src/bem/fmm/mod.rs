//! fmm
mod lists;
mod morton;
pub mod pairs;
pub mod product;
pub mod surface;
pub mod svd;
mod tree;
