//! Contact loads of pieces at rest. Contacts of such pieces with each other and with colliders are not computed, so
//! their loads are stored when the pieces come to rest, for frames and the history.

use crate::math::Scalar;
use crate::simulate::bonded::system::System;
use crate::simulate::contact::chunk::COLLIDER;
use crate::simulate::contact::lists::Contacts;
use crate::simulate::contact::pass::ContactTotals;
use crate::simulate::error::StateError;
use crate::simulate::run_state::state::{SectionKind, State, check_length};
use crate::simulate::scene::colliders::PosedCollider;
use crate::simulate::scene::reactions::Wrench;
use crate::simulate::sleep::pieces::Sleep;
use crate::simulate::sleep::resting::{ColliderLoad, RestingLoads};
use crate::simulate::sleep::sides::{Partner, Stance};

/// Number of a piece, sides of its contacts, and number of colliders that it touches; absent if nothing rests.
const RESTING: SectionKind = SectionKind::first("contacts of pieces at rest");
/// Elastic energy of these contacts, J.
const ENERGY: SectionKind = SectionKind::first("contact energy of pieces at rest");
/// A collider that a piece touches, and with how many elements.
const TOUCHED: SectionKind = SectionKind::first("colliders under pieces at rest");
/// Force, N, and torque, N m, on it.
const LOADS: SectionKind = SectionKind::first("loads of pieces at rest");

impl<S: Scalar> Sleep<S> {
    /// Stores the contact loads of these pieces (ascending), which have just come to rest. It takes their contacts out
    /// of the lists, so the lists must be rebuilt next.
    pub fn keep_resting_loads(
        &mut self,
        pieces: &[usize],
        (system, contacts): (&System<S>, &mut Contacts<S>),
        colliders: &[PosedCollider],
    ) {
        let listed = contacts.suspend(system, |element, partner| self.is_kept([element, partner]));
        for contact in listed {
            let own = |end: u32| {
                let piece = (end < COLLIDER).then(|| self.piece_of(end)).flatten();
                piece.filter(|at| pieces.binary_search(at).is_ok())
            };
            let first = own(contact.element);
            let Some(at) = first.or_else(|| own(contact.partner)) else {
                continue;
            };
            let Some(mut joint) = self.joint((system, contact), first.is_none(), &[at]) else {
                continue;
            };
            joint.evaluate((&[Stance::of(&self.pieces[at])], colliders), 0.0, false);
            if joint.now.touches {
                let on_collider = match joint.partner {
                    Partner::Collider(collider, _) => Some((collider as u32, joint.on_collider())),
                    Partner::Member(..) | Partner::Still(..) => None,
                };
                self.pieces[at].resting.add(joint.energy(), on_collider);
            }
        }
    }

    /// Adds the loads of pieces at rest on colliders, the first of all supports.
    pub fn add_resting_loads(&self, supports: &mut [Wrench]) {
        for load in self.pieces.iter().flat_map(|one| &one.resting.on_colliders) {
            supports[load.collider as usize] += load.wrench;
        }
    }

    /// Adds the contacts of pieces at rest to the totals over all contacts, and to the number of elements that touch
    /// each collider.
    pub fn add_resting_contacts(&self, totals: &mut ContactTotals, touching: &mut [u32]) {
        for resting in self.pieces.iter().map(|piece| &piece.resting) {
            totals.energy += resting.totals.energy;
            totals.sides += resting.totals.sides;
            for load in &resting.on_colliders {
                touching[load.collider as usize] += load.touching;
            }
        }
    }

    /// Writes the contact loads of pieces at rest.
    pub(super) fn put_resting_loads(&self, state: &mut State) {
        let none = RestingLoads::default();
        let pieces = self.pieces.iter().filter(|piece| piece.resting != none);
        let rows: Vec<(u32, &RestingLoads)> =
            pieces.map(|piece| (piece.number, &piece.resting)).collect();
        if rows.is_empty() {
            return;
        }
        let heads = rows.iter().map(|(number, resting)| {
            let colliders = resting.on_colliders.len() as u64;
            [u64::from(*number), resting.totals.sides, colliders]
        });
        state.put(RESTING, heads);
        state.put(ENERGY, rows.iter().map(|(_, one)| [one.totals.energy]));
        let loads = || rows.iter().flat_map(|(_, one)| &one.on_colliders);
        let touched: Vec<_> = loads().map(|one| [one.collider, one.touching]).collect();
        state.put(TOUCHED, touched.into_iter());
        let wrenches: Vec<_> = loads().map(|one| numbers(&one.wrench)).collect();
        state.put(LOADS, wrenches.into_iter());
    }

    /// Reads what [`put_resting_loads`](Self::put_resting_loads) wrote, for the present pieces; `colliders` is the
    /// number of colliders.
    pub(super) fn restore_resting_loads(
        &mut self,
        state: &State,
        colliders: usize,
    ) -> Result<(), StateError> {
        let Some(heads) = state.get::<u64, 3>(RESTING)? else {
            return Ok(());
        };
        let heads: Vec<[u64; 3]> = heads.collect();
        let energies: Vec<[f64; 1]> = state.require(ENERGY)?.collect();
        let touched: Vec<[u32; 2]> = state.require(TOUCHED)?.collect();
        let wrenches: Vec<[f64; 6]> = state.require(LOADS)?.collect();
        check_length(ENERGY.name, energies.len(), heads.len())?;
        check_length(LOADS.name, wrenches.len(), touched.len())?;
        let counts = heads.iter().map(|head| head[2] as usize);
        let total = counts.fold(0, usize::saturating_add);
        check_length(TOUCHED.name, touched.len(), total)?;
        for &[collider, _] in &touched {
            let most = colliders.max(collider as usize + 1);
            check_length(TOUCHED.name, most, colliders)?;
        }
        let mut loads = touched.into_iter().zip(wrenches);
        for ([number, sides, count], [energy]) in heads.into_iter().zip(energies) {
            let on_colliders = loads.by_ref().take(count as usize);
            let on_colliders = on_colliders.map(|([collider, touching], six)| ColliderLoad {
                collider,
                touching,
                wrench: wrench(six),
            });
            let resting = RestingLoads {
                totals: ContactTotals { energy, sides },
                on_colliders: on_colliders.collect(),
            };
            let pieces = &mut self.pieces;
            if let Ok(at) = pieces.binary_search_by_key(&number, |piece| piece.number.into()) {
                pieces[at].resting = resting;
            }
        }
        Ok(())
    }
}

fn numbers(wrench: &Wrench) -> [f64; 6] {
    let ([a, b, c], [d, e, f]) = (wrench.force.to_array(), wrench.torque.to_array());
    [a, b, c, d, e, f]
}

fn wrench([a, b, c, d, e, f]: [f64; 6]) -> Wrench {
    Wrench {
        force: [a, b, c].into(),
        torque: [d, e, f].into(),
    }
}
