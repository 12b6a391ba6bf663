//! Arrays as they are in files.

pub mod binary;
pub mod compress;
pub mod text;
