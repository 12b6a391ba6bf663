//! Boundary elements: sums of Kelvin's solution over many points. Knows neither bodies nor stages.

pub mod fmm;
