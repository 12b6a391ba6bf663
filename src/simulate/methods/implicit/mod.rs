//! Implicit steps on the CPU, in double precision (Lu 2025; Zhang 2024).
//!
//! A step is the minimum of an energy, found by Newton's method. A midpoint step is an implicit Euler step of
//! half the length, extrapolated in a straight line by the same amount, so both use one solver. A step in
//! which bonds break is repeated in halves, down to the shortest; if bonds break in that one, it is solved
//! again without them until none breaks. So neither strengths nor cracks depend on the step length. Results
//! after a checkpoint depend on it alone: lists, matrix and hierarchy are rebuilt when one is written.

mod assemble;
mod baselines;
mod bonds;
mod coordinates;
mod line;
mod newton;
mod passing;
mod prepare;
mod projected_friction;
mod refuse;
mod scheme;
mod start;
mod step;
mod touch;

pub use prepare::ENTRY;

use std::marker::PhantomData;

use newton::Newton;
use scheme::Scheme;
use start::{AccelerationHistory, StepStart};

use crate::columns::Convergence;
use crate::laws::energy::EnergyLaw;
use crate::simulate::bonded::owned::OwnedChunks;
use crate::simulate::bonded::rankine::Rankine;
use crate::simulate::bonded::system::System;
use crate::simulate::bonded_run::build::Built;
use crate::simulate::bonded_run::frame::Measured;
use crate::simulate::bonded_run::run::BondedRun;
use crate::simulate::error::{SimulateError, StateError};
use crate::simulate::method::{Capture, Method, PassCost, Platform};
use crate::simulate::run_state::sections;
use crate::simulate::run_state::snapshot::Effort;
use crate::simulate::run_state::state::State;
use crate::simulate::scene::reactions::Wrench;
use crate::spec::{Pipeline, Simulate};

/// A run with bonds of law `W`.
pub struct Implicit<W> {
    run: BondedRun<f64>,
    /// Strengths of bonds that break by Rankine's criterion.
    rankine: Option<Rankine<f64>>,
    /// Force on each element that does not depend on its position, including gravity, N.
    constant_forces: Vec<[f64; 3]>,
    newton: Newton,
    scheme: Scheme,
    simulate: Simulate,
    /// Largest number of times that a step may be halved.
    max_halvings: u32,
    drag: f64,
    /// Whether everything that earlier steps left, except the state, has to be rebuilt.
    rebuild_due: bool,
    /// Number of times that steps are currently halved.
    current_halvings: u32,
    /// Step that other methods solve too, counted from 1.
    compared_step: Option<u64>,
    /// Convergence histories of these methods, until a frame takes them.
    convergence: Convergence,
    /// Accelerations of recent steps.
    accelerations: AccelerationHistory,
    law: PhantomData<W>,
}

impl<W: EnergyLaw> Implicit<W> {
    /// A run at rest at time zero. `critical` is the critical step of explicit integration, s.
    pub fn new(built: Built<f64>, pipeline: &Pipeline, dt: f64, critical: f64) -> Self {
        let mut run = BondedRun::new(built, pipeline, dt);
        let rankine = Rankine::of(&mut run.system, pipeline, &run.rest);
        let settings = &pipeline.simulate.implicit;
        let scheme = Scheme::of(pipeline.simulate.integrator);
        Implicit {
            newton: Newton::new(&run.system, &pipeline.simulate, scheme.linear),
            constant_forces: constant_forces(&run, pipeline.world.gravity),
            run,
            rankine,
            scheme,
            max_halvings: settings.halvings(dt / critical),
            simulate: pipeline.simulate.clone(),
            drag: pipeline.simulate.drag,
            rebuild_due: true,
            current_halvings: 0,
            compared_step: pipeline.output.convergence,
            convergence: Convergence::default(),
            accelerations: AccelerationHistory::default(),
            law: PhantomData,
        }
    }

    /// The columns, for tests.
    pub fn system(&self) -> &System<f64> {
        &self.run.system
    }

    /// The columns, to be changed before the first step.
    pub fn system_mut(&mut self) -> &mut System<f64> {
        &mut self.run.system
    }

    /// Work of Newton's method so far.
    pub fn effort(&self) -> Effort {
        self.newton.effort
    }

    /// Energy of all bonds, J.
    pub fn bond_energy(&self) -> f64 {
        bonds::energy::<W>(&self.run.system)
    }

    /// The state. Marks everything else for a rebuild, so that a run that goes on and one restored from the
    /// state agree.
    fn pack(&mut self, frame: u32) -> State {
        self.rebuild_due = true;
        let mut state = self.run.pack(frame);
        sections::put_effort(&mut state, self.newton.effort);
        state
    }
}

/// Constant forces on the elements, including their weight, N.
fn constant_forces(run: &BondedRun<f64>, gravity: [f64; 3]) -> Vec<[f64; 3]> {
    let mut constant_forces: Vec<[f64; 3]> = (0..run.system.count)
        .map(|i| match run.load[i].0[3] {
            0.0 => [0.0; 3],
            inverse => gravity.map(|g| g / inverse),
        })
        .collect();
    for attached in &run.forces {
        for &element in &attached.elements {
            let sums = constant_forces[element as usize].iter_mut();
            for (sum, f) in sums.zip(attached.force.to_array()) {
                *sum += f;
            }
        }
    }
    constant_forces
}

impl<W: EnergyLaw> Method for Implicit<W> {
    fn advance(&mut self, steps: u64) -> Result<(), SimulateError> {
        if steps == 0 {
            return Ok(());
        }
        if std::mem::take(&mut self.rebuild_due) {
            let colliders = self.run.colliders(self.run.step as f64 * self.run.dt);
            self.run.contacts.rebuild(&self.run.system, &colliders);
            self.newton.reset();
            self.current_halvings = 0;
            self.accelerations = AccelerationHistory::default();
        }
        let mut halved = self.current_halvings;
        let mut sum = vec![Wrench::default(); self.run.supports.count()];
        let mut now = sum.clone();
        for _ in 0..steps {
            now = self.whole_step(&mut halved)?;
            for (sum, now) in sum.iter_mut().zip(&mut now) {
                *now = *now * (1.0 / self.run.dt);
                *sum += *now;
            }
        }
        self.current_halvings = halved;
        self.run.means.add_sum(steps, &sum, now);
        Ok(())
    }

    fn step(&self) -> u64 {
        self.run.step
    }

    fn platform(&self) -> Platform {
        Platform {
            name: format!("CPU, {} threads, implicit", rayon::current_num_threads()),
            device_bytes: None,
        }
    }

    fn costs(&self) -> Vec<PassCost> {
        self.newton.costs()
    }

    fn capture(&mut self, frame: u32, state: bool) -> Result<(), SimulateError> {
        let run = &self.run;
        // Springs as stored: no time passes.
        let start = StepStart::new(
            &run.system,
            &run.load,
            Vec::new(),
            Vec::new(),
            (run.dt, 0.0),
        );
        let touch = &mut self.newton.contact_set;
        touch.collect(&run.contacts, &run.system);
        touch.evaluate(&run.system, &run.colliders(run.time()), &start);
        let (contact, touching) = touch.totals(run.supports.colliders().len());
        let (mut carried, _) = bonds::carried::<W>(&run.system);
        if let Some(rankine) = &self.rankine {
            let system = (&run.system, &OwnedChunks::default());
            rankine.put_sigmas(system, &run.rest.volume, &mut carried);
        }
        self.run.label_fragments();
        let mut snapshot = self.run.snapshot(
            frame,
            &Measured {
                carried,
                contact,
                touching,
                effort: Some(self.newton.effort),
                sleep: None,
            },
        );
        snapshot.convergence = std::mem::take(&mut self.convergence);
        snapshot.convergence.frame.fill(frame);
        snapshot.convergence.time.fill(self.run.time());
        let state = state.then(|| self.pack(frame));
        self.run.queue_capture(Capture { snapshot, state });
        Ok(())
    }

    fn deliver(&mut self) -> Result<Capture, SimulateError> {
        Ok(self.run.take_oldest())
    }

    fn restore(&mut self, state: &State) -> Result<(), StateError> {
        self.run.restore(state)?;
        self.convergence = Convergence::default();
        self.rebuild_due = true;
        self.newton.effort = sections::effort(state)?;
        Ok(())
    }
}
