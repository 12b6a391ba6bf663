//! Lengths and directions of hexagonal close packing.

use std::f64::consts::SQRT_2;

pub(super) use crate::laws::lattice::NEIGHBOURS as NEIGHBOUR_DIRECTIONS;

/// Distance between rows over the radius, √3.
pub(super) const ROW_SPACING: f64 = 1.732_050_807_568_877_2;
/// Distance between layers over the radius, 2√6/3.
pub(super) const LAYER_SPACING: f64 = 1.632_993_161_855_452;
/// Volume per element over r³.
pub(super) const VOLUME_PER_ELEMENT: f64 = 4.0 * SQRT_2;
