//! Loads of listed contacts between elements, and of elements with colliders.

use crate::math::{Lanes, Pass, Scalar};
use crate::simulate::bonded::system::LoadRow;
use crate::simulate::bonded::work::Dissipation;
use crate::simulate::contact::chunk::ContactChunk;
use crate::simulate::contact::collider_list::ColliderContext;
use crate::simulate::contact::pair_pass::{PairPass, measure};
use crate::simulate::scene::reaction_sums::ReactionSums;

/// Totals over contacts, for the history.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactTotals {
    /// Elastic energy, J; pairs of elements count half on each side.
    pub energy: f64,
    /// Twice the touching pairs of elements plus twice the touched colliders.
    pub sides: u64,
}

/// The contacts of one chunk: adds their loads and steps their springs.
///
/// An element sums its partners in ascending order, colliders last: pairs with earlier chunks come first,
/// then those inside the chunk, each evaluated once by its lower element, then those with later chunks. Pairs
/// that do not touch are not added at all, so that neither the width of lanes nor the other listed pairs
/// change a bit. `WORK`: whether dissipated energy is summed; `STATIC`: whether pairs may have static friction;
/// `BARRIER`: whether they push by the barrier.
pub struct ContactPass<'a, L: Lanes, const WORK: bool, const STATIC: bool, const BARRIER: bool> {
    /// System, colliders and step.
    pub collider_context: ColliderContext<'a, L::Scalar>,
    /// Upper bound on how far a pair has approached since the lists were built, m.
    pub pair_approach: f64,
    /// First element of the chunk.
    pub first: usize,
    /// Contacts of the chunk.
    pub contacts: &'a mut ContactChunk<L::Scalar>,
    /// Loads of the chunk.
    pub load: &'a mut [LoadRow<L::Scalar>],
    /// Wrenches of its elements on colliders; added to.
    pub sums: &'a mut ReactionSums,
    /// Energy dissipated per element; added to only with `WORK`.
    pub dissipation: &'a mut [Dissipation],
}

impl<L: Lanes, const WORK: bool, const STATIC: bool, const BARRIER: bool> Pass<L>
    for ContactPass<'_, L, WORK, STATIC, BARRIER>
{
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let mut pairs = PairPass {
            system: self.collider_context.system,
            dt: L::splat(self.collider_context.dt.to_f64()),
            pair_approach: self.pair_approach,
            first: self.first,
            load: self.load,
            dissipation: self.dissipation,
        };
        pairs.apply::<false, WORK, STATIC, BARRIER>(&mut self.contacts.before);
        pairs.apply::<true, WORK, STATIC, BARRIER>(&mut self.contacts.within);
        pairs.apply::<false, WORK, STATIC, BARRIER>(&mut self.contacts.behind);
        for entry in &mut self.contacts.near_colliders {
            let local = entry.element as usize - self.first;
            let dissipation = WORK.then(|| &mut pairs.dissipation[local]);
            self.collider_context.apply::<BARRIER>(
                entry,
                (local, &mut pairs.load[local]),
                self.sums,
                dissipation,
            );
        }
    }
}

impl<'a, L: Lanes> ContactPass<'a, L, false, false, false> {
    /// Runs the pass, with static friction and the barrier if pairs have them; with `work` it also sums the energy
    /// dissipated by contacts.
    pub fn run_contacts(self, work: bool) {
        let ContactPass {
            collider_context,
            pair_approach,
            first,
            contacts,
            load,
            sums,
            dissipation,
        } = self;
        if contacts.is_empty() {
            return;
        }
        macro_rules! pass {
            ($work:literal, $static:literal, $barrier:literal) => {
                L::run(ContactPass::<'a, L, $work, $static, $barrier> {
                    collider_context,
                    pair_approach,
                    first,
                    contacts,
                    load,
                    sums,
                    dissipation,
                })
            };
        }
        let has_static_friction = contacts.has_static_friction();
        match (work, has_static_friction, collider_context.barrier) {
            (false, false, false) => pass!(false, false, false),
            (false, true, false) => pass!(false, true, false),
            (true, false, false) => pass!(true, false, false),
            (true, true, false) => pass!(true, true, false),
            // Lists without static friction have no columns of it: one pass serves both.
            (false, _, true) => pass!(false, true, true),
            (true, _, true) => pass!(true, true, true),
        }
    }
}

/// Totals over the contacts of one chunk in their present state: energies per element, so that the size of
/// chunks changes no bit of their sum.
pub struct MeasurePass<'a, S> {
    /// System and colliders.
    pub collider_context: ColliderContext<'a, S>,
    /// First element of the chunk.
    pub first: usize,
    /// Contact energies of its elements, J; added to.
    pub energy: &'a mut [f64],
    /// Number of elements that touch each collider; added to.
    pub touching: &'a mut [u32],
    /// Contacts of the chunk.
    pub contacts: &'a ContactChunk<S>,
}

impl<L: Lanes> Pass<L> for MeasurePass<'_, L::Scalar> {
    /// Twice the touching pairs, counted as [`ContactTotals::sides`].
    type Out = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        match self.collider_context.barrier {
            true => self.measured::<L, true>(),
            false => self.measured::<L, false>(),
        }
    }
}

impl<S: Scalar> MeasurePass<'_, S> {
    #[inline(always)]
    fn measured<L: Lanes<Scalar = S>, const BARRIER: bool>(self) -> u64 {
        let (system, lists, first) = (self.collider_context.system, self.contacts, self.first);
        let mut sides = measure::<L, false, BARRIER>(system, &lists.before, first, self.energy);
        sides += measure::<L, true, BARRIER>(system, &lists.within, first, self.energy);
        sides += measure::<L, false, BARRIER>(system, &lists.behind, first, self.energy);
        for entry in &lists.near_colliders {
            if let Some(energy) = self.collider_context.energy::<BARRIER>(entry) {
                self.energy[entry.element as usize - first] += energy;
                sides += 2;
                self.touching[entry.collider as usize] += 1;
            }
        }
        sides
    }
}
