//! The passes over the faces of a step: λε of all cells, then force and torque, with contacts, springs,
//! attached forces.
//!
//! What a chunk of cells adds up stays in the cache of a core; between both passes stands λε of each cell
//! alone, which the second asks for of both cells of a face.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::CellRun;
use crate::math::lanes::Row;
use crate::math::{Lanes, Scalar, Vec3};
use crate::parallel::prelude::*;
use crate::simulate::bonded::bond_tasks::BreakEvent;
use crate::simulate::bonded::system::Load;
use crate::simulate::bonded::work::Taken;
use crate::simulate::contact::pass::ContactPass;
use crate::simulate::contact::polyhedra::pass::ShapePass;
use crate::simulate::contact::wall_list::Walls;
use crate::simulate::methods::voronoi::between::{Across, Between};
use crate::simulate::methods::voronoi::borders;
use crate::simulate::methods::voronoi::columns::Cells;
use crate::simulate::methods::voronoi::dilate::{Dilate, Sums};
use crate::simulate::methods::voronoi::face_pass::{FacePass, Task};
use crate::simulate::methods::voronoi::row_sums::RowSums;
use crate::simulate::methods::voronoi::stress::{Rankine, Virial, put_stress};
use crate::simulate::methods::voronoi::tasks::{self, Act};

/// Scratch buffers for the sums of a chunk.
#[derive(Debug, Default)]
pub(super) struct Room<S> {
    dilation: Sums<S>,
    folding: Sums<S>,
    loads: RowSums<S>,
    virial: RowSums<S>,
}

/// The room of this thread.
fn room<S>(rooms: &[Mutex<Room<S>>]) -> MutexGuard<'_, Room<S>> {
    let thread = rayon::current_thread_index().map_or(0, |k| k + 1);
    let room = rooms[thread % rooms.len()].lock();
    room.unwrap_or_else(PoisonError::into_inner)
}

/// Rows of four of a chunk.
type Rows<'a, S> = &'a mut [Row<S, 4>];

impl<L: Lanes> CellRun<L> {
    /// One force pass: faces, contacts, springs, attached forces.
    pub(super) fn add_loads(&mut self, dt: L::Scalar) {
        let clock = Instant::now();
        self.dilate(|_| true);
        self.costs.bonds.add(clock, rayon::current_num_threads());
        self.act(dt);
        self.run.add_applied();
        borders::absorb(&self.borders, &self.run.system, &mut self.run.load);
    }

    /// Runs a task over all faces of a chunk's cells.
    fn pass<T: Task<L> + Across<L>>(&self, first: usize, rest: &[Row<L::Scalar, 4>], task: &mut T) {
        let system = &self.run.system;
        L::run(FacePass {
            system,
            faces: &self.faces,
            rest,
            first,
            count: self.count(first),
            task: &mut *task,
        });
        L::run(Between {
            system,
            crossings: &self.crossings[first / system.chunk],
            rest,
            task,
        });
    }

    /// Cells of the chunk that begins with `first`.
    fn count(&self, first: usize) -> usize {
        let system = &self.run.system;
        system.chunk.min(system.motion.len() - first)
    }

    /// Brings λε of the cells of the chunks that `wanted` names up to date with where they are, and what
    /// bending puts on the faces of walls.
    pub(super) fn dilate(&mut self, wanted: impl Fn(usize) -> bool + Clone + Send + Sync) {
        let mut pressure = std::mem::take(&mut self.cells.pressure);
        let mut folding = std::mem::take(&mut self.cells.folding);
        let chunk = self.run.system.chunk;
        // Bodies without walls have no rows of these.
        let mut folds: Vec<Rows<L::Scalar>> = folding.chunks_mut(chunk).collect();
        folds.resize_with(pressure.len().div_ceil(chunk), Default::default);
        pressure
            .par_chunks_mut(chunk)
            .zip(folds.par_iter_mut())
            .enumerate()
            .filter(|(chunk, _)| wanted(*chunk))
            .for_each(|(at, (pressure, folding))| {
                self.dilate_chunk(at * chunk, pressure, folding);
            });
        self.cells.pressure = pressure;
        self.cells.folding = folding;
    }

    fn dilate_chunk(&self, first: usize, pressure: Rows<L::Scalar>, folding: Rows<L::Scalar>) {
        let bonds = &self.run.system.bonds;
        let mut room = room(&self.rooms);
        let Room {
            dilation,
            folding: folds,
            ..
        } = &mut *room;
        let walls = !folding.is_empty();
        dilation.clear(self.count(first), bonds.slots);
        if walls {
            folds.clear(self.count(first), bonds.slots);
        }
        let mut task = Dilate::<L> {
            dilation: &mut *dilation,
            folding: &mut *folds,
            others: &bonds.other,
            slots: bonds.slots,
            first,
            walls,
            row: [L::zero(); 2],
        };
        let tail = &self.run.system.tail;
        self.pass(first, tail, &mut task);
        let Cells {
            bulk, thickness, ..
        } = &self.cells;
        for (local, row) in pressure.iter_mut().enumerate() {
            let cell = first + local;
            row.0 = tail[cell].0;
            row.0[3] = dilation.get(local) * bulk[cell];
        }
        for (local, row) in folding.iter_mut().enumerate() {
            let cell = first + local;
            let stiffness = bulk[cell] * Scalar::from_f64(thickness[cell]);
            row.0[0] = folds.get(local) * stiffness;
        }
    }

    /// What faces and contacts do to cells.
    fn act(&mut self, dt: L::Scalar) {
        let mut load = std::mem::take(&mut self.run.load);
        let mut breaks = std::mem::take(&mut self.chunk_breaks);
        let mut taken = std::mem::take(&mut self.taken);
        let mut contacts = std::mem::take(&mut self.run.contacts.chunks);
        let mut solids = std::mem::take(&mut self.run.contacts.solids);
        let mut sums = std::mem::take(&mut self.run.sums);
        let system = &self.run.system;
        let walls = Walls {
            system,
            obstacles: &self.driven.obstacles,
            dt,
            neared: self.run.contacts.neared(),
        };
        let (closed, work) = (self.run.contacts.closed(), self.run.work.is_some());
        load.par_chunks_mut(system.chunk)
            .zip(contacts.par_iter_mut())
            .zip(solids.par_iter_mut())
            .zip(sums.par_iter_mut())
            .zip(breaks.par_iter_mut())
            .zip(taken.par_iter_mut())
            .enumerate()
            .for_each(
                |(chunk, (((((load, contacts), solids), sums), breaks), taken))| {
                    let (first, clock) = (chunk * system.chunk, Instant::now());
                    self.act_chunk(first, load, breaks, (&mut *taken, dt.to_f64()));
                    let clock = self.costs.bonds.add(clock, 1);
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
                    if let Some(shapes) = self.run.contacts.shapes() {
                        ShapePass {
                            walls,
                            shapes,
                            contacts: solids,
                            load: &mut *load,
                            sums: &mut *sums,
                            taken,
                        }
                        .run();
                    }
                    sums.add_held(first, load, &self.driven.holds);
                    self.costs.contacts.add(clock, 1);
                },
            );
        self.run.load = load;
        self.chunk_breaks = breaks;
        self.taken = taken;
        self.run.contacts.chunks = contacts;
        self.run.contacts.solids = solids;
        self.run.sums = sums;
    }

    fn act_chunk(
        &self,
        first: usize,
        load: &mut [Load<L::Scalar>],
        breaks: &mut Vec<BreakEvent>,
        (taken, dt): (&mut [Taken], f64),
    ) {
        let bonds = &self.run.system.bonds;
        let mut room = room(&self.rooms);
        let loads = &mut room.loads;
        loads.clear(load.len(), bonds.slots);
        let mut task = Act::<L> {
            folding: &self.cells.folding,
            loads: &mut *loads,
            others: &bonds.other,
            slots: bonds.slots,
            first,
            limits: self.breakable.then_some(&self.limits),
            breaks,
            row: (Vec3::zero(), Vec3::zero(), L::zero()),
        };
        self.pass(first, &self.cells.pressure, &mut task);
        for (local, load) in load.iter_mut().enumerate() {
            tasks::put_load(loads.get(local), load);
        }
        for (local, taken) in taken.iter_mut().enumerate().take(load.len()) {
            taken.damping += tasks::power(loads.get(local)) * dt;
        }
    }

    /// Brings the stresses of cells up to date, where faces break by them; λε is that of the last force pass.
    pub(super) fn update_stresses(&mut self) {
        let Some(mut stresses) = self.stresses.take() else {
            return;
        };
        let chunk = self.run.system.chunk;
        let chunks = stresses.of.par_chunks_mut(chunk).enumerate();
        chunks.for_each(|(at, rows)| self.stress_chunk(at * chunk, rows));
        self.stresses = Some(stresses);
    }

    fn stress_chunk(&self, first: usize, rows: &mut [Row<L::Scalar, 8>]) {
        let bonds = &self.run.system.bonds;
        let mut room = room(&self.rooms);
        let sums = &mut room.virial;
        sums.clear(rows.len(), bonds.slots);
        let mut task = Virial::<L> {
            sums: &mut *sums,
            others: &bonds.other,
            slots: bonds.slots,
            first,
            row: [L::zero(); 8],
        };
        self.pass(first, &self.cells.pressure, &mut task);
        for (local, row) in rows.iter_mut().enumerate() {
            let volume = self.cells.volumes[first + local].all;
            put_stress(sums.get(local), volume, row);
        }
    }

    /// Finds the faces that break by the stresses of their cells.
    pub(super) fn find_principal_breaks(&mut self) {
        let clock = Instant::now();
        self.update_stresses();
        let Some(stresses) = &self.stresses else {
            return;
        };
        let mut found = std::mem::take(&mut self.chunk_breaks);
        let chunk = self.run.system.chunk;
        let chunks = found.par_iter_mut().enumerate();
        chunks.for_each(|(at, breaks)| {
            let mut task = Rankine::<L> { stresses, breaks };
            L::run(FacePass {
                system: &self.run.system,
                faces: &self.faces,
                rest: &self.cells.pressure,
                first: at * chunk,
                count: self.count(at * chunk),
                task: &mut task,
            });
        });
        self.chunk_breaks = found;
        self.costs.bonds.add(clock, rayon::current_num_threads());
    }
}
