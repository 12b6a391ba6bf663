//! Quasi-static fracture of a body by boundary elements (Zhu, Bridson and Greif 2015, §6.2): Rankine's
//! criterion on the surface and inside.
//!
//! A crack begins where the largest principal stress is largest over the strength, normal to it, as a small
//! disc. Its rim advances where the stress a little ahead of it is over the strength, or all along where a
//! further step sets more energy free than a crack takes (Griffith), until neither is so or the whole rim has
//! left the body; then the body is cut along it, and each piece is loaded and solved again.
//!
//! Where more crack no longer sets more energy free, what is left is less than the equations resolve: it
//! tears, ahead in the sheet. A body with a crack that came to rest is not looked at again.
//!
//! While it is partial, a crack is a sheet across which the displacement jumps: see [`opening`]. The body's
//! mesh is cut once, exactly, when the sheet has gone through: see [`cut`](crate::geometry::cut).

pub mod error;
pub mod forces;
pub mod fracture;
mod front;
mod grow;
mod inside;
mod jump;
pub mod opening;
pub mod sheet;
mod start;
#[cfg(test)]
mod tests;
mod unknowns;

pub use error::FractureError;
pub use forces::{Forces, Inertia, Loading, Piece};
pub use fracture::{Criterion, Fractured, Options, fracture};
pub use front::Steering;
pub use sheet::{End, Sheet};
