//! Parallel iterators: slices, ranges and their adaptors, split into parts that run on rayon's thread pool.
//!
//! The adaptors have the names and the meaning of rayon's, and every result keeps the order of its input.
//! They differ in compile time: rayon's adaptors compile the whole of work stealing again for every closure,
//! a third of this crate's code. Here all parts are created first, `drive` passes their indices to rayon
//! through one `dyn Fn`, and only a loop is compiled per closure.
//!
//! The module depends on no other module.

mod adaptors;
mod collect;
mod drive;
mod methods;
mod sources;
mod splittable;
#[cfg(test)]
mod tests;

pub use drive::on_pool;

/// Everything that a file with parallel loops needs.
pub mod prelude {
    pub use super::collect::ParExtend;
    pub use super::methods::{Numbered, Parallel};
    pub use super::sources::{IntoParts, ParSlice};
    pub use super::splittable::{Indexed, Splittable};
}
