//! The physics, each formula once: branch-free functions of numbers, generic over [`crate::math::Real`].
//!
//! A law knows neither storage nor backend. Sections cited as "Lu 2021" are of the explicit bonded DEM paper
//! (Lu, Luo, Lu, Ren, Wei, Wang: *Simulating fractures with bonded discrete element method*, 2021).

pub mod bdem;
pub mod contact;
pub mod damping;
pub mod elasticity;
pub mod failure;
pub mod hydrostatic;
pub mod motion;
pub mod rigid;
pub mod rolling;
pub mod timestep;
pub mod weibull;
pub mod work;
