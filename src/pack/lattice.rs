//! Lengths and directions of hexagonal close packing.

use std::f64::consts::SQRT_2;

use glam::DVec3;

/// From row to row over the radius, √3.
pub(super) const ROW: f64 = 1.732_050_807_568_877_2;
/// From layer to layer over the radius, 2√6/3.
pub(super) const LAYER: f64 = 1.632_993_161_855_452;
/// Volume that an element stands for over r³.
pub(super) const CELL: f64 = 4.0 * SQRT_2;

/// Directions to the touching elements of a layer A, unit vectors.
pub(super) const NEIGHBOURS: [DVec3; 12] = {
    let (a, b, c) = (0.5, ROW / 2.0, ROW / 6.0);
    let (d, h) = (ROW / 3.0, LAYER / 2.0);
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
