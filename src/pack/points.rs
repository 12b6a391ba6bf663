//! Centres and radii of elements.

use glam::DVec3;

/// Centres and radii, m.
#[derive(Clone, Debug, Default)]
pub(super) struct ElementSpheres {
    pub centres: Vec<DVec3>,
    pub radii: Vec<f64>,
}

impl ElementSpheres {
    /// Elements of equal radius (m).
    pub fn equal(centres: Vec<DVec3>, radius: f64) -> Self {
        let radii = vec![radius; centres.len()];
        ElementSpheres { centres, radii }
    }
}
