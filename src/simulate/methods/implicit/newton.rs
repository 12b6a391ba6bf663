//! Newton's method for the minimum that ends a step (Lu 2025, algorithms 2 and 3), in six unknowns an element.
//!
//! Second derivatives are exact; bonds are projected to their positive part only once conjugate gradients
//! find a direction of negative curvature. Under compression nearly every bond alone has negative curvature,
//! which its neighbours compensate, and projecting all of them would slow Newton's method down (Longva,
//! Löschner, Fernández-Fernández, Bender: *Pitfalls of projection*, 2023).

mod line;
mod linear;
mod residual;

use std::time::Instant;

use crate::parallel::prelude::*;

use super::assemble::{fill, pattern};
use super::bonds::{BondScratch, HessianForm};
use super::coordinates::{Coordinates, Geodesics};
use super::start::{StepStart, positions};
use super::touch::ContactSet;
use crate::laws::energy::EnergyLaw;
use crate::simulate::bonded::system::System;
use crate::simulate::contact::lists::Contacts;
use crate::simulate::method::PassCost;
use crate::simulate::run_state::snapshot::Effort;
use crate::simulate::scene::colliders::PosedCollider;
use crate::simulate::scene::reactions::Supports;
use crate::simulate::scene::springs::SpringPull;
use crate::solve::{BlockMatrix, Six};
use crate::spec::{Implicit, Simulate};
use linear::{DiagonalTrial, Hierarchy};
pub use linear::{IterationForecast, MAX_GRADIENT_ITERATIONS};

/// An iteration that reduces the residual below this fraction keeps the matrix for the next one.
const REUSE_MATRIX_BELOW: f64 = 0.1;

/// Outcome of solving a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solved {
    /// Whether the residual fell below the tolerance.
    pub converged: bool,
    /// Unbalanced forces relative to the forces at work.
    pub residual: f64,
    /// Newton iterations.
    pub iterations: u32,
    /// With barrier contacts: whether something passed through something else, or around it to its other
    /// side.
    pub passed_through: bool,
}

impl Default for Solved {
    fn default() -> Self {
        Solved {
            converged: false,
            residual: f64::INFINITY,
            iterations: 0,
            passed_through: false,
        }
    }
}

/// Everything outside the elements that acts on them in a step.
pub struct Surroundings<'a> {
    /// Colliders at the end of the step.
    pub colliders: &'a [PosedCollider],
    /// Colliders at the start of the step.
    pub before: &'a [PosedCollider],
    /// Springs at the end of the step.
    pub pulls: &'a [SpringPull],
    /// Force on each element that does not depend on its position, N.
    pub constant_forces: &'a [[f64; 3]],
    /// Colliders and attachments.
    pub supports: &'a Supports,
}

/// The solver's buffers, and what it reuses from earlier steps.
#[derive(Debug)]
pub struct Newton {
    settings: Implicit,
    /// Whether a step is a single iteration.
    linear: bool,
    bonds: BondScratch,
    /// Contacts at the current positions.
    pub contact_set: ContactSet,
    /// Force and torque on each element.
    pub load: Vec<Six>,
    pub gradient: Vec<Six>,
    direction: Vec<Six>,
    pub matrix: BlockMatrix,
    /// Mean of the diagonal of each row of the matrix, N/m.
    pub stiffness: Vec<f64>,
    /// What the matrix pattern was built for: number of broken bonds, and pairs in contact.
    pattern_key: Option<(usize, Vec<(u32, u32)>)>,
    hierarchy: Option<Hierarchy>,
    diagonal: DiagonalTrial,
    /// Fraction of the residual that the first iteration left in the last step; zero if unknown.
    first_remainder: f64,
    /// Computing effort since the start of the run: iterations and solves.
    pub effort: Effort,
    /// Seconds spent in each part.
    spent: [f64; PARTS.len()],
}

/// Parts of an iteration.
const PARTS: [&str; 5] = [
    "gradient",
    "tangents",
    "matrix",
    "hierarchy",
    "conjugate gradients",
];

impl Newton {
    /// A solver for a system.
    pub fn new(system: &System<f64>, simulate: &Simulate, linear: bool) -> Self {
        let count = system.count;
        Newton {
            settings: simulate.implicit.clone(),
            linear,
            bonds: BondScratch::new(system),
            contact_set: ContactSet::new(simulate),
            load: vec![[0.0; 6]; count],
            gradient: vec![[0.0; 6]; count],
            direction: vec![[0.0; 6]; count],
            matrix: BlockMatrix::default(),
            stiffness: vec![0.0; count],
            pattern_key: None,
            hierarchy: None,
            diagonal: DiagonalTrial::Untried,
            first_remainder: 0.0,
            effort: Effort::default(),
            spent: [0.0; PARTS.len()],
        }
    }

    /// Time spent in each part.
    pub fn costs(&self) -> Vec<PassCost> {
        let cost = |(name, seconds): (&'static str, f64)| PassCost {
            name,
            seconds: seconds * rayon::current_num_threads() as f64,
            bytes: 0,
        };
        PARTS.into_iter().zip(self.spent).map(cost).collect()
    }

    /// Adds the time since `clock` to a part.
    fn add_time(&mut self, part: usize, clock: Instant) {
        self.spent[part] += clock.elapsed().as_secs_f64();
    }

    /// Discards what earlier steps left, so that what follows depends on the state alone.
    pub fn reset(&mut self) {
        self.pattern_key = None;
        self.hierarchy = None;
        self.diagonal = DiagonalTrial::Untried;
        self.first_remainder = 0.0;
    }

    /// Computes the loads on all elements at their current positions.
    pub fn loads<W: EnergyLaw>(
        &mut self,
        system: &System<f64>,
        start: &StepStart,
        surroundings: &Surroundings,
    ) {
        self.bonds.loads::<W>(system, start, &mut self.load);
        self.contact_set
            .evaluate(system, surroundings.colliders, start);
        self.contact_set.add_loads(&mut self.load);
        for (element, force) in surroundings.supports.pressures(system) {
            let load = &mut self.load[element as usize];
            for (load, f) in load.iter_mut().zip(force.to_array()) {
                *load += f;
            }
        }
        for pull in surroundings.pulls {
            let load = &mut self.load[pull.element as usize];
            for (load, f) in load.iter_mut().zip(pull.force(system).to_array()) {
                *load += f;
            }
        }
    }

    /// Computes the gradient of the energy, N; torques are divided by the radius. Held elements have none.
    pub fn gradient<W: EnergyLaw>(
        &mut self,
        system: &System<f64>,
        start: &StepStart,
        surroundings: &Surroundings,
    ) {
        let clock = Instant::now();
        self.loads::<W>(system, start, surroundings);
        let load = &self.load;
        self.gradient
            .par_iter_mut()
            .with_min_len(256)
            .enumerate()
            .for_each(|(i, g)| {
                if start.is_held(i) {
                    *g = [0.0; 6];
                    return;
                }
                let inertia = start.inertia(system, i).gradient;
                let r = system.radius(i);
                for k in 0..3 {
                    g[k] = inertia[k] - load[i][k] - surroundings.constant_forces[i][k];
                    g[3 + k] = (inertia[3 + k] - load[i][3 + k]) / r;
                }
            });
        self.add_time(0, clock);
    }

    /// Moves elements to the end of the step in at most `most` iterations. With `again` it starts from the
    /// current positions, after bonds broke there.
    pub fn solve<W: EnergyLaw>(
        &mut self,
        system: &mut System<f64>,
        contacts: &mut Contacts<f64>,
        start: &StepStart,
        surroundings: &Surroundings,
        (again, most): (bool, u32),
    ) -> Solved {
        self.effort.solves += 1;
        self.contact_set.collect(contacts, system);
        if again {
            self.gradient::<W>(system, start, surroundings);
        } else {
            let walls = [surroundings.before, surroundings.colliders];
            if !self.is_free(system, &start.position, walls) {
                return Solved {
                    passed_through: true,
                    ..Solved::default()
                };
            }
            self.guess::<W>(system, contacts, start, surroundings);
        }
        let mut solved = self.iterate::<W>(
            system,
            contacts,
            (start, surroundings),
            (most, &mut Geodesics),
            &mut |_, _| {},
        );
        if self.contact_set.is_barrier() && solved.converged {
            // A long step may end beyond an obstacle with less energy than in front of it.
            let walls = [surroundings.before, surroundings.colliders];
            let to = positions(system);
            let way = self.straight_motion(system, (&start.position, &to), walls);
            solved.passed_through = !way.is_straight_line_free();
            solved.converged = !solved.passed_through;
        }
        solved
    }

    /// Iterates from the current positions, where the gradient is known, to the end of the step, at most
    /// `most` times, in these coordinates. `note` is called after every iteration with the total iterations of
    /// conjugate gradients.
    pub fn iterate<W: EnergyLaw>(
        &mut self,
        system: &mut System<f64>,
        contacts: &mut Contacts<f64>,
        (start, surroundings): (&StepStart, &Surroundings),
        (most, coordinates): (u32, &mut dyn Coordinates),
        note: &mut dyn FnMut(Solved, u64),
    ) -> Solved {
        let mut solved = Solved::default();
        let mut forecast = IterationForecast {
            residual: self.residual(system, start, surroundings),
            remainder: self.first_remainder,
        };
        let mut keep = false;
        let form = match self.linear {
            true => HessianForm::GaussNewton,
            false => coordinates.form(),
        };
        let most = if self.linear { 1 } else { most };
        while solved.iterations < most && !solved.converged {
            solved.iterations += 1;
            let sliding = self.contact_set.sliding();
            self.effort.newton += 1;
            if !keep {
                self.assemble::<W>(system, start, surroundings, form);
                coordinates.convert(&mut self.matrix, &self.gradient, form);
            }
            let step = (start, surroundings);
            self.direction::<W>(system, step, coordinates, form, forecast);
            let whole = self.line_search::<W>(system, contacts, step, coordinates);
            let before = forecast.residual;
            solved.residual = self.residual(system, start, surroundings);
            if solved.iterations == 1 && before > 0.0 {
                self.first_remainder = solved.residual / before;
            }
            forecast = IterationForecast {
                residual: solved.residual,
                remainder: 0.0,
            };
            if !solved.residual.is_finite() {
                break;
            }
            solved.converged = match self.linear {
                true => whole,
                false => solved.residual <= self.settings.tolerance,
            };
            note(solved, self.effort.gradients);
            // After such a reduction the matrix serves once more.
            keep = solved.residual < REUSE_MATRIX_BELOW * before
                && self.pattern_key.as_ref() == Some(&self.pattern_key_of(system))
                && self.contact_set.sliding() == sliding;
        }
        solved
    }

    /// What the pattern of the matrix depends on: number of broken bonds, and pairs in contact.
    fn pattern_key_of(&self, system: &System<f64>) -> (usize, Vec<(u32, u32)>) {
        let touching = self.contact_set.active.iter().map(|pair| (pair.i, pair.j));
        (system.bonds.touch.len(), touching.collect())
    }

    pub fn assemble<W: EnergyLaw>(
        &mut self,
        system: &System<f64>,
        start: &StepStart,
        surroundings: &Surroundings,
        form: HessianForm,
    ) {
        let clock = Instant::now();
        let pattern_key = self.pattern_key_of(system);
        if self.pattern_key.as_ref() != Some(&pattern_key) {
            pattern(&mut self.matrix, system, start, &self.contact_set);
            self.pattern_key = Some(pattern_key);
        }
        self.bonds.tangents::<W>(system, start.step, form);
        self.add_time(1, clock);
        let clock = Instant::now();
        let bonds = (&self.bonds, form);
        fill(&mut self.matrix, system, start, bonds, &self.contact_set);
        for pull in surroundings.pulls {
            let i = pull.element as usize;
            let at = self.matrix.find(i, i);
            let block = &mut self.matrix.value[at.expect("every row has its own column")];
            (0..3).for_each(|k| block[k][k] += pull.stiffness);
        }
        let matrix = &self.matrix;
        let mean = |i: usize| {
            let block = &matrix.value[matrix.find(i, i).expect("every row has its own column")];
            (0..6).map(|k| block[k][k]).sum::<f64>() / 6.0
        };
        let rows = (0..system.count).into_par_iter().with_min_len(256);
        rows.map(mean).collect_into_vec(&mut self.stiffness);
        self.add_time(2, clock);
    }
}
