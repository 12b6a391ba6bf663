//! Requests to fill a shape, and what all packings share: depth under the skin, tolerance, limits.

use super::error::PackError;
use crate::geometry::TriMesh;
use crate::spec::Body;

/// Largest number of elements of all bodies together: with six bonds per element, bond numbers must fit into
/// 32 bits.
pub const MAX_ELEMENTS: u32 = 700_000_000;

/// Depth of the outermost centres under the skin, over the radius. At 0 the elements' cells fill the shape's volume
/// best, but elements stick out by up to a whole radius; at 1 none sticks out and the gap grows to 1.6 radii.
pub(super) const CENTRE_DEPTH: f64 = 0.5;
/// Relative difference from the requested number of elements above which the radius is corrected.
pub(super) const COUNT_TOLERANCE: f64 = 0.02;

/// A body to be filled, with its random seed: the seed of the shot and the number of the body.
#[derive(Clone, Copy)]
pub(super) struct SeededBody<'a> {
    pub body: &'a Body,
    /// Seed of the shot, and number of the body.
    pub seed: (u64, u32),
}

pub(super) fn too_large(body: &Body, radius: f64, skin: &TriMesh) -> PackError {
    let (low, high) = skin.bounds().unwrap_or_default();
    PackError::RadiusTooLarge {
        body: body.name.clone(),
        radius,
        extent: high - low,
    }
}

/// How the size of elements is given: by their radius (m) or by their number.
#[derive(Clone, Copy)]
pub(super) enum SizeRequest {
    Radius(f64),
    Elements(f64),
}

pub(super) fn refuse_too_many(body: &Body, radius: f64, estimate: f64) -> Result<(), PackError> {
    if estimate <= f64::from(MAX_ELEMENTS) {
        return Ok(());
    }
    Err(PackError::TooManyElements {
        body: body.name.clone(),
        radius,
        estimate,
        limit: MAX_ELEMENTS,
    })
}
