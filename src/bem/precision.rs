//! Numerical settings of the layers for each accuracy: which panels are integrated exactly, which quadrature
//! points represent the others, and how accurately the sums over these points are computed.

use super::basis::Order;
use super::points::{EDGE_MIDPOINTS, QuadratureRule, SIX_POINTS, TWELVE_POINTS};

/// Settings for one accuracy.
#[derive(Clone, Copy, Debug)]
pub struct Precision {
    /// Quadrature rule for distant panels.
    pub rule: QuadratureRule,
    /// A panel is integrated exactly if the distance of the point from its centroid, over its longest edge,
    /// is smaller.
    pub near: f64,
    /// Accuracy of [`Fmm`](super::fmm::Fmm), which refers to the stress of forces.
    pub fmm_accuracy: f64,
}

/// For linear displacements, for each accuracy: the settings for the layers at the nodes, and for the
/// gradient inside, which has one more derivative. The accuracy is an upper bound of the relative L2 error
/// for displacements that vary little over a panel; for random ones the error is up to three times as large,
/// because the quadrature is less accurate. Measured against exact integrals; the values are in
/// `tests/bem/multipole.rs`.
const LINEAR_SETTINGS: [(f64, Precision, Precision); 6] = [
    (
        1e-3,
        precision(EDGE_MIDPOINTS, 1.5, 1e-3),
        precision(EDGE_MIDPOINTS, 3.0, 3e-4),
    ),
    (
        1e-4,
        precision(EDGE_MIDPOINTS, 2.5, 3e-4),
        precision(SIX_POINTS, 2.0, 8e-6),
    ),
    (
        1e-5,
        precision(SIX_POINTS, 1.5, 4e-5),
        precision(SIX_POINTS, 3.0, 1e-6),
    ),
    (
        1e-6,
        precision(SIX_POINTS, 2.5, 1e-6),
        precision(SIX_POINTS, 4.0, 2e-7),
    ),
    (
        1e-7,
        precision(SIX_POINTS, 3.0, 2e-7),
        precision(SIX_POINTS, 5.0, 5e-8),
    ),
    (
        0.0,
        precision(SIX_POINTS, 5.0, 5e-8),
        precision(SIX_POINTS, 7.0, 1.5e-8),
    ),
];

const fn precision(rule: QuadratureRule, near: f64, fmm_accuracy: f64) -> Precision {
    Precision {
        rule,
        near,
        fmm_accuracy,
    }
}

/// The same for quadratic displacements.
const QUADRATIC_SETTINGS: [(f64, Precision, Precision); 6] = [
    (
        1e-3,
        precision(SIX_POINTS, 1.5, 1e-3),
        precision(SIX_POINTS, 2.0, 3e-4),
    ),
    (
        1e-4,
        precision(SIX_POINTS, 1.5, 4e-5),
        precision(SIX_POINTS, 2.0, 8e-6),
    ),
    (
        1e-5,
        precision(SIX_POINTS, 2.0, 8e-6),
        precision(SIX_POINTS, 3.0, 1e-6),
    ),
    (
        1e-6,
        precision(SIX_POINTS, 3.0, 1e-6),
        precision(SIX_POINTS, 4.0, 2e-7),
    ),
    (
        1e-7,
        precision(TWELVE_POINTS, 3.0, 2e-7),
        precision(SIX_POINTS, 5.0, 5e-8),
    ),
    (
        0.0,
        precision(TWELVE_POINTS, 5.0, 5e-8),
        precision(SIX_POINTS, 7.0, 1.5e-8),
    ),
];

impl Precision {
    /// Settings for the layers at the nodes, for an accuracy from 1e-3 to 1e-8.
    pub fn of_nodes(order: Order, accuracy: f64) -> Self {
        Precision::find(order, accuracy).1
    }

    /// Settings for displacements and their gradients inside.
    pub fn of_gradients(order: Order, accuracy: f64) -> Self {
        Precision::find(order, accuracy).2
    }

    fn find(order: Order, accuracy: f64) -> (f64, Self, Self) {
        let settings = match order {
            Order::Linear => LINEAR_SETTINGS,
            Order::Quadratic => QUADRATIC_SETTINGS,
        };
        let enough = settings.iter().find(|(error, ..)| *error <= accuracy);
        *enough.unwrap_or(&settings[settings.len() - 1])
    }
}
