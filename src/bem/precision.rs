//! How exactly the layers are summed: which panels are integrated, what stands for the others, and how exact
//! the sums over these points are.

use super::basis::Order;
use super::points::{MIDDLES, Rule, SIX, TWELVE};

/// What one accuracy takes.
#[derive(Clone, Copy, Debug)]
pub struct Precision {
    /// Points of a panel far away.
    pub rule: Rule,
    /// Distance of a point from a panel's centroid over the panel's longest edge, below which the panel is integrated.
    pub near: f64,
    /// Accuracy that is asked of [`Fmm`](super::fmm::Fmm), whose figure is for the stress of forces.
    pub sums: f64,
}

/// By accuracy: what the layers at the nodes take, and the gradient inside, which has one derivative more.
/// The accuracy is the relative L2 error at most for displacements that vary little over a panel; for random
/// ones it is up to three times as much, as the points then err more. Measured against exact integrals;
/// `tests/bem/multipole.rs` holds the figures.
const SETTINGS: [(f64, Precision, Precision); 6] = [
    (1e-3, with(MIDDLES, 1.5, 1e-3), with(MIDDLES, 3.0, 3e-4)),
    (1e-4, with(MIDDLES, 2.5, 3e-4), with(SIX, 2.0, 8e-6)),
    (1e-5, with(SIX, 1.5, 4e-5), with(SIX, 3.0, 1e-6)),
    (1e-6, with(SIX, 2.5, 1e-6), with(SIX, 4.0, 2e-7)),
    (1e-7, with(SIX, 3.0, 2e-7), with(SIX, 5.0, 5e-8)),
    (0.0, with(SIX, 5.0, 5e-8), with(SIX, 7.0, 1.5e-8)),
];

const fn with(rule: Rule, near: f64, sums: f64) -> Precision {
    Precision { rule, near, sums }
}

/// The same for quadratic displacements.
const QUADRATIC: [(f64, Precision, Precision); 6] = [
    (1e-3, with(SIX, 1.5, 1e-3), with(SIX, 2.0, 3e-4)),
    (1e-4, with(SIX, 1.5, 4e-5), with(SIX, 2.0, 8e-6)),
    (1e-5, with(SIX, 2.0, 8e-6), with(SIX, 3.0, 1e-6)),
    (1e-6, with(SIX, 3.0, 1e-6), with(SIX, 4.0, 2e-7)),
    (1e-7, with(TWELVE, 3.0, 2e-7), with(SIX, 5.0, 5e-8)),
    (0.0, with(TWELVE, 5.0, 5e-8), with(SIX, 7.0, 1.5e-8)),
];

impl Precision {
    /// Of the layers at the nodes, for an accuracy from 1e-3 to 1e-8.
    pub fn of_nodes(order: Order, accuracy: f64) -> Self {
        Precision::find(order, accuracy).1
    }

    /// Of displacements and their gradients inside.
    pub fn of_gradients(order: Order, accuracy: f64) -> Self {
        Precision::find(order, accuracy).2
    }

    fn find(order: Order, accuracy: f64) -> (f64, Self, Self) {
        let settings = match order {
            Order::Linear => SETTINGS,
            Order::Quadratic => QUADRATIC,
        };
        let enough = settings.iter().find(|(error, ..)| *error <= accuracy);
        *enough.unwrap_or(&settings[settings.len() - 1])
    }
}
