//! Implicit steps on the CPU, in double precision (Lu 2025; Zhang 2024).
//!
//! A step is the minimum of an energy, found by Newton's method; a midpoint step is an implicit Euler step of
//! half the length and as much again in a straight line, so both have one solver. Where bonds break the step
//! is done again in halves down to the shortest, and when they break in that it is solved again without them
//! until none does, so that neither strengths nor cracks depend on the length of steps. What follows from a
//! state depends on it alone: lists, matrix and hierarchy are made anew where one is written.

mod assemble;
mod baselines;
mod bonds;
mod line;
mod newton;
mod passing;
mod prepare;
mod refuse;
mod rub;
mod scheme;
mod start;
mod step;
mod touch;

pub use prepare::ENTRY;

use std::marker::PhantomData;

use newton::Newton;
use scheme::Scheme;
use start::{Pushes, Start};

use crate::columns::Convergence;
use crate::laws::energy::EnergyLaw;
use crate::simulate::bonded::system::System;
use crate::simulate::bonded_run::build::Built;
use crate::simulate::bonded_run::run::{BondedRun, Measured};
use crate::simulate::error::{SimulateError, StateError};
use crate::simulate::method::{Capture, Method, PassCost, Place};
use crate::simulate::run_state::sections;
use crate::simulate::run_state::snapshot::Effort;
use crate::simulate::run_state::state::State;
use crate::simulate::scene::reactions::Wrench;
use crate::spec::{Pipeline, Simulate};

/// A run with bonds of law `W`.
pub struct Implicit<W> {
    run: BondedRun<f64>,
    /// Force on each element that does not depend on where it is, gravity among it, N.
    outer: Vec<[f64; 3]>,
    newton: Newton,
    scheme: Scheme,
    simulate: Simulate,
    /// Times that a step may be halved.
    halvings: u32,
    drag: f64,
    /// Whether nothing is left of earlier steps but the state.
    fresh: bool,
    /// Times that steps are halved now.
    halved: u32,
    /// Step that other methods solve too, counted from 1.
    compared: Option<u64>,
    /// What they did, until a frame takes it.
    convergence: Convergence,
    /// How velocities and spins change.
    pushes: Pushes,
    law: PhantomData<W>,
}

impl<W: EnergyLaw> Implicit<W> {
    /// A run at rest at time zero.
    /// `critical` is the critical step of explicit ones, s.
    pub fn new(built: Built<f64>, pipeline: &Pipeline, dt: f64, critical: f64) -> Self {
        let run = BondedRun::new(built, pipeline, dt);
        let settings = &pipeline.simulate.implicit;
        let scheme = Scheme::of(pipeline.simulate.integrator);
        Implicit {
            newton: Newton::new(&run.system, &pipeline.simulate, scheme.linear),
            outer: outer_forces(&run, pipeline.world.gravity),
            run,
            scheme,
            halvings: settings.halvings(dt / critical),
            simulate: pipeline.simulate.clone(),
            drag: pipeline.simulate.drag,
            fresh: true,
            halved: 0,
            compared: pipeline.output.convergence,
            convergence: Convergence::default(),
            pushes: Pushes::default(),
            law: PhantomData,
        }
    }

    /// The columns, for tests.
    pub fn system(&self) -> &System<f64> {
        &self.run.system
    }

    /// The columns to change before the first step.
    pub fn system_mut(&mut self) -> &mut System<f64> {
        &mut self.run.system
    }

    /// What Newton's method has done so far.
    pub fn effort(&self) -> Effort {
        self.newton.effort
    }

    /// Energy of all bonds, J.
    pub fn bond_energy(&self) -> f64 {
        bonds::energy::<W>(&self.run.system)
    }

    /// The state; a run that goes on and one that begins with it do so alike.
    fn pack(&mut self, frame: u32) -> State {
        self.fresh = true;
        let mut state = self.run.pack(frame);
        sections::put_effort(&mut state, self.newton.effort);
        state
    }
}

/// Constant forces on the elements, weight among them, N.
fn outer_forces(run: &BondedRun<f64>, gravity: [f64; 3]) -> Vec<[f64; 3]> {
    let mut outer: Vec<[f64; 3]> = (0..run.system.count)
        .map(|i| match run.load[i].0[3] {
            0.0 => [0.0; 3],
            inverse => gravity.map(|g| g / inverse),
        })
        .collect();
    for attached in &run.forces {
        for &element in &attached.elements {
            let sums = outer[element as usize].iter_mut();
            for (sum, f) in sums.zip(attached.force.to_array()) {
                *sum += f;
            }
        }
    }
    outer
}

impl<W: EnergyLaw> Method for Implicit<W> {
    fn advance(&mut self, steps: u64) -> Result<(), SimulateError> {
        if steps == 0 {
            return Ok(());
        }
        if std::mem::take(&mut self.fresh) {
            let obstacles = self.run.obstacles(self.run.step as f64 * self.run.dt);
            self.run.contacts.rebuild(&self.run.system, &obstacles);
            self.newton.forget();
            self.halved = 0;
            self.pushes = Pushes::default();
        }
        let mut halved = self.halved;
        let mut sum = vec![Wrench::default(); self.run.bearers.count()];
        let mut now = sum.clone();
        for _ in 0..steps {
            now = self.whole_step(&mut halved)?;
            for (sum, now) in sum.iter_mut().zip(&mut now) {
                *now = *now * (1.0 / self.run.dt);
                *sum += *now;
            }
        }
        self.halved = halved;
        self.run.means.add_sum(steps, &sum, now);
        Ok(())
    }

    fn step(&self) -> u64 {
        self.run.step
    }

    fn place(&self) -> Place {
        Place {
            name: format!("CPU, {} threads, implicit", rayon::current_num_threads()),
            device_bytes: None,
        }
    }

    fn costs(&self) -> Vec<PassCost> {
        self.newton.costs()
    }

    fn capture(&mut self, frame: u32, state: bool) -> Result<(), SimulateError> {
        let run = &self.run;
        // Springs as they are remembered: no time goes on.
        let start = Start::new(
            &run.system,
            &run.load,
            Vec::new(),
            Vec::new(),
            (run.dt, 0.0),
        );
        let touch = &mut self.newton.touch;
        touch.collect(&run.contacts, &run.system);
        touch.evaluate(&run.system, &run.obstacles(run.time()), &start);
        let (contact, touching) = touch.totals(run.bearers.colliders().len());
        let (carried, _) = bonds::carried::<W>(&run.system);
        let mut snapshot = self.run.snapshot(
            frame,
            Measured {
                carried,
                contact,
                touching,
                effort: Some(self.newton.effort),
            },
        );
        snapshot.convergence = std::mem::take(&mut self.convergence);
        snapshot.convergence.frame.fill(frame);
        snapshot.convergence.time.fill(self.run.time());
        let state = state.then(|| self.pack(frame));
        self.run.hand_over(Capture { snapshot, state });
        Ok(())
    }

    fn deliver(&mut self) -> Result<Capture, SimulateError> {
        Ok(self.run.deliver())
    }

    fn restore(&mut self, state: &State) -> Result<(), StateError> {
        self.run.restore(state)?;
        self.convergence = Convergence::default();
        self.fresh = true;
        self.newton.effort = sections::effort(state)?;
        Ok(())
    }
}
