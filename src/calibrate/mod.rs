//! Calibration of a material: bars of a packing are pulled, prisms crushed and strips with a crack torn until the solid
//! has the moduli, strengths and toughness that are asked for.
//!
//! [`calibrate`] finds the values to enter for the material of a body. It loads [`Specimen`]s along x, y and z with the
//! values of a round, and scales them for the next by what was found. [`Report`] has the curves.

mod error;
mod load;
mod report;
mod rounds;
mod solid;
mod specimen;
mod strip;

pub use error::CalibrateError;
pub use report::{AXES, Report, Round};
pub use rounds::{Options, calibrate};
pub use solid::Solid;
pub use specimen::{Curve, Specimen};
pub use strip::{Torn, height};
