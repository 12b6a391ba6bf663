//! The residual that decides whether a step is solved.

use crate::parallel::prelude::*;

use super::{Newton, Surroundings};
use crate::simulate::bonded::system::System;
use crate::simulate::methods::implicit::start::StepStart;

/// Weight of the bonds' forces in the scale of the residual.
const BOND_FORCE_WEIGHT: f64 = 1e-3;
/// Rounding error of an element's force balance, relative to its own stiffness times its radius.
const ROUNDING_FORCE: f64 = 1e-12;

impl Newton {
    /// Unbalanced forces relative to the forces at work: inertia, outer forces, and a small part of the
    /// bonds' forces. Independent of the number of elements, their stiffness and their size.
    pub fn residual(
        &self,
        system: &System<f64>,
        start: &StepStart,
        surroundings: &Surroundings,
    ) -> f64 {
        self.relative_to_work(system, start, surroundings, |i| square(&self.gradient[i]))
    }

    /// Root of the sum of `left`, squared forces of free elements, over that of the forces at work.
    pub fn relative_to_work(
        &self,
        system: &System<f64>,
        start: &StepStart,
        surroundings: &Surroundings,
        left: impl Fn(usize) -> f64 + Sync,
    ) -> f64 {
        let of = |i: usize| {
            if start.is_held(i) {
                return [0.0; 2];
            }
            let r = system.radius(i);
            let mut inertia = start.inertia(system, i).gradient;
            inertia[3..].iter_mut().for_each(|torque| *torque /= r);
            let constant_forces = square(&surroundings.constant_forces[i]);
            let carried =
                BOND_FORCE_WEIGHT * BOND_FORCE_WEIGHT * self.bonds.force_squared(system, i)
                    + (ROUNDING_FORCE * self.stiffness[i] * r / self.settings.tolerance).powi(2);
            [left(i), square(&inertia) + constant_forces + carried]
        };
        let all = (0..system.count).into_par_iter().with_min_len(256).map(of);
        let [left, work] = all
            .collect::<Vec<_>>()
            .into_iter()
            .fold([0.0; 2], |[a, b], [c, d]| [a + c, b + d]);
        // Where every element is held, neither is left.
        if left == 0.0 {
            return 0.0;
        }
        (left / work).sqrt()
    }
}

fn square(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum()
}
