//! Other methods for the minimum that ends a step, to compare with Newton's method on the manifold (Lu 2025,
//! §6.1, §6.2, Figures 6 and 7).
//!
//! All methods start from the same guess. All are measured by the residual of the solver, at the unit
//! quaternions nearest to theirs. A method ends when the residual and the largest error of a quaternion's
//! length are below the tolerance of the run, or when its iterations are used up. The methods work on copies,
//! so the run itself is not affected.

mod descent;
mod free;
mod multipliers;
mod quadratic;
mod rotation_vectors;

use std::marker::PhantomData;
use std::time::Instant;

use super::bonds::HessianForm;
use super::coordinates::{Coordinates, Geodesics};
use super::newton::{IterationForecast, Newton, Surroundings};
use super::start::StepStart;
use crate::columns::{Convergence, Method};
use crate::laws::energy::EnergyLaw;
use crate::simulate::bonded::system::System;
use crate::simulate::contact::lists::Contacts;
use crate::spec::{Implicit, Preconditioner, Simulate};

/// Solves a step with every method from the same guess, and returns their convergence histories. Frame and
/// time of the rows are filled in by the caller.
pub fn compare<W: EnergyLaw>(
    (system, contacts): (&System<f64>, &Contacts<f64>),
    (start, surroundings): (&StepStart, &Surroundings),
    simulate: &Simulate,
    step: u64,
) -> Convergence {
    let (mut system, mut contacts) = (system.clone(), contacts.clone());
    let mut newton = Newton::new(&system, simulate, false);
    newton.contact_set.collect(&contacts, &system);
    newton.guess::<W>(&mut system, &mut contacts, start, surroundings);
    let mut record = ConvergenceRecord {
        table: Convergence::default(),
        step,
        method: Method::Newton,
        clock: Instant::now(),
    };
    for (method, preconditioner, solve) in methods::<W>() {
        let mut simulate = simulate.clone();
        simulate.implicit.preconditioner = preconditioner;
        let mut problem = StepProblem::new(
            (system.clone(), contacts.clone()),
            start,
            surroundings,
            simulate,
        );
        (record.method, record.clock) = (method, Instant::now());
        solve(&mut problem, &mut record);
    }
    record.table
}

/// A function that solves the step of a problem.
type SolveFn<W> = fn(&mut StepProblem<W>, &mut ConvergenceRecord);

/// Every method.
fn methods<W: EnergyLaw>() -> [(Method, Preconditioner, SolveFn<W>); 8] {
    use Preconditioner::{Jacobi, Multigrid};
    let newton: SolveFn<W> = |problem, record| {
        problem.begin(record);
        problem.newton(record, &mut Geodesics);
    };
    [
        (Method::Newton, Multigrid, newton),
        (Method::NewtonJacobi, Jacobi, newton),
        (Method::Descent, Jacobi, descent::run),
        (Method::Penalty, Jacobi, quadratic::penalty),
        (Method::Multipliers, Jacobi, multipliers::run),
        (Method::Augmented, Jacobi, quadratic::augmented),
        (Method::RotationVectors, Multigrid, rotation_vectors::exact),
        (
            Method::RotationVectorsGaussNewton,
            Multigrid,
            rotation_vectors::gauss_newton,
        ),
    ]
}

/// The convergence history so far.
struct ConvergenceRecord {
    table: Convergence,
    step: u64,
    method: Method,
    /// Time at which the method began.
    clock: Instant,
}

impl ConvergenceRecord {
    /// Records the progress of a method.
    fn note(&mut self, at: Progress) {
        let table = &mut self.table;
        table.frame.push(0);
        table.time.push(0.0);
        table.step.push(self.step);
        table.method.push(self.method);
        table.iteration.push(at.iteration);
        table.seconds.push(self.clock.elapsed().as_secs_f64());
        table.residual.push(at.residual);
        table.violation.push(at.violation);
        table.gradients.push(at.gradients);
    }
}

/// Progress of a method.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// Iterations so far.
    iteration: u32,
    /// Unbalanced forces relative to the forces at work.
    residual: f64,
    /// Largest error of a quaternion's length.
    violation: f64,
    /// Iterations of the linear solver.
    gradients: u64,
}

impl Progress {
    /// Whether a method has converged or diverged.
    fn is_last(&self, tolerance: f64) -> bool {
        self.residual.max(self.violation) <= tolerance || !self.residual.is_finite()
    }
}

/// A step to be solved by one method.
struct StepProblem<'a, W> {
    newton: Newton,
    system: System<f64>,
    contacts: Contacts<f64>,
    start: &'a StepStart,
    surroundings: &'a Surroundings<'a>,
    settings: Implicit,
    law: PhantomData<W>,
}

impl<'a, W: EnergyLaw> StepProblem<'a, W> {
    fn new(
        (system, contacts): (System<f64>, Contacts<f64>),
        start: &'a StepStart,
        surroundings: &'a Surroundings<'a>,
        simulate: Simulate,
    ) -> Self {
        let mut newton = Newton::new(&system, &simulate, false);
        newton.contact_set.collect(&contacts, &system);
        newton.gradient::<W>(&system, start, surroundings);
        StepProblem {
            newton,
            system,
            contacts,
            start,
            surroundings,
            settings: simulate.implicit,
            law: PhantomData,
        }
    }

    /// Records the initial guess.
    fn begin(&mut self, record: &mut ConvergenceRecord) {
        self.assemble(HessianForm::Exact);
        record.note(Progress {
            residual: self.residual(),
            ..Progress::default()
        });
    }

    /// Newton's method as used by runs, in these coordinates.
    fn newton(&mut self, record: &mut ConvergenceRecord, coordinates: &mut dyn Coordinates) {
        let StepProblem {
            newton,
            system,
            contacts,
            start,
            surroundings,
            settings,
            ..
        } = self;
        let most = settings.iterations;
        newton.iterate::<W>(
            system,
            contacts,
            (start, surroundings),
            (most, coordinates),
            &mut |solved, gradients| {
                record.note(Progress {
                    iteration: solved.iterations,
                    residual: solved.residual,
                    violation: 0.0,
                    gradients,
                });
            },
        );
    }

    /// Computes the gradient at the current positions.
    fn evaluate(&mut self) {
        let StepProblem {
            newton,
            system,
            contacts,
            start,
            surroundings,
            ..
        } = self;
        newton.update_contacts(system, contacts, start, surroundings);
        newton.gradient::<W>(system, start, surroundings);
    }

    fn assemble(&mut self, form: HessianForm) {
        self.newton
            .assemble::<W>(&self.system, self.start, self.surroundings, form);
    }

    fn residual(&self) -> f64 {
        self.newton
            .residual(&self.system, self.start, self.surroundings)
    }

    /// Relative tolerance of the linear systems, as in Newton's method.
    fn forcing(&self) -> f64 {
        let forecast = IterationForecast {
            residual: self.residual(),
            remainder: 0.0,
        };
        self.newton.tolerance(&self.system, forecast)
    }
}

#[cfg(test)]
mod tests;
