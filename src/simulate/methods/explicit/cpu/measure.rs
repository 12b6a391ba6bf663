//! What a frame records in addition to the columns of elements.

use std::sync::Mutex;

use super::loads::bond_pass;
use super::{Cpu, OtherEndLoads};

use crate::parallel::prelude::*;

use crate::math::Lanes;
use crate::simulate::bonded::bond_tasks::{StressAndEnergy, StressTask};
use crate::simulate::bonded::border::Border;
use crate::simulate::bonded::work;
use crate::simulate::bonded_run::frame::Measured;
use crate::simulate::share::ranks::Receivers;

impl<L: Lanes> Cpu<L> {
    /// Adds the energy dissipated since the last frame to the totals.
    pub(super) fn collect_work(&mut self) {
        if let Some(total) = &mut self.run.work {
            let ranks = &self.run.ranks;
            ranks.gather_chunks(Receivers::First, &mut self.dissipation, |chunk, act| {
                work::each(chunk, act)
            });
            work::drain(&mut self.dissipation, total);
        }
    }

    /// Measures what a frame records, and brings the labels of fragments up to date.
    pub(super) fn measured(&mut self) -> Measured {
        let (mut contact, mut touching) = self.run.contact_totals::<L>(&self.driven.colliders);
        if let Some(sleep) = &self.sleep {
            sleep.add_resting_contacts(&mut contact, &mut touching);
        }
        self.collect_work();
        self.run.label_fragments();
        Measured {
            carried: self.carried(),
            contact,
            touching,
            effort: None,
            sleep: self.sleep_totals(),
        }
    }

    /// Stresses and energies of the bonds of every element of this process, computed from the current motion.
    pub(super) fn carried(&self) -> Vec<StressAndEnergy> {
        // What is not written takes no memory.
        let mut carried: Vec<StressAndEnergy> = bytemuck::zeroed_vec(self.run.system.count);
        self.for_awake_chunks(&mut carried, |carried, border, place| {
            bond_pass::<L, _>(&self.run.system, border, place, StressTask { carried });
        });
        if let Some(rankine) = &self.rankine {
            let (system, owned) = (&self.run.system, self.run.ranks.owned());
            rankine.put_sigmas((system, &owned), &self.run.rest.volume, &mut carried);
        }
        let pieces = self.sleep.iter().flat_map(|sleep| &sleep.pieces);
        for piece in pieces {
            for (&element, own) in piece.elements.iter().zip(&piece.carried) {
                carried[element as usize] = *own;
            }
        }
        carried
    }

    /// Calls `act` for each chunk in which an element is awake, with its part of `rows` (one per element), its
    /// border, its first element and the scratch rows.
    pub(super) fn for_awake_chunks<T: Send>(
        &self,
        rows: &mut [T],
        act: impl Fn(&mut [T], &Border<L::Scalar>, (usize, &[Mutex<OtherEndLoads<L::Scalar>>])) + Sync,
    ) {
        let (chunk, sleep) = (self.run.system.chunk, &self.sleep);
        let owned = self.run.ranks.owned();
        let is_quiet = |at: usize| {
            !owned.contains(at) || sleep.as_ref().is_some_and(|sleep| sleep.is_quiet(at))
        };
        rows.par_chunks_mut(chunk)
            .zip(&self.borders)
            .enumerate()
            .for_each(|(at, (rows, border))| {
                if !is_quiet(at) {
                    act(rows, border, (at * chunk, &self.scratch[..]));
                }
            });
    }
}
