//! A run of bonded elements on several ranks: what they exchange, and when.

use glam::DVec3;

use super::run::BondedRun;
use crate::math::Scalar;
use crate::simulate::bonded::bond_tasks::BreakEvent;
use crate::simulate::bonded::system::System;
use crate::simulate::contact::chunk::{COLLIDER, SpringEntry};
use crate::simulate::contact::rebuild::Candidates;
use crate::simulate::scene::colliders::PosedCollider;
use crate::simulate::scene::reaction_sums::ReactionSums;
use crate::simulate::scene::reactions::Wrench;
use crate::simulate::share::bisection::owners;
use crate::simulate::share::ranks::{Exchange, Receivers};
use crate::simulate::share::shared::centres;

/// What a step did to pair lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListUpdate {
    /// Nothing.
    None,
    /// Displacements were checked: the lists hold.
    Checked,
    /// They were rebuilt.
    Rebuilt,
}

impl<S: Scalar> BondedRun<S> {
    /// Owners of the chunks by which their costs (any unit, equal on all ranks) are shared evenly.
    pub fn balanced_owners(&self, costs: &[f64]) -> Vec<u32> {
        let valence = |i: usize| self.system.bonds.sides(i).count();
        let mut centres = centres(&self.system, &self.ranks.owned(), valence);
        self.ranks.gather_chunks(
            Receivers::All,
            &mut centres,
            |one, act| act(&mut one.centre),
        );
        for (centre, &cost) in centres.iter_mut().zip(costs) {
            centre.weight = cost;
        }
        owners(&centres, self.ranks.count())
    }

    /// Moves chunks to new owners, with their data. Returns whether any moved; the caller must then rebuild the borders
    /// of chunks and call [`plan_exchange`](Self::plan_exchange).
    pub fn move_chunks(&mut self, owner: Vec<u32>, colliders: &[PosedCollider]) -> bool {
        if owner == self.ranks.owners() {
            return false;
        }
        self.move_rows(&owner);
        self.move_bonds(&owner);
        self.ranks
            .gather_chunks(Receivers::All, &mut self.sums, ReactionSums::each);
        if self.contacts.lists_all() {
            self.share_springs();
            self.ranks = self.ranks.with_owners(owner);
            return true;
        }
        let before = self.ranks.owners();
        let moves = |at: usize| owner[at] != before[at];
        let mut springs = self.contacts.springs();
        springs.retain(|side| moves(side.element as usize / self.system.chunk));
        let springs = self.ranks.concatenate(Receivers::All, springs);
        self.ranks = self.ranks.with_owners(owner);
        self.hold_rows();
        self.contacts.keep(self.ranks.owned());
        self.rebuild_lists(colliders);
        self.contacts.restore_springs(&springs);
        true
    }

    /// Finds this rank's ghosts: bond neighbours (also of broken bonds), contact partners, and all elements of spring
    /// attachments. `second_neighbours` adds the neighbours of bond neighbours. To be called after every
    /// rebuild of the lists. Every rank moves the elements for which `is_asleep` is true, and reads those that may
    /// touch them.
    pub fn plan_exchange(&mut self, second_neighbours: bool, is_asleep: impl Fn(usize) -> bool) {
        if self.ranks.is_alone() {
            return;
        }
        if !self.contacts.lists_all() {
            // All ranks choose the same skin.
            let exposed = self.ranks.sum(self.contacts.exposed() as u64);
            self.contacts.set_exposed_of_all(exposed as usize);
        }
        let (system, owned) = (&self.system, self.ranks.owned());
        let is_own = |i: usize| owned.contains(i / system.chunk);
        let mut needed = vec![false; system.motion.len()];
        let mut reads_ghosts = vec![false; system.motion.len().div_ceil(system.chunk)];
        for i in (0..system.count).filter(|&i| is_own(i)) {
            let mut need = |other: usize| {
                needed[other] = true;
                reads_ghosts[i / system.chunk] |= !is_own(other);
            };
            for side in system.bonds.sides(i) {
                need(side.other);
                // Also if `side.other` is on this rank: its neighbours may not be.
                if second_neighbours {
                    let next = system.bonds.sides(side.other);
                    next.for_each(|side| need(side.other));
                }
            }
        }
        for (at, reads) in reads_ghosts
            .iter_mut()
            .enumerate()
            .filter(|one| owned.contains(one.0))
        {
            self.contacts.each_partner_outside(at, |partner| {
                needed[partner as usize] = true;
                *reads |= !is_own(partner as usize);
            });
        }
        for &element in self.springs.attached(&self.supports) {
            needed[element as usize] = true;
        }
        if self.contacts.lists_all() {
            self.contacts.each_pair(|element, partner| {
                let ends = [element, partner].map(|end| end as usize);
                if partner < COLLIDER && is_asleep(ends[0]) != is_asleep(ends[1]) {
                    ends.into_iter().for_each(|end| needed[end] = true);
                }
            });
        }
        let needed = (0..system.count).filter(|&i| needed[i] && !is_own(i) && !is_asleep(i));
        self.ranks
            .set_ghosts(needed.map(|i| i as u32), reads_ghosts);
    }

    /// Rebuilds the contact lists; receives the rows that this reads, unless this rank lists the contacts of all: then
    /// it must know all rows.
    pub fn rebuild_lists(&mut self, colliders: &[PosedCollider]) {
        if self.contacts.lists_all() {
            return self.contacts.rebuild(&self.system, colliders);
        }
        let candidates = self.receive_candidates();
        let (contacts, system) = (&mut self.contacts, &self.system);
        contacts.rebuild_among(system, colliders, candidates.as_ref());
    }

    /// The elements of which this rank knows the positions after having received those near its own; `None` if it is
    /// alone.
    fn receive_candidates(&mut self) -> Option<Candidates> {
        if self.ranks.is_alone() {
            return None;
        }
        let mut exposure = self.contacts.exposures(&self.system);
        // Without the padding, whose rows would stretch the box of the last chunk to the origin.
        let rows = &mut self.system.motion[..self.system.count];
        let near = (rows, &mut self.system.tail[..], &mut exposure[..]);
        let known = self.ranks.receive_near(near, self.contacts.reach());
        Some(Candidates {
            colliders: known.clone(),
            pairs: known,
            exposure: Some(exposure),
        })
    }

    /// Updates the contact lists after a step in which elements and colliders moved at most these distances, m.
    /// Receives the rows that a rebuild reads.
    pub fn advance_lists(
        &mut self,
        distances: (f64, f64),
        colliders: &[PosedCollider],
    ) -> ListUpdate {
        let (contacts, system) = (&mut self.contacts, &self.system);
        contacts.follow(distances);
        let far = contacts.are_colliders_due();
        let are_checked = contacts.are_pairs_due();
        let mut rebuilds = are_checked;
        if are_checked {
            let (low, high) = contacts.displacements(system);
            let mut most = [(-low).to_array(), high.to_array()].concat();
            self.ranks.largest(&mut most);
            let [low, high] = [-DVec3::from_slice(&most), DVec3::from_slice(&most[3..])];
            rebuilds = !contacts.hold((low, high));
        }
        let mut renews_colliders = far;
        let mut candidates = None;
        if rebuilds {
            renews_colliders |= contacts.adapt_skin();
            candidates = self.receive_candidates();
            let (contacts, system) = (&mut self.contacts, &self.system);
            contacts.rebuild_pairs(system, candidates.as_ref());
        }
        if renews_colliders {
            let (contacts, system) = (&mut self.contacts, &self.system);
            contacts.rebuild_near_among(system, colliders, candidates.as_ref());
        }
        match (are_checked, rebuilds) {
            (false, _) => ListUpdate::None,
            (true, false) => ListUpdate::Checked,
            (true, true) => ListUpdate::Rebuilt,
        }
    }

    /// Begins the exchange of ghosts; `None` if this process is alone.
    pub fn begin_exchange(&mut self) -> Option<Exchange> {
        let System { motion, tail, .. } = &self.system;
        self.ranks.begin_exchange(motion, tail)
    }

    /// Ends what [`begin_exchange`](Self::begin_exchange) began.
    pub fn end_exchange(&mut self, exchange: Exchange) {
        let System { motion, tail, .. } = &mut self.system;
        self.ranks.end_exchange(exchange, motion, tail);
    }

    /// Brings the broken bonds of all chunks up to date at every rank; the rows of their ends at rank 0, or at every
    /// rank if all hold all bonds.
    pub fn share_breaks(&mut self, chunks: &mut [Vec<BreakEvent>]) {
        if self.ranks.is_alone() {
            return;
        }
        self.ranks.share_breaks(chunks);
        let mut elements = Vec::new();
        for event in chunks.iter().flatten() {
            elements.extend([event.i, event.j]);
        }
        if elements.is_empty() {
            return;
        }
        self.share_bonds(chunks);
        elements.sort_unstable();
        elements.dedup();
        let (ranks, system) = (&self.ranks, &mut self.system);
        // Otherwise a rank that holds a bond owns one of its ends. The row of the other one, a ghost, is up to date.
        let receivers = match system.bonds.holds_all() {
            true => Receivers::All,
            false => Receivers::First,
        };
        ranks.fetch(receivers, &elements, &mut system.motion);
        ranks.fetch(receivers, &elements, &mut system.tail);
    }

    /// Loads on all supports, at rank 0; the sums are reset to zero.
    pub fn take_sums(&mut self) -> Vec<Wrench> {
        self.ranks
            .gather_chunks(Receivers::First, &mut self.sums, ReactionSums::each);
        ReactionSums::take(&self.supports, &mut self.sums)
    }

    /// Brings the motion of these elements up to date at every rank.
    pub fn share_rows(&mut self, elements: &[u32]) {
        let (ranks, system) = (&self.ranks, &mut self.system);
        ranks.fetch(Receivers::All, elements, &mut system.motion);
        ranks.fetch(Receivers::All, elements, &mut system.tail);
    }

    /// Brings the springs of all contacts up to date at every rank, where each lists all contacts.
    pub fn share_springs(&mut self) {
        if self.ranks.is_alone() {
            return;
        }
        let owned = self.ranks.owned();
        let springs = self.contacts.springs_of(&owned);
        let springs = self.ranks.concatenate(Receivers::All, springs);
        self.contacts.replace_springs(&springs, &owned);
    }

    /// Nonzero springs of all contacts, at rank 0, sorted by element and partner.
    pub(super) fn gather_springs(&self) -> Vec<SpringEntry<S>> {
        let own = self.contacts.springs_of(&self.ranks.owned());
        let mut springs = self.ranks.concatenate(Receivers::First, own);
        if !self.ranks.is_alone() {
            springs.sort_unstable_by_key(|side| (side.element, side.partner));
        }
        springs
    }
}
