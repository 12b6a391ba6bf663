//! Other methods for the minimum that ends a step, beside Newton's on the manifold (Lu 2025, §6.2 and Figure 7).
//!
//! All start from one guess and are measured by one residual, that of the solver, at the unit quaternions
//! nearest to theirs. A method ends where the residual, and the largest error of a quaternion's length, are
//! no more than the tolerance of the run, or where its iterations are used up. What the run itself does knows
//! nothing of them: they work on copies.

mod descent;
mod free;
mod multipliers;
mod quadratic;

use std::marker::PhantomData;
use std::time::Instant;

use super::bonds::Form;
use super::newton::{Foreseen, Newton, Scene};
use super::start::Start;
use crate::columns::{Convergence, Method};
use crate::laws::energy::EnergyLaw;
use crate::simulate::bonded::system::System;
use crate::simulate::contact::lists::Contacts;
use crate::spec::{Implicit, Preconditioner, Simulate};

/// Lets every method solve a step from the same guess, and tells what they did; frame and time of the rows
/// are not known here.
pub fn compare<W: EnergyLaw>(
    (system, contacts): (&System<f64>, &Contacts<f64>),
    (start, scene): (&Start, &Scene),
    simulate: &Simulate,
    step: u64,
) -> Convergence {
    let (mut system, mut contacts) = (system.clone(), contacts.clone());
    let mut newton = Newton::new(&system, simulate, false);
    newton.touch.collect(&contacts, &system);
    newton.guess::<W>(&mut system, &mut contacts, start, scene);
    let mut record = Record {
        table: Convergence::default(),
        step,
        method: Method::Newton,
        clock: Instant::now(),
    };
    for (method, preconditioner, solve) in methods::<W>() {
        let mut simulate = simulate.clone();
        simulate.implicit.preconditioner = preconditioner;
        let mut bench = Bench::new((system.clone(), contacts.clone()), start, scene, simulate);
        (record.method, record.clock) = (method, Instant::now());
        solve(&mut bench, &mut record);
    }
    record.table
}

/// Solves the step that a bench holds.
type Solve<W> = fn(&mut Bench<W>, &mut Record);

/// Every method.
fn methods<W: EnergyLaw>() -> [(Method, Preconditioner, Solve<W>); 6] {
    use Preconditioner::{Jacobi, Multigrid};
    let newton: Solve<W> = |bench, record| bench.newton(record);
    [
        (Method::Newton, Multigrid, newton),
        (Method::NewtonJacobi, Jacobi, newton),
        (Method::Descent, Jacobi, descent::run),
        (Method::Penalty, Jacobi, quadratic::penalty),
        (Method::Multipliers, Jacobi, multipliers::run),
        (Method::Augmented, Jacobi, quadratic::augmented),
    ]
}

/// What methods did so far.
struct Record {
    table: Convergence,
    step: u64,
    method: Method,
    /// When the method began.
    clock: Instant,
}

impl Record {
    /// Notes where a method stands.
    fn note(&mut self, at: Standing) {
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

/// Where a method stands.
#[derive(Clone, Copy, Debug, Default)]
struct Standing {
    /// Iterations done.
    iteration: u32,
    /// Forces out of balance over those at work.
    residual: f64,
    /// Largest error of a quaternion's length.
    violation: f64,
    /// Iterations of the linear solver.
    gradients: u64,
}

impl Standing {
    /// Whether a method is done, or lost.
    fn is_last(&self, tolerance: f64) -> bool {
        self.residual.max(self.violation) <= tolerance || !self.residual.is_finite()
    }
}

/// The step as it is put to one method.
struct Bench<'a, W> {
    newton: Newton,
    system: System<f64>,
    contacts: Contacts<f64>,
    start: &'a Start,
    scene: &'a Scene<'a>,
    settings: Implicit,
    law: PhantomData<W>,
}

impl<'a, W: EnergyLaw> Bench<'a, W> {
    fn new(
        (system, contacts): (System<f64>, Contacts<f64>),
        start: &'a Start,
        scene: &'a Scene<'a>,
        simulate: Simulate,
    ) -> Self {
        let mut newton = Newton::new(&system, &simulate, false);
        newton.touch.collect(&contacts, &system);
        newton.gradient::<W>(&system, start, scene);
        Bench {
            newton,
            system,
            contacts,
            start,
            scene,
            settings: simulate.implicit,
            law: PhantomData,
        }
    }

    /// Notes the guess.
    fn begin(&mut self, record: &mut Record) {
        self.assemble(Form::Exact);
        record.note(Standing {
            residual: self.residual(),
            ..Standing::default()
        });
    }

    /// Newton's method as runs have it.
    fn newton(&mut self, record: &mut Record) {
        self.begin(record);
        let Bench {
            newton,
            system,
            contacts,
            start,
            scene,
            settings,
            ..
        } = self;
        let most = settings.iterations;
        newton.iterate::<W>(
            system,
            contacts,
            (start, scene),
            most,
            &mut |solved, gradients| {
                record.note(Standing {
                    iteration: solved.iterations,
                    residual: solved.residual,
                    violation: 0.0,
                    gradients,
                });
            },
        );
    }

    /// The gradient where elements are now.
    fn evaluate(&mut self) {
        let Bench {
            newton,
            system,
            contacts,
            start,
            scene,
            ..
        } = self;
        newton.follow(system, contacts, start, scene);
        newton.gradient::<W>(system, start, scene);
    }

    fn assemble(&mut self, form: Form) {
        self.newton
            .assemble::<W>(&self.system, self.start, self.scene, form);
    }

    fn residual(&self) -> f64 {
        self.newton.residual(&self.system, self.start, self.scene)
    }

    /// Residual of linear systems, as Newton's method has it.
    fn forcing(&self) -> f64 {
        let foreseen = Foreseen {
            residual: self.residual(),
            left: 0.0,
        };
        self.newton.tolerance(&self.system, foreseen)
    }
}

#[cfg(test)]
mod tests;
