//! Laws of physics as pure functions of numbers: no storage, no stage.

pub mod elasticity;
pub mod weibull;
