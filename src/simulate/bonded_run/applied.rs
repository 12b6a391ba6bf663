//! External loads on elements (pressures, springs, attached forces and torques), and totals over contacts.

use glam::DVec3;

use super::run::BondedRun;
use crate::math::{Lanes, Scalar};
use crate::parallel::prelude::*;
use crate::simulate::contact::collider_list::ColliderContext;
use crate::simulate::contact::pass::{ContactTotals, MeasurePass};
use crate::simulate::contact::polyhedra::pass::measure;
use crate::simulate::scene::colliders::PosedCollider;
use crate::simulate::scene::springs;
use crate::simulate::share::ranks::Receivers;

impl<S: Scalar> BondedRun<S> {
    /// Adds pressures, spring forces and attached forces and torques to the loads.
    pub fn add_applied(&mut self) {
        let (owned, chunk) = (self.ranks.owned(), self.system.chunk);
        let is_own = |element: u32| owned.contains(element as usize / chunk);
        for (element, force) in self.supports.pressures(&self.system) {
            if !is_own(element) {
                continue;
            }
            add(&mut self.load[element as usize].0[..3], force);
        }
        let time = self.time();
        let pulls = self.springs.pulls(time);
        for pull in pulls.iter().filter(|pull| is_own(pull.element)) {
            add(
                &mut self.load[pull.element as usize].0[..3],
                pull.force(&self.system),
            );
        }
        self.sums[0].add_springs(springs::wrenches(&pulls, &self.supports, &self.system));
        for attached in &self.forces {
            let factor = attached.signal.map_or(1.0, |signal| signal.at(time));
            let (force, torque) = (attached.force * factor, attached.torque * factor);
            for &element in attached.elements.iter().filter(|one| is_own(**one)) {
                let load = &mut self.load[element as usize];
                add(&mut load.0[..3], force);
                // Adding zero could change the sign bit of a zero.
                if torque != DVec3::ZERO {
                    add(&mut load.0[4..7], torque);
                }
            }
        }
    }

    /// Totals over all contacts, and the number of elements that touch each collider.
    pub fn contact_totals<L: Lanes<Scalar = S>>(
        &self,
        colliders: &[PosedCollider],
    ) -> (ContactTotals, Vec<u32>) {
        let collider_context = ColliderContext {
            system: &self.system,
            colliders,
            dt: Scalar::from_f64(0.0),
            collider_approach: self.contacts.collider_approach(),
            barrier: self.contacts.has_barrier(),
        };
        let (chunk, owned) = (self.system.chunk, self.ranks.owned());
        // What is not written takes no memory.
        let mut energies: Vec<f64> = bytemuck::zeroed_vec(self.system.motion.len());
        let parts: Vec<_> = energies
            .par_chunks_mut(chunk)
            .zip(&self.contacts.chunks)
            .enumerate()
            .map(|(k, (energy, contacts))| {
                let mut touching = vec![0; colliders.len()];
                if !owned.contains(k) {
                    return (0, touching);
                }
                let mut sides = L::run(MeasurePass {
                    collider_context,
                    first: k * chunk,
                    energy: &mut *energy,
                    touching: &mut touching,
                    contacts,
                });
                if let Some(shapes) = self.contacts.shapes() {
                    let solids = &self.contacts.solids[k];
                    sides += measure((&collider_context, shapes), solids, energy, &mut touching);
                }
                (sides, touching)
            })
            .collect();
        let none = (0, vec![0; colliders.len()]);
        let (sides, touching) = parts
            .into_iter()
            .fold(none, |(a, mut touching), (b, more)| {
                for (all, more) in touching.iter_mut().zip(more) {
                    *all += more;
                }
                (a + b, touching)
            });
        // Those of other ranks are missing so far.
        let mut energy = 0.0;
        self.ranks.each_window(
            self.system.count,
            |i| energies[i],
            |_, window| {
                energy = window.iter().fold(energy, |sum, one| sum + one);
            },
        );
        let counts = std::iter::once(sides).chain(touching.iter().map(|&count| u64::from(count)));
        let counts = self.ranks.concatenate(Receivers::First, counts.collect());
        let total = |at: usize| {
            counts
                .iter()
                .skip(at)
                .step_by(1 + colliders.len())
                .sum::<u64>()
        };
        let totals = ContactTotals {
            energy,
            sides: total(0),
        };
        let touching = (1..=colliders.len()).map(|at| total(at) as u32);
        (totals, touching.collect())
    }
}

fn add<S: Scalar>(sums: &mut [S], vector: DVec3) {
    for (sum, value) in sums.iter_mut().zip(vector.to_array()) {
        *sum = *sum + S::from_f64(value);
    }
}
