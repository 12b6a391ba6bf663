//! Work shared between threads: slices, ranges and what is made of them, split into parts that run on rayon's pool.
//!
//! The adaptors carry the names and the meaning of rayon's, and every result keeps the order of its input.
//! They differ in what they cost to compile: rayon's adaptors compile the whole of work stealing again for
//! every closure, a third of this crate's code. Here the parts are made at once, `drive` hands their numbers
//! to rayon through one `dyn Fn`, and what is compiled per closure is a loop.
//!
//! Knows none of the other modules.

mod adaptors;
mod collect;
mod drive;
mod methods;
mod sources;
mod splittable;
#[cfg(test)]
mod tests;

/// Everything that a file needs which shares out work.
pub mod prelude {
    pub use super::collect::ParExtend;
    pub use super::methods::{Numbered, Parallel};
    pub use super::sources::{IntoParts, ParSlice};
    pub use super::splittable::{Indexed, Splittable};
}
