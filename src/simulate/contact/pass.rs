//! The loads of listed contacts: between elements, and against obstacles.

use crate::math::{Lanes, Pass, Scalar};
use crate::simulate::bonded::system::Load;
use crate::simulate::bonded::work::Taken;
use crate::simulate::contact::chunk::ContactChunk;
use crate::simulate::contact::pair_pass::{PairPass, measure};
use crate::simulate::contact::wall_list::Walls;
use crate::simulate::scene::reaction_sums::ReactionSums;

/// What contacts of a chunk add up to, for the history.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactTotals {
    /// Elastic energy, J; pairs of elements count half on each side.
    pub energy: f64,
    /// Twice the touching pairs of elements plus twice the touched colliders.
    pub sides: u64,
}

/// The contacts of one chunk: adds their loads and steps their springs.
///
/// An element adds up its partners in ascending order, obstacles last: pairs with elements before the chunk
/// come first, then those within the chunk, of which each is evaluated once by its first end, then those
/// behind it. Pairs that do not touch are not added at all, so that neither the width of lanes nor what is
/// listed beside a pair can change a bit.
pub struct ContactPass<'a, L: Lanes, const WORK: bool> {
    /// System, obstacles and step.
    pub walls: Walls<'a, L::Scalar>,
    /// How far a pair may have closed up since the lists were made, m.
    pub closed: f64,
    /// First element of the chunk.
    pub first: usize,
    /// Contacts of the chunk.
    pub contacts: &'a mut ContactChunk<L::Scalar>,
    /// Loads of the chunk.
    pub load: &'a mut [Load<L::Scalar>],
    /// What its elements do to obstacles; added to.
    pub sums: &'a mut ReactionSums,
    /// What each of its elements has lost; added to where `WORK` asks for it.
    pub taken: &'a mut [Taken],
}

impl<L: Lanes, const WORK: bool> Pass<L> for ContactPass<'_, L, WORK> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let mut pairs = PairPass {
            system: self.walls.system,
            dt: L::splat(self.walls.dt.to_f64()),
            closed: self.closed,
            first: self.first,
            load: self.load,
            taken: self.taken,
        };
        pairs.apply::<false, WORK>(&mut self.contacts.before);
        pairs.apply::<true, WORK>(&mut self.contacts.within);
        pairs.apply::<false, WORK>(&mut self.contacts.behind);
        for entry in &mut self.contacts.walls {
            let local = entry.element as usize - self.first;
            let taken = WORK.then(|| &mut pairs.taken[local]);
            self.walls
                .apply(entry, (local, &mut pairs.load[local]), self.sums, taken);
        }
    }
}

impl<'a, L: Lanes> ContactPass<'a, L, false> {
    /// Runs the pass, which also adds up what contacts take where `work` asks for it.
    pub fn run_on(self, work: bool) {
        let ContactPass {
            walls,
            closed,
            first,
            contacts,
            load,
            sums,
            taken,
        } = self;
        if contacts.is_empty() {
            return;
        }
        macro_rules! pass {
            ($work:literal) => {
                L::run(ContactPass::<'a, L, $work> {
                    walls,
                    closed,
                    first,
                    contacts,
                    load,
                    sums,
                    taken,
                })
            };
        }
        match work {
            false => pass!(false),
            true => pass!(true),
        }
    }
}

/// What the contacts of one chunk add up to as they stand: energies by element, so that chunks change no bit
/// of their sum.
pub struct MeasurePass<'a, S> {
    /// System and obstacles.
    pub walls: Walls<'a, S>,
    /// First element of the chunk.
    pub first: usize,
    /// Energies of its elements, J; added to.
    pub energy: &'a mut [f64],
    /// Elements that touch each obstacle; added to.
    pub touching: &'a mut [u32],
    /// Contacts of the chunk.
    pub contacts: &'a ContactChunk<S>,
}

impl<L: Lanes> Pass<L> for MeasurePass<'_, L::Scalar> {
    /// Twice the touching pairs, counted as [`ContactTotals::sides`].
    type Out = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let (system, lists, first) = (self.walls.system, self.contacts, self.first);
        let mut sides = measure::<L, false>(system, &lists.before, first, self.energy);
        sides += measure::<L, true>(system, &lists.within, first, self.energy);
        sides += measure::<L, false>(system, &lists.behind, first, self.energy);
        for entry in &lists.walls {
            if let Some(energy) = self.walls.energy(entry) {
                self.energy[entry.element as usize - first] += energy;
                sides += 2;
                self.touching[entry.wall as usize] += 1;
            }
        }
        sides
    }
}
