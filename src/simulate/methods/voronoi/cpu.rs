//! Steps of cells on the CPU: lanes of any type, threads over chunks of cells.

use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::time::Instant;

use glam::DVec3;

use super::borders;
use super::build::CellScene;
use super::columns::{Cells, Faces};
use super::face_pass::{FacePass, Task};
use super::motion_pass::TurnPass;
use super::tasks::{Act, Carry, Dilate, Limits, sum_of};
use crate::math::lanes::Row;
use crate::math::{Lanes, Scalar, Vec3, prefetch};
use crate::parallel::prelude::*;
use crate::simulate::bonded::bond_tasks::{BreakEvent, Carried};
use crate::simulate::bonded::motion_pass::StepParameters;
use crate::simulate::bonded::system::{Load, System, motion};
use crate::simulate::bonded::work::{self, Taken};
use crate::simulate::bonded_run::advance::Driven;
use crate::simulate::bonded_run::costs::Costs;
use crate::simulate::bonded_run::run::{BondedRun, Measured};
use crate::simulate::contact::pass::ContactPass;
use crate::simulate::contact::polyhedra::pass::ShapePass;
use crate::simulate::contact::wall_list::Walls;
use crate::simulate::error::{SimulateError, StateError};
use crate::simulate::method::{Capture, Method, PassCost, Place};
use crate::simulate::run_state::state::{Kind, State};
use crate::simulate::scene::reaction_sums::ReactionSums;
use crate::spec::Pipeline;

const MOMENTA: Kind = Kind::first("angular momenta");

/// A run of cells with lanes of type `L`.
pub struct CellRun<L: Lanes> {
    run: BondedRun<L::Scalar>,
    cells: Cells<L::Scalar>,
    faces: Faces<L::Scalar>,
    limits: Limits<L::Scalar>,
    /// Whether any face may break.
    breakable: bool,
    /// Cells at absorbing sides, and what resists their velocities.
    borders: Vec<(u32, DVec3)>,
    driven: Driven<L::Scalar>,
    parameters: StepParameters<L::Scalar>,
    /// Velocities are at the middle of the last step: its second kick is due.
    half: bool,
    /// What each face adds to ε V of its cells, by entry, m³.
    dilation: Vec<L::Scalar>,
    /// What each face of a wall adds to Ω of its cells, by entry, m².
    folding: Vec<L::Scalar>,
    /// What each face does to the cell that does not own it, by entry.
    handed: Vec<Row<L::Scalar, 8>>,
    chunk_breaks: Vec<Vec<BreakEvent>>,
    /// What damping and friction took since the last frame, by chunk and element; empty where that is not asked for.
    taken: Vec<Vec<Taken>>,
    costs: Costs,
}

impl<L: Lanes> CellRun<L> {
    /// A run at rest at time zero.
    pub fn new(scene: CellScene<L::Scalar>, pipeline: &Pipeline, dt: f64) -> Self {
        let breakable = scene.built.system.bonds.can_break();
        let run = BondedRun::new(scene.built, pipeline, dt);
        let (padded, chunk) = (run.system.motion.len(), run.system.chunk);
        let chunks = padded.div_ceil(chunk);
        // Chunks of loose elements have no entries, and a row each all the same.
        let entries = padded * run.system.bonds.slots.max(1);
        let taken = if run.work.is_some() { chunk } else { 0 };
        let mut cpu = CellRun {
            driven: run.driven(),
            breakable,
            parameters: StepParameters {
                dt: Scalar::from_f64(dt),
                gravity: Vec3::from_f64(pipeline.world.gravity),
                drag: Scalar::from_f64(pipeline.simulate.drag),
            },
            half: false,
            dilation: vec![Scalar::from_f64(0.0); entries],
            folding: vec![Scalar::from_f64(0.0); entries],
            handed: vec![Row::default(); entries],
            chunk_breaks: vec![Vec::new(); chunks],
            taken: vec![vec![Taken::default(); taken]; chunks],
            costs: Costs::default(),
            cells: scene.cells,
            faces: scene.faces,
            limits: scene.limits,
            borders: scene.borders,
            run,
        };
        // The loads that the first kick needs; nothing slides or breaks before time runs.
        cpu.add_loads(L::Scalar::default());
        cpu.chunk_breaks.iter_mut().for_each(Vec::clear);
        let now = ReactionSums::take(&cpu.run.bearers, &mut cpu.run.sums);
        cpu.run.means.start(now);
        cpu
    }

    /// Entries of a chunk.
    fn entries(&self) -> usize {
        self.run.system.chunk * self.run.system.bonds.slots.max(1)
    }

    /// Runs a task over the faces that the cells of a chunk own.
    fn pass<T: Task<L>>(&self, chunk: usize, rest: &[Row<L::Scalar, 4>], task: T) {
        let system = &self.run.system;
        let first = chunk * system.chunk;
        L::run(FacePass {
            system,
            faces: &self.faces,
            rest,
            first,
            count: system.chunk.min(system.motion.len() - first),
            task,
        });
    }

    /// Brings λε of all cells up to date with where they are.
    fn dilate(&mut self) {
        let per_chunk = self.entries();
        let mut dilation = std::mem::take(&mut self.dilation);
        let mut folding = std::mem::take(&mut self.folding);
        dilation
            .par_chunks_mut(per_chunk)
            .zip(folding.par_chunks_mut(per_chunk))
            .enumerate()
            .for_each(|(chunk, (dilation, folding))| {
                let task = Dilate {
                    faces: &self.faces,
                    dilation,
                    folding,
                    base: chunk * per_chunk,
                };
                self.pass(chunk, &self.run.system.tail, task);
            });
        self.dilation = dilation;
        self.folding = folding;
        self.fold();
        let (system, dilation, bulk) = (&self.run.system, &self.dilation, &self.cells.bulk);
        self.cells
            .pressure
            .par_chunks_mut(system.chunk)
            .enumerate()
            .for_each(|(chunk, rows)| {
                for (local, row) in rows.iter_mut().enumerate() {
                    let cell = chunk * system.chunk + local;
                    row.0 = system.tail[cell].0;
                    row.0[3] = sum_of(system, cell, dilation) * bulk[cell];
                }
            });
    }

    /// Brings what bending puts on the faces of walls up to date with Ω of their cells.
    fn fold(&mut self) {
        let (system, folding) = (&self.run.system, &self.folding);
        let Cells {
            folding: to,
            bulk,
            thickness,
            ..
        } = &mut self.cells;
        to.par_chunks_mut(system.chunk)
            .enumerate()
            .for_each(|(chunk, rows)| {
                for (local, row) in rows.iter_mut().enumerate() {
                    let cell = chunk * system.chunk + local;
                    let stiffness = bulk[cell] * Scalar::from_f64(thickness[cell]);
                    row.0[0] = sum_of(system, cell, folding) * stiffness;
                }
            });
    }

    /// One force pass: faces, contacts, springs, attached forces.
    fn add_loads(&mut self, dt: L::Scalar) {
        let clock = Instant::now();
        let threads = rayon::current_num_threads();
        self.dilate();
        self.act(dt.to_f64());
        let clock = self.costs.bonds.add(clock, threads);
        self.gather(dt);
        self.costs.contacts.add(clock, threads);
        self.run.add_applied();
        borders::absorb(&self.borders, &self.run.system, &mut self.run.load);
    }

    /// What faces do to the cells that own them, and to the others by entry.
    fn act(&mut self, dt: f64) {
        let per_chunk = self.entries();
        let mut load = std::mem::take(&mut self.run.load);
        let mut handed = std::mem::take(&mut self.handed);
        let mut breaks = std::mem::take(&mut self.chunk_breaks);
        let mut taken = std::mem::take(&mut self.taken);
        load.par_chunks_mut(self.run.system.chunk)
            .zip(handed.par_chunks_mut(per_chunk))
            .zip(breaks.par_iter_mut())
            .zip(taken.par_iter_mut())
            .enumerate()
            .for_each(|(chunk, (((load, handed), breaks), taken))| {
                let task = Act::<L> {
                    faces: &self.faces,
                    folding: &self.cells.folding,
                    load,
                    handed,
                    base: chunk * per_chunk,
                    limits: self.breakable.then_some(&self.limits),
                    breaks,
                    taken,
                    dt,
                    sum: (Vec3::zero(), Vec3::zero(), L::zero()),
                };
                self.pass(chunk, &self.cells.pressure, task);
            });
        self.run.load = load;
        self.handed = handed;
        self.chunk_breaks = breaks;
        self.taken = taken;
    }

    /// Adds what faces owned elsewhere do to each cell, and contacts.
    fn gather(&mut self, dt: L::Scalar) {
        let system = &self.run.system;
        let walls = Walls {
            system,
            obstacles: &self.driven.obstacles,
            dt,
            neared: self.run.contacts.neared(),
        };
        let closed = self.run.contacts.closed();
        let shapes = self.run.contacts.shapes().cloned();
        let (handed, holds, work) = (&self.handed, &self.driven.holds, self.run.work.is_some());
        self.run
            .load
            .par_chunks_mut(system.chunk)
            .zip(self.run.contacts.chunks.par_iter_mut())
            .zip(self.run.contacts.solids.par_iter_mut())
            .zip(self.run.sums.par_iter_mut())
            .zip(self.taken.par_iter_mut())
            .enumerate()
            .for_each(|(chunk, ((((load, contacts), solids), sums), taken))| {
                let first = chunk * system.chunk;
                add_foreign(system, handed, first, load, (&mut *taken, dt.to_f64()));
                ContactPass::<L, false> {
                    walls,
                    closed,
                    first,
                    contacts,
                    load: &mut *load,
                    sums: &mut *sums,
                    taken: &mut *taken,
                }
                .run_on(work);
                if let Some(shapes) = &shapes {
                    ShapePass {
                        walls,
                        shapes,
                        contacts: solids,
                        load: &mut *load,
                        sums: &mut *sums,
                        taken: &mut *taken,
                    }
                    .run();
                }
                sums.add_held(first, load, holds);
            });
    }

    /// Ends a step's second kick if it is due, starts the next where `open`.
    fn motion(&mut self, open: bool) -> Result<(), SimulateError> {
        let clock = Instant::now();
        let (step, close) = (self.parameters, self.half);
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
        self.half = open;
        let threads = rayon::current_num_threads();
        let clock = self.costs.motion.add(clock, threads);
        if let Some(distances) = moved? {
            let (system, obstacles) = (&self.run.system, &self.driven.obstacles);
            self.run.contacts.advance(distances, system, obstacles);
            self.costs.lists.add(clock, threads);
        }
        Ok(())
    }

    /// Takes broken faces out: both of their cells have one more free face, and may touch.
    fn break_faces(&mut self) {
        let mut events = Vec::new();
        for chunk in &mut self.chunk_breaks {
            events.append(chunk);
        }
        if events.is_empty() {
            return;
        }
        let clock = Instant::now();
        let at = (self.run.step, self.run.time());
        let mut ends: Vec<u32> = events.iter().flat_map(|event| [event.i, event.j]).collect();
        ends.sort_unstable();
        ends.dedup();
        let booked = self.run.work.is_some();
        let per_chunk = self.entries();
        let chunks: BTreeSet<usize> = events
            .iter()
            .map(|event| event.entry as usize / per_chunk)
            .collect();
        let held = match booked {
            true => self.carried(|chunk| chunks.contains(&chunk)),
            false => Vec::new(),
        };
        let stored = |cells: &Cells<L::Scalar>| -> f64 {
            ends.iter()
                .map(|&cell| cells.own_energy(cell as usize))
                .sum()
        };
        let before = stored(&self.cells);
        let entries: Vec<u32> = events.iter().map(|event| event.entry).collect();
        let energy = |_: &_, entry: usize| held[entry].energy;
        self.run.break_bonds(events, at, energy, |_, _| ());
        for entry in entries {
            self.dilation[entry as usize] = L::Scalar::default();
            self.folding[entry as usize] = L::Scalar::default();
        }
        let system = &self.run.system;
        for &cell in &ends {
            let cell = cell as usize;
            self.cells.refresh(cell, &system.bonds, &self.faces);
            let pressure = sum_of(system, cell, &self.dilation) * self.cells.bulk[cell];
            self.cells.pressure[cell].0[3] = pressure;
        }
        self.fold();
        let after = stored(&self.cells);
        if let Some(work) = &mut self.run.work {
            work.breaking += before - after;
        }
        self.costs.breaks.add(clock, 1);
    }

    /// Stresses and energies of the gap and of bending of the faces of these chunks, by entry; zero of others.
    fn carried(&self, wanted: impl Fn(usize) -> bool + Clone + Send + Sync) -> Vec<Carried> {
        let per_chunk = self.entries();
        let mut carried = vec![Carried::default(); self.dilation.len()];
        carried
            .par_chunks_mut(per_chunk)
            .enumerate()
            .filter(|(chunk, _)| wanted(*chunk))
            .for_each(|(chunk, carried)| {
                let task = Carry::<L> {
                    faces: &self.faces,
                    folding: &self.cells.folding,
                    limits: &self.limits,
                    carried,
                    base: chunk * per_chunk,
                    lanes: PhantomData,
                };
                self.pass(chunk, &self.cells.pressure, task);
            });
        carried
    }

    /// What each cell carries: the largest stresses of its whole faces, half of their energies, and its own by dilation.
    fn carried_by_cells(&self) -> Vec<Carried> {
        let (system, carried) = (&self.run.system, self.carried(|_| true));
        let of = |cell: usize| {
            let mut sum = Carried {
                energy: self.cells.own_energy(cell),
                ..Carried::default()
            };
            for side in system.bonds.active_sides(cell) {
                let one = carried[side.entry];
                sum.sigma = sum.sigma.max(one.sigma);
                sum.tau = sum.tau.max(one.tau);
                sum.energy += 0.5 * one.energy;
            }
            sum
        };
        (0..system.count).into_par_iter().map(of).collect()
    }

    /// Adds what was taken since the last frame to what was taken before.
    fn account(&mut self) {
        if let Some(total) = &mut self.run.work {
            work::take(&mut self.taken, total);
        }
    }

    fn pack(&self, frame: u32) -> State {
        let mut state = self.run.pack(frame);
        state.put(MOMENTA, self.cells.momentum.iter().map(|row| row.0));
        state
    }

    /// The cells' motion, for tests of the law in motion.
    pub fn system(&self) -> &System<L::Scalar> {
        &self.run.system
    }

    /// Turns every velocity and angular momentum round: what follows goes back in time.
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

/// Cells ahead of the one that is summed up whose rows are asked for.
const AHEAD: usize = 4;

/// Adds what faces owned by other cells do to the cells of a chunk.
fn add_foreign<S: Scalar>(
    system: &System<S>,
    handed: &[Row<S, 8>],
    first: usize,
    load: &mut [Load<S>],
    (taken, dt): (&mut [Taken], f64),
) {
    let foreign = system.bonds.active_foreign();
    let rows = load.len();
    for (local, load) in load.iter_mut().enumerate() {
        let mut power = S::default();
        if local + AHEAD < rows {
            for &entry in foreign.of(first + local + AHEAD) {
                prefetch(&raw const handed[entry as usize], 0);
            }
        }
        for &entry in foreign.of(first + local) {
            let row = &handed[entry as usize].0;
            for k in [0, 1, 2, 4, 5, 6] {
                load.0[k] = load.0[k] + row[k];
            }
            power = power + row[7];
        }
        if let Some(taken) = taken.get_mut(local) {
            taken.damping += power.to_f64() * dt;
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
                before = ReactionSums::take(&self.run.bearers, &mut self.run.sums);
            }
            self.add_loads(self.parameters.dt);
            self.break_faces();
        }
        if steps > 0 {
            let now = ReactionSums::take(&self.run.bearers, &mut self.run.sums);
            self.run.means.add(steps, &before, now);
        }
        if self.half {
            self.motion(false)?;
        }
        Ok(())
    }

    fn place(&self) -> Place {
        Place::on_cores::<L>()
    }

    fn costs(&self) -> Vec<PassCost> {
        let rows = self.run.system.motion.len() as u64;
        let scalar = size_of::<L::Scalar>() as u64;
        let (motion, load) = (20 * scalar * rows, 8 * scalar * rows);
        let faces = self.faces.bytes() * self.dilation.len() as u64;
        // Twice over all faces; what they hand over is written and read.
        let handed = 2 * (8 + 1) * scalar * self.dilation.len() as u64;
        let bytes = [
            2 * motion + load + 24 * scalar * rows,
            2 * motion + 2 * faces + handed + 2 * load,
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
        let measured = Measured {
            carried: self.carried_by_cells(),
            contact,
            touching,
            effort: None,
        };
        let snapshot = self.run.snapshot(frame, measured);
        let state = state.then(|| self.pack(frame));
        self.run.hand_over(Capture { snapshot, state });
        Ok(())
    }

    fn state_apart(&mut self, frame: u32) -> Option<State> {
        self.account();
        Some(self.pack(frame))
    }

    fn has_state_apart(&self) -> bool {
        true
    }

    fn deliver(&mut self) -> Result<Capture, SimulateError> {
        Ok(self.run.deliver())
    }

    fn restore(&mut self, state: &State) -> Result<(), StateError> {
        self.run.restore(state)?;
        let momenta = self.cells.momentum.iter_mut().map(|row| &mut row.0);
        state.copy_into(MOMENTA, momenta)?;
        self.parameters.dt = Scalar::from_f64(state.dt);
        self.half = false;
        self.driven = self.run.driven();
        for cell in 0..self.run.system.count {
            self.cells
                .refresh(cell, &self.run.system.bonds, &self.faces);
        }
        self.dilate();
        Ok(())
    }
}
