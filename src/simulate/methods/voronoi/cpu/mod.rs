//! Steps of cells on the CPU: generic in the lane type, threads over chunks of cells.

mod breaks;
mod loads;

use std::sync::Mutex;
use std::time::Instant;

use glam::DVec3;

use self::loads::ChunkScratch;
use super::build::CellScene;
use super::columns::{Cells, Faces};
use super::crossings::Crossings;
use super::motion_pass::TurnPass;
use super::stress::Stresses;
use super::tasks::Limits;
use crate::math::{Lanes, Scalar, Vec3};
use crate::simulate::bonded::bond_tasks::BreakEvent;
use crate::simulate::bonded::motion_pass::StepParameters;
use crate::simulate::bonded::system::{System, motion};
use crate::simulate::bonded::work::{self, Dissipation};
use crate::simulate::bonded_run::advance::DrivenPoses;
use crate::simulate::bonded_run::costs::Costs;
use crate::simulate::bonded_run::frame::Measured;
use crate::simulate::bonded_run::run::BondedRun;
use crate::simulate::error::{SimulateError, StateError};
use crate::simulate::method::{Capture, Method, PassCost, Platform};
use crate::simulate::run_state::sections;
use crate::simulate::run_state::state::State;
use crate::simulate::scene::reaction_sums::ReactionSums;
use crate::spec::Pipeline;

/// A run of cells with lanes of type `L`.
pub struct CellRun<L: Lanes> {
    run: BondedRun<L::Scalar>,
    cells: Cells<L::Scalar>,
    faces: Faces<L::Scalar>,
    limits: Limits<L::Scalar>,
    /// Whether any face may break.
    breakable: bool,
    /// Stresses of cells; none if no face breaks by them.
    stresses: Option<Stresses<L::Scalar>>,
    /// Cells at absorbing sides, with the damping coefficients of their velocities.
    absorbing_sides: Vec<(u32, DVec3)>,
    driven: DrivenPoses<L::Scalar>,
    parameters: StepParameters<L::Scalar>,
    /// Whether velocities are at the middle of the last step, so that its second kick is due.
    kick_due: bool,
    /// Faces of each chunk's cells that cells of other chunks own.
    crossings: Vec<Crossings<L::Scalar>>,
    /// Scratch buffers for the sums of a chunk, one per thread.
    scratch: Vec<Mutex<ChunkScratch<L::Scalar>>>,
    chunk_breaks: Vec<Vec<BreakEvent>>,
    /// Energy dissipated by damping and friction since the last frame, by chunk and element; empty unless
    /// needed.
    dissipation: Vec<Vec<Dissipation>>,
    costs: Costs,
}

impl<L: Lanes> CellRun<L> {
    /// A run at rest at time zero.
    pub fn new(scene: CellScene<L::Scalar>, pipeline: &Pipeline, dt: f64) -> Self {
        let breakable = scene.built.system.bonds.can_break();
        let run = BondedRun::new(scene.built, pipeline, dt);
        let (padded, chunk) = (run.system.motion.len(), run.system.chunk);
        let chunks = padded.div_ceil(chunk);
        let threads = rayon::current_num_threads() + 1;
        let dissipation = if run.work.is_some() { chunk } else { 0 };
        let mut cpu = CellRun {
            driven: run.driven(),
            breakable,
            stresses: scene.stresses,
            parameters: StepParameters {
                dt: Scalar::from_f64(dt),
                gravity: Vec3::from_f64(pipeline.world.gravity),
                drag: Scalar::from_f64(pipeline.simulate.drag),
            },
            kick_due: false,
            crossings: Crossings::all(&run.system, &scene.faces),
            scratch: (0..threads).map(|_| Mutex::default()).collect(),
            chunk_breaks: vec![Vec::new(); chunks],
            dissipation: vec![vec![Dissipation::default(); dissipation]; chunks],
            costs: Costs::default(),
            cells: scene.cells,
            faces: scene.faces,
            limits: scene.limits,
            absorbing_sides: scene.absorbing_sides,
            run,
        };
        // The loads that the first kick needs. Nothing slides or breaks before time runs.
        cpu.add_loads(L::Scalar::default());
        cpu.chunk_breaks.iter_mut().for_each(Vec::clear);
        let now = ReactionSums::take(&cpu.run.supports, &mut cpu.run.sums);
        cpu.run.means.start(now);
        cpu
    }

    /// Does a step's second kick if it is due, and starts the next step if `open`.
    fn motion(&mut self, open: bool) -> Result<(), SimulateError> {
        let clock = Instant::now();
        let (step, close) = (self.parameters, self.kick_due);
        let Cells {
            inertia, momentum, ..
        } = &mut self.cells;
        let moved = self
            .run
            .advance(&mut self.driven, &step, (close, open), momentum, |rows| {
                let end = rows.first + rows.load.len();
                L::run(TurnPass {
                    step,
                    close,
                    open,
                    motion: rows.motion,
                    tail: rows.tail,
                    load: rows.load,
                    inertia: &inertia[rows.first..end],
                    momentum: rows.beside,
                })
            });
        self.kick_due = open;
        let threads = rayon::current_num_threads();
        let clock = self.costs.motion.add(clock, threads);
        if let Some(distances) = moved? {
            let (system, colliders) = (&self.run.system, &self.driven.colliders);
            self.run.contacts.advance(distances, system, colliders);
            self.costs.lists.add(clock, threads);
        }
        Ok(())
    }

    /// Adds the energy dissipated since the last frame to the totals.
    fn collect_work(&mut self) {
        if let Some(total) = &mut self.run.work {
            work::drain(&mut self.dissipation, total);
        }
    }

    fn pack(&mut self, frame: u32) -> State {
        let mut state = self.run.pack(frame);
        sections::put_momenta(&mut state, self.cells.momentum.iter().map(|row| row.0));
        state
    }

    /// The cells' motion, for tests of the law during motion.
    pub fn system(&self) -> &System<L::Scalar> {
        &self.run.system
    }

    /// Reverses every velocity and angular momentum, so that the run goes back in time.
    pub fn reverse(&mut self) {
        for (motion, momentum) in self
            .run
            .system
            .motion
            .iter_mut()
            .zip(&mut self.cells.momentum)
        {
            let rows = [motion::V, motion::W].map(|at| at..at + 3);
            for value in rows.into_iter().flatten() {
                motion.0[value] = -motion.0[value];
            }
            for value in &mut momentum.0 {
                *value = -*value;
            }
        }
    }
}

impl<L: Lanes> Method for CellRun<L> {
    fn advance(&mut self, steps: u64) -> Result<(), SimulateError> {
        let mut before = Vec::new();
        for left in (0..steps).rev() {
            self.motion(true)?;
            self.run.step += 1;
            if left == 0 {
                before = ReactionSums::take(&self.run.supports, &mut self.run.sums);
            }
            self.add_loads(self.parameters.dt);
            self.find_principal_breaks();
            self.break_faces();
        }
        if steps > 0 {
            let now = ReactionSums::take(&self.run.supports, &mut self.run.sums);
            self.run.means.add(steps, &before, now);
        }
        if self.kick_due {
            self.motion(false)?;
        }
        Ok(())
    }

    fn platform(&self) -> Platform {
        Platform::on_cores::<L>()
    }

    fn costs(&self) -> Vec<PassCost> {
        let rows = self.run.system.motion.len() as u64;
        let scalar = size_of::<L::Scalar>() as u64;
        let (motion, load) = (20 * scalar * rows, 8 * scalar * rows);
        let crossing: usize = self.crossings.iter().map(Crossings::len).sum();
        let faces = self.run.system.bonds.other.len() + crossing;
        let bytes = [
            2 * motion + load + 24 * scalar * rows,
            // λε is written between the two passes over the faces.
            2 * motion + 4 * scalar * rows + self.faces.bytes() * faces as u64 + 2 * load,
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
        let (contact, touching) = self.run.contact_totals::<L>(&self.driven.colliders);
        self.collect_work();
        self.update_stresses();
        let measured = Measured {
            carried: self.carried_by_cells(),
            contact,
            touching,
            effort: None,
            sleep: None,
        };
        self.run.label_fragments();
        let snapshot = self.run.snapshot(frame, &measured);
        let state = state.then(|| self.pack(frame));
        self.run.queue_capture(Capture { snapshot, state });
        Ok(())
    }

    fn state_without_frame(&mut self, frame: u32) -> Option<State> {
        self.collect_work();
        Some(self.pack(frame))
    }

    fn has_state_without_frame(&self) -> bool {
        true
    }

    fn deliver(&mut self) -> Result<Capture, SimulateError> {
        Ok(self.run.take_oldest())
    }

    fn restore(&mut self, state: &State) -> Result<(), StateError> {
        self.run.restore(state)?;
        let momenta = self.cells.momentum.iter_mut().map(|row| &mut row.0);
        sections::read_momenta(state, momenta)?;
        self.parameters.dt = Scalar::from_f64(state.dt);
        self.kick_due = false;
        self.driven = self.run.driven();
        for cell in 0..self.run.system.count {
            self.refresh(cell);
        }
        self.crossings = Crossings::all(&self.run.system, &self.faces);
        self.update_dilation(|_| true);
        Ok(())
    }
}
