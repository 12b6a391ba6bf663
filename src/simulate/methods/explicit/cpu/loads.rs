//! Force pass: bonds, contacts, springs, attached forces.

use super::{Cpu, OtherEndLoads};
use std::sync::Mutex;
use std::time::Instant;

use crate::laws::table::{dispatch_law, with_law};
use crate::math::{Lanes, Scalar};
use crate::parallel::prelude::*;
use crate::simulate::bonded::bond_pass::{BondPass, BondTask};
use crate::simulate::bonded::bond_tasks::LoadTask;
use crate::simulate::bonded::border::Border;
use crate::simulate::bonded::system::System;
use crate::simulate::contact::collider_list::ColliderContext;
use crate::simulate::contact::pass::ContactPass;

/// Contacts up to which one thread evaluates all.
const FEW_CONTACTS: usize = 2000;

/// Chunks of this rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All of them.
    All,
    /// Those that read no ghosts.
    WithoutGhosts,
    /// The others.
    WithGhosts,
}

impl<L: Lanes> Cpu<L> {
    /// One force pass: bonds, contacts, springs, attached forces.
    pub(super) fn add_loads(&mut self, dt: L::Scalar) {
        self.add_loads_on_ranks(dt);
        self.run.add_applied();
        self.springs_due = true;
        self.share_loads_on_pieces();
    }

    /// Adds the loads of bonds, of contacts between elements, and of contacts with colliders, one chunk per
    /// task.
    pub(super) fn add_bonds_and_contacts(&mut self, dt: L::Scalar, part: Part) {
        let system = &self.run.system;
        let collider_context = ColliderContext {
            system,
            colliders: &self.driven.colliders,
            dt,
            collider_approach: self.run.contacts.collider_approach(),
            barrier: self.run.contacts.has_barrier(),
        };
        let pair_approach = self.run.contacts.pair_approach();
        let (scratch, costs, damped) = (&self.scratch, &self.costs, self.damped);
        let (poses, hydrostatic, rest) =
            (&self.driven.poses, &self.run.hydrostatic, &self.run.rest);
        let work = self.run.work.is_some();
        let rankine = &self.rankine;
        let (sleep, near) = (&self.sleep, &self.near);
        let (ranks, owned, chunk_costs) =
            (&self.run.ranks, self.run.ranks.owned(), &self.chunk_costs);
        // A few contacts of sleeping fragments are not worth waking a thread for.
        let is_short = sleep.as_ref().is_some_and(|one| one.awake() == 0)
            && self.run.contacts.sides() < FEW_CONTACTS;
        let least = if is_short { self.borders.len() + 1 } else { 1 };
        self.run
            .load
            .par_chunks_mut(system.chunk)
            .zip(self.run.contacts.chunks.par_iter_mut())
            .zip(self.chunk_breaks.par_iter_mut())
            .zip(self.run.sums.par_iter_mut())
            .zip(self.virials.par_iter_mut())
            .zip(self.dissipation.par_iter_mut())
            .zip(&self.borders)
            .enumerate()
            .with_min_len(least)
            .for_each(
                |(chunk, ((((((load, contacts), breaks), sums), virial), dissipation), border))| {
                    let is_in_part = match part {
                        Part::All => true,
                        Part::WithoutGhosts => !ranks.reads_ghosts(chunk),
                        Part::WithGhosts => ranks.reads_ghosts(chunk),
                    };
                    if !owned.contains(chunk) || !is_in_part {
                        return;
                    }
                    let first = chunk * system.chunk;
                    let start = Instant::now();
                    let place = (first, &scratch[..]);
                    macro_rules! bonds {
                        ($extra:literal) => {{
                            let task = LoadTask::<_, $extra> {
                                load: &mut *load,
                                damped,
                                breaks: &mut *breaks,
                                virial: &mut *virial,
                                bounds: rankine.is_some(),
                                dissipation: &mut *dissipation,
                                dt: dt.to_f64(),
                            };
                            bond_pass::<L, _>(system, border, place, task)
                        }};
                    }
                    match sleep {
                        Some(sleep) if sleep.is_quiet(chunk) => {
                            sleep.clear_loads(near, first, load);
                        }
                        _ if hydrostatic.is_some() || rankine.is_some() || work => bonds!(true),
                        _ => bonds!(false),
                    }
                    if let Some(criterion) = hydrostatic {
                        criterion.find_breaks(system, &rest.volume, first, virial, breaks);
                    }
                    if let Some(criterion) = rankine {
                        criterion.put_breaking_sigmas(system, &rest.volume, breaks);
                        criterion.find_breaks(system, &rest.volume, first, virial, breaks);
                    }
                    let clock = costs.bonds.add(start, 1);
                    ContactPass::<L, false, false, false> {
                        collider_context,
                        pair_approach,
                        first,
                        contacts,
                        load: &mut *load,
                        sums: &mut *sums,
                        dissipation,
                    }
                    .run_contacts(work);
                    sums.add_held(first, load, poses);
                    costs.contacts.add(clock, 1);
                    if let Some(cost) = chunk_costs.get(chunk) {
                        cost.add(start, 1);
                    }
                },
            );
    }
}

/// Runs a task over the bonds of the chunk whose first element is `first`.
pub(super) fn bond_pass<L: Lanes, T: BondTask<L>>(
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
            other_end_loads: &mut other_end_loads,
            task,
        });
    });
}
