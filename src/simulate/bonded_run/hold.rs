//! What a rank of several holds: the bonds of its own elements; and how ranks learn about other bonds.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::run::BondedRun;
use crate::math::{Scalar, UnionFind};
use crate::simulate::bonded::bond_tasks::BreakEvent;
use crate::simulate::bonded::breaks::{BondBeforeBreak, BreakingBond};
use crate::simulate::bonded::fragments;
use crate::simulate::bonded::held::{HeldBond, HeldBonds};
use crate::simulate::bonded::owned::OwnedChunks;
use crate::simulate::share::bytes::{Reader, Record, put};
use crate::simulate::share::ranks::Receivers;

impl<S: Scalar> BondedRun<S> {
    /// Drops the bonds and rows of other ranks' elements. Where bonds soften, all are kept, with the rows of all.
    pub fn hold_own(&mut self) {
        if self.ranks.is_alone() || self.system.bonds.softening.is_some() {
            return;
        }
        if self.system.bonds.holds_all() {
            let own = self.ranks.owned();
            let mut held = HeldBonds::like(&self.system.bonds, self.system.chunk, own.clone());
            self.keep_bonds(&mut held, |at| own.contains(at));
            self.hold(held);
        }
        self.hold_rows();
    }

    /// Adds the bonds of the chunks that stay.
    fn keep_bonds(&self, held: &mut HeldBonds<S>, stays: impl Fn(usize) -> bool) {
        let system = &self.system;
        for element in (0..system.count).filter(|i| stays(i / system.chunk)) {
            held.add(element, system.bonds.bonds_of(element));
        }
    }

    /// From now on holds these bonds alone.
    fn hold(&mut self, held: HeldBonds<S>) {
        let mask = self.system.rigid().clone();
        self.system.bonds = held.finish(&mask);
    }

    /// Sends the bonds of chunks that move to their new owners, and holds those of the chunks that this rank will own.
    pub(super) fn move_bonds(&mut self, owner: &[u32]) {
        if self.system.bonds.holds_all() {
            return;
        }
        let (system, rank) = (&self.system, self.ranks.rank());
        let is_own: Vec<bool> = owner.iter().map(|&of| of as usize == rank).collect();
        let own = OwnedChunks::new(is_own.clone());
        let mut held = HeldBonds::like(&system.bonds, system.chunk, own);
        let before = self.ranks.owned();
        self.keep_bonds(&mut held, |at| is_own[at] && before.contains(at));
        let elements = |at: usize| at * system.chunk..((at + 1) * system.chunk).min(system.count);
        let write = |at: usize, message: &mut Vec<u8>| {
            for element in elements(at) {
                put(message, system.bonds.sides(element).count() as u32);
                for bond in system.bonds.bonds_of(element) {
                    bond.put(message);
                }
            }
        };
        let read = |at: usize, from: &mut Reader| {
            for element in elements(at) {
                let count: u32 = from.get();
                held.add(element, (0..count).map(|_| HeldBond::get(from)));
            }
        };
        self.ranks.move_chunks(owner, write, read);
        self.hold(held);
    }

    /// Tells rank 0, which records breaks, of the bonds that break and that it does not hold.
    pub(super) fn share_bonds(&mut self, chunks: &[Vec<BreakEvent>]) {
        self.elsewhere.clear();
        let (system, owned) = (&self.system, self.ranks.owned());
        if system.bonds.holds_all() {
            return;
        }
        let own = chunks.iter().enumerate();
        let own = own.filter(|(at, _)| owned.contains(*at));
        let own = own.flat_map(|(_, events)| events);
        let breaking = own.map(|event| BreakingBond {
            entry: event.entry,
            bond: BondBeforeBreak::of(system, event),
            energy: system.bond_energy(event.entry as usize),
        });
        let all = self.ranks.concatenate(Receivers::First, breaking.collect());
        let elsewhere = all
            .into_iter()
            .filter(|one: &BreakingBond<S>| !system.bonds.holds(one.entry as usize));
        self.elsewhere = elsewhere.map(|one| (one.entry, one)).collect();
    }

    /// Component of each element, named by its smallest element, at rank 0.
    pub(super) fn components(&self) -> Vec<u32> {
        let own = fragments::components(&self.system);
        if self.ranks.is_alone() || self.system.bonds.holds_all() {
            return own;
        }
        // An element joined to another one by bonds that this rank holds.
        let joined = (0..).zip(own).filter(|(i, root)| i != root);
        let joined = joined.flat_map(|(i, root)| [i, root]).collect();
        let joined: Vec<u32> = self.ranks.concatenate(Receivers::First, joined);
        if !self.ranks.is_first() {
            return Vec::new();
        }
        let mut sets = UnionFind::new(self.system.count);
        for pair in joined.chunks_exact(2) {
            sets.join(pair[0], pair[1]);
        }
        sets.roots()
    }

    /// Contact distances of the broken bonds of all elements by entry, at rank 0.
    pub(super) fn gather_touch(&self) -> Cow<'_, BTreeMap<u32, S>> {
        let bonds = &self.system.bonds;
        if self.ranks.is_alone() || bonds.holds_all() {
            return Cow::Borrowed(&bonds.touch);
        }
        let own: Vec<(u32, S)> = bonds.touch.iter().map(|(e, t)| (*e, *t)).collect();
        let entries = own.iter().map(|(entry, _)| *entry).collect();
        let entries = self.ranks.concatenate(Receivers::First, entries);
        let touches = own.iter().map(|(_, touch)| touch.to_f64()).collect();
        let touches: Vec<f64> = self.ranks.concatenate(Receivers::First, touches);
        let touches = touches.into_iter().map(S::from_f64);
        Cow::Owned(entries.into_iter().zip(touches).collect())
    }
}
