//! Sleep on several ranks: every rank holds all elements and bonds, lists all contacts, moves all that sleeps and
//! decides what falls asleep or wakes, from the same numbers. Only what is awake is shared out.

use xxhash_rust::xxh3::Xxh3;

use super::Cpu;
use crate::math::Lanes;
use crate::simulate::error::SimulateError;
use crate::simulate::share::bytes::Record;
use crate::simulate::share::ranks::Receivers;

impl<L: Lanes> Cpu<L> {
    /// Elements that are awake, ascending; none without sleep.
    pub(super) fn awake_elements(&self) -> impl Iterator<Item = u32> {
        self.sleep.iter().flat_map(|sleep| {
            let all = 0..self.run.system.count as u32;
            all.filter(|&i| !sleep.is_asleep(i as usize))
        })
    }

    /// Brings the motion of all that is awake up to date at every rank, to decide about sleep or to list contacts.
    pub(super) fn share_awake(&mut self) {
        if self.sleep.is_some() && !self.run.ranks.is_alone() {
            let awake: Vec<u32> = self.awake_elements().collect();
            self.run.share_rows(&awake);
        }
    }

    /// Brings the records of these elements up to date at every rank.
    pub(super) fn share_elements<T: Record>(
        &self,
        elements: impl Iterator<Item = u32>,
        rows: &mut [T],
    ) {
        if !self.run.ranks.is_alone() {
            let elements: Vec<u32> = elements.collect();
            self.run.ranks.fetch(Receivers::All, &elements, rows);
        }
    }

    /// Brings the springs of all contacts up to date at every rank, to keep those that the lists leave out.
    pub(super) fn share_springs(&mut self) {
        if std::mem::take(&mut self.springs_due) {
            self.run.share_springs();
        }
    }

    /// Brings the loads on elements of pieces with listed contacts up to date at every rank: all move the pieces.
    pub(super) fn share_loads_on_pieces(&mut self) {
        if !self.near.is_empty() {
            let (ranks, near) = (&self.run.ranks, &self.near);
            ranks.fetch(Receivers::All, near, &mut self.run.load);
        }
    }

    /// Plans the exchange of ghosts after the contacts of fragments that may sleep were listed.
    pub(super) fn plan_shared_sleep(&mut self) {
        if self.sleep.is_some() {
            self.plan_exchange();
        }
    }

    /// After contacts were listed in a step: moves chunks to other ranks if that pays, else plans the exchange.
    pub(super) fn rebalance_with_sleep(&mut self) {
        if self.sleep.is_some() && !self.run.ranks.is_alone() && !self.rebalance() {
            self.plan_exchange();
        }
    }

    /// Compares what all ranks computed of the fragments that sleep.
    ///
    /// # Errors
    /// A rank has other numbers than rank 0.
    pub(super) fn agree_on_sleep(&self) -> Result<(), SimulateError> {
        let Some(sleep) = self.sleep.as_ref().filter(|_| !self.run.ranks.is_alone()) else {
            return Ok(());
        };
        let mut hash = Xxh3::new();
        let counts = [self.run.step, sleep.awake() as u64, self.near.len() as u64];
        hash.update(bytemuck::bytes_of(&counts));
        for piece in &sleep.pieces {
            hash.update(bytemuck::bytes_of(&[piece.number, u32::from(piece.still)]));
            hash.update(bytemuck::bytes_of(&piece.body.moving.to_numbers()));
        }
        let all = self
            .run
            .ranks
            .concatenate(Receivers::All, vec![hash.digest()]);
        match all.iter().position(|one| *one != all[0]) {
            None => Ok(()),
            Some(rank) => Err(SimulateError::SleepDiffers {
                rank,
                step: self.run.step,
            }),
        }
    }
}
