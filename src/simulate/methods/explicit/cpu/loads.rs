//! Force pass: bonds, contacts, springs, attached forces.

use super::{Cpu, OtherEndLoads};
use std::sync::Mutex;
use std::time::Instant;

use crate::laws::table::{dispatch_law, with_law};
use crate::math::{Lanes, Scalar};
use crate::parallel::prelude::*;
use crate::simulate::bonded::bond_pass::{BondPass, Border, Task};
use crate::simulate::bonded::bond_tasks::Loads;
use crate::simulate::bonded::system::System;
use crate::simulate::contact::pass::ContactPass;
use crate::simulate::contact::wall_list::Walls;

impl<L: Lanes> Cpu<L> {
    /// One force pass: bonds, contacts, springs, attached forces.
    pub(super) fn add_loads(&mut self, dt: L::Scalar) {
        self.add_bonds_and_contacts(dt);
        self.run.add_applied();
    }

    /// Adds the loads of bonds, of contacts between elements, and of contacts with colliders, one chunk per
    /// task.
    fn add_bonds_and_contacts(&mut self, dt: L::Scalar) {
        let system = &self.run.system;
        let walls = Walls {
            system,
            obstacles: &self.driven.obstacles,
            dt,
            neared: self.run.contacts.neared(),
        };
        let closed = self.run.contacts.closed();
        let (scratch, costs, damped) = (&self.scratch, &self.costs, self.damped);
        let (holds, hydrostatic, rest) =
            (&self.driven.holds, &self.run.hydrostatic, &self.run.rest);
        let work = self.run.work.is_some();
        self.run
            .load
            .par_chunks_mut(system.chunk)
            .zip(self.run.contacts.chunks.par_iter_mut())
            .zip(self.chunk_breaks.par_iter_mut())
            .zip(self.run.sums.par_iter_mut())
            .zip(self.virials.par_iter_mut())
            .zip(self.taken.par_iter_mut())
            .zip(&self.borders)
            .enumerate()
            .for_each(
                |(chunk, ((((((load, contacts), breaks), sums), virial), taken), border))| {
                    let first = chunk * system.chunk;
                    let clock = Instant::now();
                    let place = (first, &scratch[..]);
                    macro_rules! bonds {
                        ($extra:literal) => {{
                            let task = Loads::<_, $extra> {
                                load: &mut *load,
                                damped,
                                breaks: &mut *breaks,
                                virial: &mut *virial,
                                taken: &mut *taken,
                                dt: dt.to_f64(),
                            };
                            bond_pass::<L, _>(system, border, place, task)
                        }};
                    }
                    match hydrostatic.is_some() || work {
                        false => bonds!(false),
                        true => bonds!(true),
                    }
                    if let Some(criterion) = hydrostatic {
                        criterion.look(system, &rest.volume, first, virial, breaks);
                    }
                    let clock = costs.bonds.add(clock, 1);
                    ContactPass::<L, false> {
                        walls,
                        closed,
                        first,
                        contacts,
                        load: &mut *load,
                        sums: &mut *sums,
                        taken,
                    }
                    .run_on(work);
                    sums.add_held(first, load, holds);
                    costs.contacts.add(clock, 1);
                },
            );
    }
}

/// Runs a task over the bonds of the chunk whose first element is `first`.
pub(super) fn bond_pass<L: Lanes, T: Task<L>>(
    system: &System<L::Scalar>,
    border: &Border<L::Scalar>,
    (first, scratch): (usize, &[Mutex<OtherEndLoads<L::Scalar>>]),
    task: T,
) {
    let thread = rayon::current_thread_index().map_or(0, |k| k + 1);
    let mut other_end_loads = scratch[thread % scratch.len()]
        .lock()
        .expect("no pass panics while it holds the lock");
    with_law!(system.law, law => {
        L::run(BondPass {
            law,
            system,
            border,
            first,
            count: system.chunk.min(system.motion.len() - first),
            handed: &mut other_end_loads,
            task,
        });
    });
}
