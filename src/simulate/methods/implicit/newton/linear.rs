//! The linear system of an iteration: conjugate gradients and their preconditioners.

use std::time::Instant;

use crate::parallel::prelude::*;

use super::{Newton, Surroundings};
use crate::laws::energy::EnergyLaw;
use crate::simulate::bonded::system::System;
use crate::simulate::methods::implicit::bonds::HessianForm;
use crate::simulate::methods::implicit::coordinates::Coordinates;
use crate::simulate::methods::implicit::start::StepStart;
use crate::solve::block::MatrixEntry;
use crate::solve::multigrid::Multigrid;
use crate::solve::{ScaledMatrix, Six, SolveReport, conjugate_gradients, prolong::ElementPosition};
use crate::spec::Preconditioner;

/// Most iterations of conjugate gradients.
pub const MAX_GRADIENT_ITERATIONS: u32 = 3000;
/// Iterations per four decades with a multigrid hierarchy above which the diagonal alone is tried.
const SLOW_HIERARCHY_ITERATIONS: u32 = 24;
/// Cost of an iteration with a hierarchy relative to one with the diagonal.
const HIERARCHY_COST_RATIO: u32 = 6;
/// Tolerance when the diagonal replaces the hierarchy: higher accuracy is lost as pairs begin to stick or
/// slide.
const DIAGONAL_TOLERANCE: f64 = 0.02;
/// Tolerance of a linear system relative to the residual that the iteration is expected to leave anyway.
const REMAINDER_FRACTION: f64 = 0.2;
/// Smallest share of inertia in the diagonal of a matrix that may be in single precision, a hundred times its
/// rounding error. Below it, rounding of the stiffness would swamp the inertia.
const MIN_INERTIA_FOR_SINGLE: f64 = 1e-5;
/// Smallest tolerance for single precision.
const MIN_TOLERANCE_FOR_SINGLE: f64 = 1e-4;
/// The hierarchy is rebuilt once it takes this many more iterations than when it was new.
const MAX_EXTRA_ITERATIONS: u32 = 4;

/// Whether the diagonal alone serves better than a hierarchy, as for yarns that stick to each other in some
/// places and slide in others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DiagonalTrial {
    Untried,
    /// In use, as long as it takes no more iterations per four decades than this.
    Taken(u32),
    Refused,
}

/// What is expected of an iteration.
#[derive(Clone, Copy, Debug)]
pub struct IterationForecast {
    /// Unbalanced forces before it, relative to the forces at work.
    pub residual: f64,
    /// Fraction of them expected to remain even if the linear system were solved exactly.
    pub remainder: f64,
}

#[derive(Debug)]
pub(super) struct Hierarchy {
    multigrid: Multigrid,
    /// Iterations per four decades when it was new.
    initial_pace: Option<u32>,
    /// Whether it takes more now.
    slower: bool,
}

impl Newton {
    /// Solves for the direction, in these coordinates, to where the gradient vanishes.
    pub(super) fn direction<W: EnergyLaw>(
        &mut self,
        system: &System<f64>,
        (start, surroundings): (&StepStart, &Surroundings),
        coordinates: &dyn Coordinates,
        form: HessianForm,
        forecast: IterationForecast,
    ) {
        let tolerance = self.tolerance(system, forecast);
        let gradient = std::mem::take(&mut self.gradient);
        let right = coordinates.gradient(&gradient);
        let mut found = self.solve_linear_system(system, start, &right, tolerance);
        if found.indefinite && form == HessianForm::Exact {
            self.assemble::<W>(system, start, surroundings, HessianForm::Projected);
            coordinates.convert(&mut self.matrix, &gradient, HessianForm::Projected);
            self.hierarchy = None;
            found = self.solve_linear_system(system, start, &right, tolerance);
        }
        drop(right);
        self.gradient = gradient;
        self.effort.gradients += u64::from(found.iterations);
        for value in self.direction.as_flattened_mut() {
            *value = -*value;
        }
    }

    /// Conjugate gradients for A x = g, `right`.
    fn solve_linear_system(
        &mut self,
        system: &System<f64>,
        start: &StepStart,
        right: &[Six],
        tolerance: f64,
    ) -> SolveReport {
        let only = self.settings.preconditioner == Preconditioner::Jacobi;
        let limits = match self.diagonal {
            _ if only => Some((tolerance, MAX_GRADIENT_ITERATIONS)),
            DiagonalTrial::Taken(pace) => {
                let tolerance = tolerance.max(DIAGONAL_TOLERANCE);
                let most = f64::from(pace) * decades(tolerance) / 4.0;
                Some((tolerance, most as u32))
            }
            _ => None,
        };
        if let Some((tolerance, most)) = limits {
            let clock = Instant::now();
            let single = tolerance >= MIN_TOLERANCE_FOR_SINGLE
                && self.inertia(system, start) > MIN_INERTIA_FOR_SINGLE;
            let found = match single {
                true => self.by_diagonal::<f32>(right, (tolerance, most)),
                false => self.by_diagonal::<f64>(right, (tolerance, most)),
            };
            self.add_time(4, clock);
            if only || found.indefinite || found.residual <= tolerance {
                return found;
            }
            self.effort.gradients += u64::from(found.iterations);
            self.diagonal = DiagonalTrial::Refused;
        }
        let clock = Instant::now();
        let renewed = match &mut self.hierarchy {
            Some(hierarchy) if hierarchy.slower => hierarchy.multigrid.renew(&self.matrix).is_ok(),
            Some(_) => true,
            None => false,
        };
        if !renewed {
            let place = |i| ElementPosition {
                position: system.position(i),
                length: system.radius(i),
            };
            let places: Vec<ElementPosition> = (0..system.count).map(place).collect();
            let Ok(multigrid) = Multigrid::new(&self.matrix, &places) else {
                return indefinite();
            };
            self.hierarchy = Some(Hierarchy {
                multigrid,
                initial_pace: None,
                slower: false,
            });
        }
        self.add_time(3, clock);
        let mut hierarchy = self.hierarchy.take().expect("just made");
        let clock = Instant::now();
        let found = conjugate_gradients(
            &self.matrix,
            right,
            &mut self.direction,
            &mut hierarchy.multigrid,
            (tolerance, MAX_GRADIENT_ITERATIONS),
        );
        self.add_time(4, clock);
        // Iterations per four decades, so that results with different tolerances compare.
        let pace = (f64::from(found.iterations) * 4.0 / decades(found.residual)).ceil() as u32;
        if pace > SLOW_HIERARCHY_ITERATIONS
            && !found.indefinite
            && self.diagonal == DiagonalTrial::Untried
        {
            self.diagonal = DiagonalTrial::Taken(HIERARCHY_COST_RATIO * pace);
        }
        let initial_pace = *hierarchy.initial_pace.get_or_insert(pace);
        hierarchy.slower = pace > initial_pace + 1;
        if pace <= initial_pace + MAX_EXTRA_ITERATIONS && !found.indefinite {
            self.hierarchy = Some(hierarchy);
        }
        found
    }

    /// Conjugate gradients with the diagonal alone as preconditioner, the matrix stored in precision `V`.
    fn by_diagonal<V: MatrixEntry>(&mut self, right: &[Six], limits: (f64, u32)) -> SolveReport {
        match ScaledMatrix::<V>::new(&self.matrix) {
            Ok(scaled) => scaled.solve(right, &mut self.direction, limits),
            Err(_) => indefinite(),
        }
    }

    /// Smallest share of inertia in an element's stiffness: that of the softest, collective motion, which
    /// must not be lost to rounding.
    fn inertia(&self, system: &System<f64>, start: &StepStart) -> f64 {
        let free = (0..system.count).into_par_iter().with_min_len(256);
        let part = |i: usize| start.inertia(system, i).stiffness[0] / self.stiffness[i];
        let parts = free.filter(|&i| !start.is_held(i)).map(part);
        parts.reduce(|| f64::INFINITY, f64::min)
    }

    /// Relative tolerance of a linear system: min(0.1, √|g|) (Lu 2025, eq. 31), with g divided by the
    /// diagonal to give a strain. Not finer than the tolerance of the step needs, nor than the change of the
    /// tangent would undo.
    pub fn tolerance(&self, system: &System<f64>, forecast: IterationForecast) -> f64 {
        if self.linear {
            return self.settings.gradients_tolerance;
        }
        let of = |i: usize| {
            let size: f64 = self.gradient[i].iter().map(|g| g * g).sum();
            size / (self.stiffness[i] * system.radius(i)).powi(2)
        };
        let all = (0..system.count).into_par_iter().with_min_len(256).map(of);
        let sum: f64 = all.collect::<Vec<_>>().into_iter().sum();
        let strain = (sum / system.count as f64).sqrt();
        let enough = 0.3 * self.settings.tolerance / forecast.residual;
        let coarsest = enough.max(REMAINDER_FRACTION * forecast.remainder);
        strain
            .sqrt()
            .max(coarsest)
            .clamp(self.settings.gradients_tolerance, 0.1)
    }
}

/// Decades by which a residual has fallen, at least a tenth.
fn decades(residual: f64) -> f64 {
    (-residual.max(1e-300).log10()).max(0.1)
}

fn indefinite() -> SolveReport {
    SolveReport {
        iterations: 0,
        residual: 1.0,
        indefinite: true,
    }
}
