//! Breaking of faces, and stresses of faces.

use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::time::Instant;

use super::CellRun;
use crate::math::Lanes;
use crate::parallel::prelude::*;
use crate::simulate::bonded::bond_tasks::StressAndEnergy;
use crate::simulate::methods::voronoi::columns::Cells;
use crate::simulate::methods::voronoi::face_pass::FacePass;
use crate::simulate::methods::voronoi::tasks::FaceStressTask;

impl<L: Lanes> CellRun<L> {
    /// Removes broken faces: each of their cells gets one more free face, and the two may touch.
    pub(super) fn break_faces(&mut self) {
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
        let chunk = self.run.system.chunk;
        // The owners are among these cells.
        let chunks: BTreeSet<usize> = ends.iter().map(|&cell| cell as usize / chunk).collect();
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
        let energy = |_: &_, entry: usize| Some(held.get(entry)?.energy);
        let crossings = &mut self.crossings;
        self.run.break_bonds(events, at, energy, |system, entry| {
            let other = system.bonds.other[entry as usize];
            crossings[other as usize / chunk].unbond(entry);
        });
        for &cell in &ends {
            self.refresh(cell as usize);
        }
        self.update_dilation(|chunk| chunks.contains(&chunk));
        let after = stored(&self.cells);
        if let Some(work) = &mut self.run.work {
            work.breaking += before - after;
        }
        self.costs.breaks.add(clock, 1);
    }

    /// Updates a cell after its faces have broken.
    pub(super) fn refresh(&mut self, cell: usize) {
        let bonds = &self.run.system.bonds;
        self.cells.refresh(cell, bonds, &self.faces);
        if let Some(stresses) = &mut self.stresses {
            stresses.refresh(cell, bonds);
        }
    }

    /// Stresses and gap and bending energies of the faces of the `wanted` chunks, by entry; zero for others.
    fn carried(
        &self,
        wanted: impl Fn(usize) -> bool + Clone + Send + Sync,
    ) -> Vec<StressAndEnergy> {
        let system = &self.run.system;
        // Without bonds there are no entries; use one row per chunk nevertheless.
        let slots = system.bonds.slots.max(1);
        let per_chunk = system.chunk * slots;
        let mut carried = vec![StressAndEnergy::default(); system.motion.len() * slots];
        carried
            .par_chunks_mut(per_chunk)
            .enumerate()
            .filter(|(chunk, _)| wanted(*chunk))
            .for_each(|(chunk, carried)| {
                let mut task = FaceStressTask::<L> {
                    folding: &self.cells.folding,
                    limits: &self.limits,
                    stresses: self.stresses.as_ref(),
                    carried,
                    base: chunk * per_chunk,
                    lanes: PhantomData,
                };
                let first = chunk * system.chunk;
                L::run(FacePass {
                    system,
                    faces: &self.faces,
                    rest: &self.cells.pressure,
                    first,
                    count: system.chunk.min(system.motion.len() - first),
                    task: &mut task,
                });
            });
        carried
    }

    /// Loads of each cell: the largest stresses of its intact faces, half of their energies, and its own
    /// energy of dilation.
    pub(super) fn carried_by_cells(&self) -> Vec<StressAndEnergy> {
        let (system, carried) = (&self.run.system, self.carried(|_| true));
        let of = |cell: usize| {
            let mut sum = StressAndEnergy {
                energy: self.cells.own_energy(cell),
                ..StressAndEnergy::default()
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
}
