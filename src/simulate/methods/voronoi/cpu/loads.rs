//! The face passes of a step: λε of all cells, then force and torque, with contacts, springs and attached
//! forces.
//!
//! The sums of a chunk of cells stay in the cache of a core. The only data between the two passes is λε of
//! each cell, which the second pass needs for both cells of a face.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::CellRun;
use crate::math::lanes::LaneRow;
use crate::math::{Lanes, Scalar, Vec3};
use crate::parallel::prelude::*;
use crate::simulate::bonded::bond_tasks::BreakEvent;
use crate::simulate::bonded::system::LoadRow;
use crate::simulate::bonded::work::Dissipation;
use crate::simulate::contact::collider_list::ColliderContext;
use crate::simulate::contact::pass::ContactPass;
use crate::simulate::contact::polyhedra::pass::ShapePass;
use crate::simulate::methods::voronoi::borders;
use crate::simulate::methods::voronoi::columns::Cells;
use crate::simulate::methods::voronoi::crossing_pass::{CrossingPass, CrossingTask};
use crate::simulate::methods::voronoi::dilate::{DilationSums, DilationTask};
use crate::simulate::methods::voronoi::face_pass::{FacePass, FaceTask};
use crate::simulate::methods::voronoi::row_sums::RowSums;
use crate::simulate::methods::voronoi::stress::{RankineTask, VirialTask, put_stress};
use crate::simulate::methods::voronoi::tasks::{self, FaceLoadTask};

/// Scratch buffers for the sums of a chunk.
#[derive(Debug, Default)]
pub(super) struct ChunkScratch<S> {
    dilation: DilationSums<S>,
    folding: DilationSums<S>,
    loads: RowSums<S>,
    virial: RowSums<S>,
}

/// The scratch buffers of this thread.
fn lock_scratch<S>(scratch: &[Mutex<ChunkScratch<S>>]) -> MutexGuard<'_, ChunkScratch<S>> {
    let thread = rayon::current_thread_index().map_or(0, |k| k + 1);
    let buffers = scratch[thread % scratch.len()].lock();
    buffers.unwrap_or_else(PoisonError::into_inner)
}

/// Rows of four numbers of a chunk.
type ChunkRows<'a, S> = &'a mut [LaneRow<S, 4>];

impl<L: Lanes> CellRun<L> {
    /// One force pass: faces, contacts, springs, attached forces.
    pub(super) fn add_loads(&mut self, dt: L::Scalar) {
        let clock = Instant::now();
        self.update_dilation(|_| true);
        self.costs.bonds.add(clock, rayon::current_num_threads());
        self.add_face_loads(dt);
        self.run.add_applied();
        borders::absorb(&self.absorbing_sides, &self.run.system, &mut self.run.load);
    }

    /// Runs a task over all faces of a chunk's cells.
    fn pass<T: FaceTask<L> + CrossingTask<L>>(
        &self,
        first: usize,
        rest: &[LaneRow<L::Scalar, 4>],
        task: &mut T,
    ) {
        let system = &self.run.system;
        L::run(FacePass {
            system,
            faces: &self.faces,
            rest,
            first,
            count: self.count(first),
            task: &mut *task,
        });
        L::run(CrossingPass {
            system,
            crossings: &self.crossings[first / system.chunk],
            rest,
            task,
        });
    }

    /// Number of cells of the chunk whose first cell is `first`.
    fn count(&self, first: usize) -> usize {
        let system = &self.run.system;
        system.chunk.min(system.motion.len() - first)
    }

    /// Updates λε of the cells of the `wanted` chunks from their current positions, and the bending moments
    /// on the faces of one-layer walls.
    pub(super) fn update_dilation(&mut self, wanted: impl Fn(usize) -> bool + Clone + Send + Sync) {
        let mut pressure = std::mem::take(&mut self.cells.pressure);
        let mut folding = std::mem::take(&mut self.cells.folding);
        let chunk = self.run.system.chunk;
        // Bodies without walls have no rows of these.
        let mut folds: Vec<ChunkRows<L::Scalar>> = folding.chunks_mut(chunk).collect();
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

    fn dilate_chunk(
        &self,
        first: usize,
        pressure: ChunkRows<L::Scalar>,
        folding: ChunkRows<L::Scalar>,
    ) {
        let bonds = &self.run.system.bonds;
        let mut scratch = lock_scratch(&self.scratch);
        let ChunkScratch {
            dilation,
            folding: folds,
            ..
        } = &mut *scratch;
        let walls = !folding.is_empty();
        dilation.clear(self.count(first), bonds.slots);
        if walls {
            folds.clear(self.count(first), bonds.slots);
        }
        let mut task = DilationTask::<L> {
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

    /// Adds the loads of faces and contacts to cells.
    fn add_face_loads(&mut self, dt: L::Scalar) {
        let mut load = std::mem::take(&mut self.run.load);
        let mut breaks = std::mem::take(&mut self.chunk_breaks);
        let mut dissipation = std::mem::take(&mut self.dissipation);
        let mut contacts = std::mem::take(&mut self.run.contacts.chunks);
        let mut solids = std::mem::take(&mut self.run.contacts.solids);
        let mut sums = std::mem::take(&mut self.run.sums);
        let system = &self.run.system;
        let collider_context = ColliderContext {
            system,
            colliders: &self.driven.colliders,
            dt,
            collider_approach: self.run.contacts.collider_approach(),
            barrier: self.run.contacts.has_barrier(),
        };
        let (pair_approach, work) = (self.run.contacts.pair_approach(), self.run.work.is_some());
        load.par_chunks_mut(system.chunk)
            .zip(contacts.par_iter_mut())
            .zip(solids.par_iter_mut())
            .zip(sums.par_iter_mut())
            .zip(breaks.par_iter_mut())
            .zip(dissipation.par_iter_mut())
            .enumerate()
            .for_each(
                |(chunk, (((((load, contacts), solids), sums), breaks), dissipation))| {
                    let (first, clock) = (chunk * system.chunk, Instant::now());
                    self.add_chunk_loads(first, load, breaks, (&mut *dissipation, dt.to_f64()));
                    let clock = self.costs.bonds.add(clock, 1);
                    ContactPass::<L, false, false, false> {
                        collider_context,
                        pair_approach,
                        first,
                        contacts,
                        load: &mut *load,
                        sums: &mut *sums,
                        dissipation: &mut *dissipation,
                    }
                    .run_contacts(work);
                    if let Some(shapes) = self.run.contacts.shapes() {
                        ShapePass {
                            collider_context,
                            shapes,
                            contacts: solids,
                            load: &mut *load,
                            sums: &mut *sums,
                            dissipation,
                        }
                        .run();
                    }
                    sums.add_held(first, load, &self.driven.poses);
                    self.costs.contacts.add(clock, 1);
                },
            );
        self.run.load = load;
        self.chunk_breaks = breaks;
        self.dissipation = dissipation;
        self.run.contacts.chunks = contacts;
        self.run.contacts.solids = solids;
        self.run.sums = sums;
    }

    fn add_chunk_loads(
        &self,
        first: usize,
        load: &mut [LoadRow<L::Scalar>],
        breaks: &mut Vec<BreakEvent>,
        (dissipation, dt): (&mut [Dissipation], f64),
    ) {
        let bonds = &self.run.system.bonds;
        let mut scratch = lock_scratch(&self.scratch);
        let loads = &mut scratch.loads;
        loads.clear(load.len(), bonds.slots);
        let mut task = FaceLoadTask::<L> {
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
        for (local, dissipation) in dissipation.iter_mut().enumerate().take(load.len()) {
            dissipation.damping += tasks::power(loads.get(local)) * dt;
        }
    }

    /// Updates the stresses of cells if faces break by them; λε is that of the last force pass.
    pub(super) fn update_stresses(&mut self) {
        let Some(mut stresses) = self.stresses.take() else {
            return;
        };
        let chunk = self.run.system.chunk;
        let chunks = stresses.cells.par_chunks_mut(chunk).enumerate();
        chunks.for_each(|(at, rows)| self.stress_chunk(at * chunk, rows));
        self.stresses = Some(stresses);
    }

    fn stress_chunk(&self, first: usize, rows: &mut [LaneRow<L::Scalar, 8>]) {
        let bonds = &self.run.system.bonds;
        let mut scratch = lock_scratch(&self.scratch);
        let sums = &mut scratch.virial;
        sums.clear(rows.len(), bonds.slots);
        let mut task = VirialTask::<L> {
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
            let mut task = RankineTask::<L> { stresses, breaks };
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
