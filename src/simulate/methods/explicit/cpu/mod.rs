//! Explicit bonded DEM on the CPU: the step loop over lanes of any type, threads over chunks of elements.

mod loads;
mod measure;
mod motion;

use std::sync::Mutex;
use std::time::Instant;

use crate::math::lanes::Row;
use crate::math::{Lanes, Scalar, Vec3};
use crate::simulate::bonded::bond_pass::Border;
use crate::simulate::bonded::bond_tasks::BreakEvent;
use crate::simulate::bonded::motion_pass::StepParameters;
use crate::simulate::bonded::system::System;
use crate::simulate::bonded::work;
use crate::simulate::bonded::work::Taken;
use crate::simulate::bonded_run::advance::Driven;
use crate::simulate::bonded_run::build::Built;
use crate::simulate::bonded_run::costs::Costs;
use crate::simulate::bonded_run::run::{BondedRun, Measured};
use crate::simulate::error::{SimulateError, StateError};
use crate::simulate::method::{Capture, Method, PassCost, Place};
use crate::simulate::run_state::state::State;
use crate::simulate::scene::reaction_sums::ReactionSums;
use crate::spec::Pipeline;

/// A run on the CPU with lanes of type `L`.
pub struct Cpu<L: Lanes> {
    run: BondedRun<L::Scalar>,
    borders: Vec<Border<L::Scalar>>,
    /// Scratch rows for what a chunk's bonds do to ends that they do not own, one a thread.
    scratch: Vec<Mutex<Handed<L::Scalar>>>,
    driven: Driven<L::Scalar>,
    parameters: StepParameters<L::Scalar>,
    /// Velocities are at the middle of the last step: its second kick is due.
    half: bool,
    /// Whether any bond has damping.
    damped: bool,
    chunk_breaks: Vec<Vec<BreakEvent>>,
    /// What mean stresses follow from, by chunk; empty where neither this nor `taken` is asked for.
    virials: Vec<Vec<L::Scalar>>,
    /// What damping and friction took since the last frame, by chunk and element; empty where neither this
    /// nor `virials` is asked for.
    taken: Vec<Vec<Taken>>,
    costs: Costs,
}

type Handed<S> = Vec<Row<S, 8>>;

impl<L: Lanes> Cpu<L> {
    /// A run at rest at time zero.
    pub fn new(built: Built<L::Scalar>, pipeline: &Pipeline, dt: f64) -> Self {
        let run = BondedRun::new(built, pipeline, dt);
        let (padded, chunk) = (run.system.motion.len(), run.system.chunk);
        let chunks = padded.div_ceil(chunk);
        let damped = run
            .system
            .classes
            .iter()
            .any(|class| [class.damping, class.spin_damping] != [Scalar::from_f64(0.0); 2]);
        let threads = rayon::current_num_threads() + 1;
        // One variant of the bond pass serves both.
        let extra = if run.hydrostatic.is_some() || run.work.is_some() {
            chunk
        } else {
            0
        };
        let mut cpu = Cpu {
            virials: vec![vec![Scalar::from_f64(0.0); extra]; chunks],
            taken: vec![vec![Taken::default(); extra]; chunks],
            borders: Border::all(&run.system),
            scratch: (0..threads).map(|_| Mutex::default()).collect(),
            damped,
            driven: run.driven(),
            parameters: StepParameters {
                dt: Scalar::from_f64(dt),
                gravity: Vec3::from_f64(pipeline.world.gravity),
                drag: Scalar::from_f64(pipeline.simulate.drag),
            },
            half: false,
            chunk_breaks: vec![Vec::new(); chunks],
            costs: Costs::default(),
            run,
        };
        cpu.start();
        cpu
    }

    /// The columns, for tests of the laws in motion.
    pub fn system(&self) -> &System<L::Scalar> {
        &self.run.system
    }

    /// The columns to change before a step; [`refresh`](Self::refresh) follows.
    pub fn system_mut(&mut self) -> &mut System<L::Scalar> {
        &mut self.run.system
    }

    /// Recomputes what follows from the columns after they were changed by hand: borders of chunks, contact
    /// lists, loads.
    pub fn refresh(&mut self) {
        self.borders = Border::all(&self.run.system);
        self.run
            .contacts
            .rebuild(&self.run.system, &self.driven.obstacles);
        self.start();
    }

    /// The loads that the first kick needs; nothing slides or breaks before time runs.
    fn start(&mut self) {
        self.add_loads(L::Scalar::default());
        self.chunk_breaks.iter_mut().for_each(Vec::clear);
        let now = ReactionSums::take(&self.run.bearers, &mut self.run.sums);
        self.run.means.start(now);
    }

    /// Takes broken bonds out and lets their ends touch.
    fn break_bonds(&mut self) {
        let mut events = Vec::new();
        for chunk in &mut self.chunk_breaks {
            events.append(chunk);
        }
        if events.is_empty() {
            return;
        }
        let clock = Instant::now();
        let (at, borders) = ((self.run.step, self.run.time()), &mut self.borders);
        let energy = |system: &System<L::Scalar>, entry| system.bond_energy(entry);
        self.run.break_bonds(events, at, energy, |system, entry| {
            let other = system.bonds.other[entry as usize];
            borders[other as usize / system.chunk].unbond(entry);
        });
        self.costs.breaks.add(clock, 1);
    }

    /// Adds what was taken since the last frame to what was taken before.
    fn account(&mut self) {
        if let Some(total) = &mut self.run.work {
            work::take(&mut self.taken, total);
        }
    }

    /// Velocities brought to the end of the step.
    fn finish(&mut self) -> Result<(), SimulateError> {
        if self.half {
            self.motion(false)?;
        }
        Ok(())
    }
}

impl<L: Lanes> Method for Cpu<L> {
    fn advance(&mut self, steps: u64) -> Result<(), SimulateError> {
        let mut before = Vec::new();
        for left in (0..steps).rev() {
            self.motion(true)?;
            self.run.step += 1;
            if left == 0 {
                before = ReactionSums::take(&self.run.bearers, &mut self.run.sums);
            }
            self.add_loads(self.parameters.dt);
            self.break_bonds();
        }
        if steps > 0 {
            let now = ReactionSums::take(&self.run.bearers, &mut self.run.sums);
            self.run.means.add(steps, &before, now);
        }
        self.finish()
    }

    fn place(&self) -> Place {
        Place::on_cores::<L>()
    }

    fn costs(&self) -> Vec<PassCost> {
        let (elements, scalar) = (
            self.run.system.motion.len() as u64,
            size_of::<L::Scalar>() as u64,
        );
        let (motion, load) = (20 * scalar * elements, 8 * scalar * elements);
        let borders: u64 = self.borders.iter().map(Border::bytes).sum();
        // Motion is read and written, loads read; bonds read motion and write loads, of which they read what
        // does not change.
        let bytes = [
            2 * motion + load,
            self.run.system.bonds.bytes() + borders + motion + 2 * load,
            self.run.contacts.bytes(),
            0,
            0,
        ];
        self.costs.passes(bytes)
    }

    fn step(&self) -> u64 {
        self.run.step
    }

    fn capture(&mut self, frame: u32, state: bool) -> Result<(), SimulateError> {
        let (contact, touching) = self.run.contact_totals::<L>(&self.driven.obstacles);
        self.account();
        let carried = self.carried();
        let snapshot = self.run.snapshot(
            frame,
            Measured {
                carried,
                contact,
                touching,
                effort: None,
            },
        );
        let state = state.then(|| self.run.pack(frame));
        self.run.hand_over(Capture { snapshot, state });
        Ok(())
    }

    fn state_apart(&mut self, frame: u32) -> Option<State> {
        self.account();
        Some(self.run.pack(frame))
    }

    fn has_state_apart(&self) -> bool {
        true
    }

    fn deliver(&mut self) -> Result<Capture, SimulateError> {
        Ok(self.run.deliver())
    }

    fn restore(&mut self, state: &State) -> Result<(), StateError> {
        self.run.restore(state)?;
        self.parameters.dt = Scalar::from_f64(state.dt);
        self.borders = Border::all(&self.run.system);
        self.half = false;
        self.driven = self.run.driven();
        Ok(())
    }
}
