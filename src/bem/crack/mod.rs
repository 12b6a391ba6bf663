//! Quasi-static fracture of a body by boundary elements (Zhu, Bridson and Greif 2015, §6.2): Rankine's
//! criterion on the surface and inside.
//!
//! A crack begins where the ratio of the largest principal stress to the strength is largest, as a small disc
//! normal to that stress. Its rim advances where the stress a short distance ahead exceeds the strength, or
//! everywhere if a further step releases more energy than the crack takes (Griffith). It stops if neither is
//! the case, or when the whole rim has left the body. Then the body is cut along it, and each piece is loaded
//! and solved again.
//!
//! If a larger crack no longer releases more energy, the ligament that still holds the body together is too
//! small for the equations to resolve, and the crack runs straight on in its sheet. A body with a crack that
//! came to rest gets no further cracks.
//!
//! Until it has gone through, a crack is a sheet across which the displacement jumps: see [`opening`]. The
//! body's mesh is cut once, exactly, when the sheet has gone through: see [`cut`](crate::geometry::cut).

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
pub use forces::{FixedLoads, Inertia, LoadedPiece, Loading};
pub use fracture::{Criterion, FractureOptions, Fractured, fracture};
pub use front::Steering;
pub use sheet::{CrackEnd, Sheet};
