//! The linear system of an iteration: conjugate gradients, and what they are preconditioned with.

use std::time::Instant;

use crate::parallel::prelude::*;

use super::{Newton, Scene};
use crate::laws::energy::EnergyLaw;
use crate::simulate::bonded::system::System;
use crate::simulate::methods::implicit::bonds::Form;
use crate::simulate::methods::implicit::start::Start;
use crate::solve::block::Value;
use crate::solve::multigrid::Multigrid;
use crate::solve::{Found, Scaled, conjugate_gradients, prolong::Place};
use crate::spec::Preconditioner;

/// Iterations of conjugate gradients at most.
pub const MOST_GRADIENTS: u32 = 3000;
/// Iterations with a hierarchy for four decades, from which on the diagonal alone is tried.
const SLOW: u32 = 24;
/// What an iteration with a hierarchy costs over one with the diagonal.
const DEAR: u32 = 6;
/// Tolerance where the diagonal alone is taken beside a hierarchy: what is found more exactly is lost as
/// pairs begin to hold or to slide.
const HASTY: f64 = 0.02;
/// Residual of a linear system over the part of what is out of balance that an iteration is foreseen to leave anyway.
const LOST: f64 = 0.2;
/// Part of inertia from which on single precision holds what a matrix has beside its diagonal, a hundred
/// times what it rounds away.
const SINGLE: f64 = 1e-5;
/// Tolerance down to which it does.
const LOOSE: f64 = 1e-4;
/// A hierarchy is made anew once it takes so many more iterations than when it was new.
const WORN: u32 = 4;

/// Whether the diagonal alone serves better than a hierarchy: that of yarns which hold each other in some
/// places and slide in others is no help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Diagonal {
    Untried,
    /// As long as it takes no more iterations for four decades than this.
    Taken(u32),
    Refused,
}

/// What is known of an iteration before it.
#[derive(Clone, Copy, Debug)]
pub struct Foreseen {
    /// Forces out of balance over those at work.
    pub residual: f64,
    /// Part of them that is expected to be left after it even if its linear system were solved exactly.
    pub left: f64,
}

#[derive(Debug)]
pub(super) struct Grids {
    multigrid: Multigrid,
    /// Iterations that it took when it was new.
    fresh: Option<u32>,
    /// Whether it takes more now.
    worn: bool,
}

impl Newton {
    /// Solves for the direction that leads to where the gradient vanishes.
    pub(super) fn direction<W: EnergyLaw>(
        &mut self,
        system: &System<f64>,
        start: &Start,
        scene: &Scene,
        form: Form,
        foreseen: Foreseen,
    ) {
        let tolerance = self.tolerance(system, foreseen);
        let mut found = self.gradients(system, start, tolerance);
        if found.indefinite && form == Form::Exact {
            self.assemble::<W>(system, start, scene, Form::Projected);
            self.grids = None;
            found = self.gradients(system, start, tolerance);
        }
        self.effort.gradients += u64::from(found.iterations);
        for value in self.found.as_flattened_mut() {
            *value = -*value;
        }
    }

    /// Conjugate gradients for A x = g.
    fn gradients(&mut self, system: &System<f64>, start: &Start, tolerance: f64) -> Found {
        let only = self.settings.preconditioner == Preconditioner::Jacobi;
        let limits = match self.alone {
            _ if only => Some((tolerance, MOST_GRADIENTS)),
            Diagonal::Taken(pace) => {
                let tolerance = tolerance.max(HASTY);
                let most = f64::from(pace) * decades(tolerance) / 4.0;
                Some((tolerance, most as u32))
            }
            _ => None,
        };
        if let Some((tolerance, most)) = limits {
            let clock = Instant::now();
            let single = tolerance >= LOOSE && self.inertia(system, start) > SINGLE;
            let found = match single {
                true => self.by_diagonal::<f32>((tolerance, most)),
                false => self.by_diagonal::<f64>((tolerance, most)),
            };
            self.spend(4, clock);
            if only || found.indefinite || found.residual <= tolerance {
                return found;
            }
            self.effort.gradients += u64::from(found.iterations);
            self.alone = Diagonal::Refused;
        }
        let clock = Instant::now();
        let renewed = match &mut self.grids {
            Some(grids) if grids.worn => grids.multigrid.renew(&self.matrix).is_ok(),
            Some(_) => true,
            None => false,
        };
        if !renewed {
            let place = |i| Place {
                position: system.position(i),
                length: system.radius(i),
            };
            let places: Vec<Place> = (0..system.count).map(place).collect();
            let Ok(multigrid) = Multigrid::new(&self.matrix, &places) else {
                return indefinite();
            };
            self.grids = Some(Grids {
                multigrid,
                fresh: None,
                worn: false,
            });
        }
        self.spend(3, clock);
        let mut grids = self.grids.take().expect("just made");
        let clock = Instant::now();
        let found = conjugate_gradients(
            &self.matrix,
            &self.gradient,
            &mut self.found,
            &mut grids.multigrid,
            (tolerance, MOST_GRADIENTS),
        );
        self.spend(4, clock);
        // Iterations for four decades, so that tolerances may differ.
        let pace = (f64::from(found.iterations) * 4.0 / decades(found.residual)).ceil() as u32;
        if pace > SLOW && !found.indefinite && self.alone == Diagonal::Untried {
            self.alone = Diagonal::Taken(DEAR * pace);
        }
        let fresh = *grids.fresh.get_or_insert(pace);
        grids.worn = pace > fresh + 1;
        if pace <= fresh + WORN && !found.indefinite {
            self.grids = Some(grids);
        }
        found
    }

    /// The same with the diagonal alone, the matrix held in precision `V`.
    fn by_diagonal<V: Value>(&mut self, limits: (f64, u32)) -> Found {
        match Scaled::<V>::new(&self.matrix) {
            Ok(scaled) => scaled.solve(&self.gradient, &mut self.found, limits),
            Err(_) => indefinite(),
        }
    }

    /// Least part of inertia in what holds an element: that of the softest motion, which all take part in,
    /// and which precision must not lose.
    fn inertia(&self, system: &System<f64>, start: &Start) -> f64 {
        let free = (0..system.count).into_par_iter().with_min_len(256);
        let part = |i: usize| start.inertia(system, i).stiffness[0] / self.stiffness[i];
        let parts = free.filter(|&i| !start.is_held(i)).map(part);
        parts.reduce(|| f64::INFINITY, f64::min)
    }

    /// Residual of a linear system over what it begins with: min(0.1, √|g|) (Lu 2025, eq. 31), g made
    /// dimensionless by the diagonal: a strain. No finer than the end of the step asks for, nor than is lost
    /// again as the tangent turns.
    pub fn tolerance(&self, system: &System<f64>, foreseen: Foreseen) -> f64 {
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
        let enough = 0.3 * self.settings.tolerance / foreseen.residual;
        let coarsest = enough.max(LOST * foreseen.left);
        strain
            .sqrt()
            .max(coarsest)
            .clamp(self.settings.gradients_tolerance, 0.1)
    }
}

/// How far a residual is down, at least a tenth of a decade.
fn decades(residual: f64) -> f64 {
    (-residual.max(1e-300).log10()).max(0.1)
}

fn indefinite() -> Found {
    Found {
        iterations: 0,
        residual: 1.0,
        indefinite: true,
    }
}
