//! Where the cracks of a body run in one state of breakage, and which elements own the points next to them.

pub mod crossing;
pub mod field;
pub mod owners;
