//! Lengths and directions of hexagonal close packing.

use std::f64::consts::SQRT_2;

use glam::DVec3;

/// Distance between rows over the radius, √3.
pub(super) const ROW_SPACING: f64 = 1.732_050_807_568_877_2;
/// Distance between layers over the radius, 2√6/3.
pub(super) const LAYER_SPACING: f64 = 1.632_993_161_855_452;
/// Volume per element over r³.
pub(super) const VOLUME_PER_ELEMENT: f64 = 4.0 * SQRT_2;

/// Unit vectors from an element of a layer A to its touching neighbours.
pub(super) const NEIGHBOUR_DIRECTIONS: [DVec3; 12] = {
    let (a, b, c) = (0.5, ROW_SPACING / 2.0, ROW_SPACING / 6.0);
    let (d, h) = (ROW_SPACING / 3.0, LAYER_SPACING / 2.0);
    [
        DVec3::new(1.0, 0.0, 0.0),
        DVec3::new(-1.0, 0.0, 0.0),
        DVec3::new(a, b, 0.0),
        DVec3::new(-a, b, 0.0),
        DVec3::new(a, -b, 0.0),
        DVec3::new(-a, -b, 0.0),
        DVec3::new(a, c, h),
        DVec3::new(-a, c, h),
        DVec3::new(0.0, -d, h),
        DVec3::new(a, c, -h),
        DVec3::new(-a, c, -h),
        DVec3::new(0.0, -d, -h),
    ]
};
