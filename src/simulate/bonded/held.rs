//! The bonds that one rank of several holds: those of its own elements.
//!
//! They keep the entries that they have in one process, so that every sum has its order. Columns are as long as those
//! of all bonds, but zero where nothing is held: the system gives such pages no memory until they are written.

use std::ops::Range;

use crate::math::Scalar;
use crate::simulate::bonded::bonds::Bonds;
use crate::simulate::bonded::column::Column;
use crate::simulate::bonded::owned::OwnedChunks;
use crate::simulate::bonded::rigid_mask::RigidMask;

/// A bond of a rank, as it is sent to others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldBond<S> {
    /// Entry.
    pub entry: u32,
    /// The end that does not own it.
    pub other: u32,
    /// Id in the packing.
    pub id: u32,
    /// Index of its class.
    pub class: u32,
    /// Rest direction from the owner to the other end.
    pub direction: [S; 3],
    /// Rest length, m.
    pub length: S,
    /// Tensile and shear strength, Pa.
    pub strengths: [S; 2],
    /// Contact distance of its ends, m; `None` while it is intact.
    pub touch: Option<S>,
}

impl<S: Scalar> Bonds<S> {
    /// The bond of an entry that is held here.
    pub fn bond(&self, entry: usize) -> HeldBond<S> {
        HeldBond {
            entry: entry as u32,
            other: self.other[entry],
            id: self.id[entry],
            class: self.class.get(entry),
            direction: [0, 1, 2].map(|k| self.direction[k][entry]),
            length: self.length.get(entry),
            strengths: [&self.sigma_c, &self.tau_c].map(|column| column.get(entry)),
            touch: self.touch_distance(entry),
        }
    }

    /// All bonds of an element, in the order of its [`sides`](Self::sides).
    pub fn bonds_of(&self, element: usize) -> impl Iterator<Item = HeldBond<S>> {
        self.sides(element).map(|side| self.bond(side.entry))
    }
}

/// The bonds of a rank's own elements, added one element after the other.
#[derive(Debug)]
pub struct HeldBonds<S> {
    bonds: Bonds<S>,
    /// Bit s of element i is set if the bond in its slot s was added.
    held: Vec<u32>,
    /// The rank's own chunks.
    own: OwnedChunks,
    /// Elements per chunk.
    chunk: usize,
    /// Elements and entries of bonds that end there but are owned by the other end.
    foreign: Vec<[u32; 2]>,
}

impl<S: Scalar> HeldBonds<S> {
    /// No bonds yet; `all` gives the number of entries, and which columns have one value for all. `own`: the rank's own
    /// chunks, of `chunk` elements each.
    ///
    /// # Panics
    /// If bonds soften: what is left of them is not kept.
    pub fn like(all: &Bonds<S>, chunk: usize, own: OwnedChunks) -> Self {
        assert!(all.softening.is_none(), "bonds that soften are all held");
        let padded = all.whole.len();
        let mut bonds = Bonds {
            length: all.length.zeros(),
            class: all.class.zeros(),
            sigma_c: all.sigma_c.zeros(),
            tau_c: all.tau_c.zeros(),
            ..Bonds::zeros(all.slots, padded)
        };
        // As in one process.
        bonds.ready(own.elements(chunk, padded));
        HeldBonds {
            bonds,
            held: vec![0; padded],
            own,
            chunk,
            foreign: Vec::new(),
        }
    }

    /// Adds the bonds of an own element, in the order of its [`sides`](Bonds::sides).
    pub fn add(&mut self, element: usize, bonds: impl Iterator<Item = HeldBond<S>>) {
        for bond in bonds {
            let owner = self.put(&bond);
            if owner != element {
                self.foreign.push([element as u32, bond.entry]);
            } else if !self.own.contains(bond.other as usize / self.chunk) {
                self.foreign.push([bond.other, bond.entry]);
            }
        }
    }

    /// Writes a bond to its entry; returns its owner.
    fn put(&mut self, bond: &HeldBond<S>) -> usize {
        let (to, at) = (&mut self.bonds, bond.entry as usize);
        let (owner, slot) = to.place(at);
        self.held[owner] |= 1 << slot;
        match bond.touch {
            None => to.whole[owner] |= 1 << slot,
            Some(touch) => {
                to.touch.insert(bond.entry, touch);
            }
        }
        (to.other[at], to.id[at]) = (bond.other, bond.id);
        for (column, value) in to.direction.iter_mut().zip(bond.direction) {
            column[at] = value;
        }
        to.length.fill(at..at + 1, bond.length);
        to.class.fill(at..at + 1, bond.class);
        to.sigma_c.fill(at..at + 1, bond.strengths[0]);
        to.tau_c.fill(at..at + 1, bond.strengths[1]);
        owner
    }

    /// The bonds of all elements that were added.
    pub fn finish(mut self, mask: &RigidMask) -> Bonds<S> {
        let padded = self.held.len();
        let mut start = vec![0u32; padded + 1];
        for [element, _] in &self.foreign {
            start[*element as usize + 1] += 1;
        }
        for i in 0..padded {
            start[i + 1] += start[i];
        }
        // Stable: each element keeps the order in which its bonds were added.
        self.foreign.sort_by_key(|[element, _]| *element);
        self.bonds.foreign = self.foreign.iter().map(|[_, entry]| *entry).collect();
        self.bonds.foreign_start = start;
        self.bonds.held = Some(self.held);
        self.bonds.set_rigid(mask);
        self.bonds
    }
}

impl<T: Copy + PartialEq + Default> Column<T> {
    /// A column of zeros of the same length; the same one if it has one value for all.
    fn zeros(&self) -> Self {
        match self {
            Column::Same(value) => Column::Same(*value),
            Column::Each(values) => Column::Each(vec![T::default(); values.len()]),
        }
    }

    /// Sets a range of entries, unless there is one value for all.
    pub(super) fn fill(&mut self, entries: Range<usize>, value: T) {
        if let Column::Each(values) = self {
            values[entries].fill(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::bonded::bond_rows::{BondOutline, BondRow};
    use crate::simulate::bonded::bonds::BLOCK;

    /// Bonds between 80 elements in a row, each bonded to the next two; no two bonds have the same numbers.
    fn rows() -> Vec<BondRow<f32>> {
        let mut rows = Vec::with_capacity(160);
        let pairs = (0..80u32).flat_map(|i| [[i, i + 1], [i, i + 2]]);
        for (id, ends) in (1..).zip(pairs.filter(|ends| ends[1] < 80)) {
            let number = id as f32;
            rows.push(BondRow {
                ends,
                direction: [number, 0.5, -number],
                length: 2.0,
                class: id % 3,
                sigma_c: number + 0.25,
                tau_c: f32::INFINITY,
                id,
            });
        }
        rows
    }

    /// All of them; the one between elements 30 and 31 is broken.
    fn row() -> Bonds<f32> {
        let mut bonds = Bonds::new(80, &rows(), &RigidMask::default());
        let broken = bonds.find(30, 31).unwrap().entry;
        bonds.unbond(broken, 1.5);
        bonds
    }

    /// What a rank holds that owns the chunks of [`BLOCK`] elements for which `own` is true.
    fn held(all: &Bonds<f32>, own: [bool; 5]) -> Bonds<f32> {
        let mut held = HeldBonds::like(all, BLOCK, OwnedChunks::new(own.to_vec()));
        for element in (0..80).filter(|i| own[i / BLOCK]) {
            held.add(element, all.bonds_of(element));
        }
        held.finish(&RigidMask::default())
    }

    #[test]
    fn a_rank_reads_the_bonds_that_it_would_hold_later() {
        let (rows, own) = (rows(), [false, true, false, false, true]);
        let mut outline = BondOutline::default();
        rows.iter().for_each(|row| outline.add(row));
        let owned = OwnedChunks::new(own.to_vec());
        let mut filler = Bonds::filler((80, BLOCK), outline, owned);
        rows.iter().for_each(|row| filler.put(row));
        let read = filler.finish(&RigidMask::default());
        let later = held(&Bonds::new(80, &rows, &RigidMask::default()), own);
        assert_eq!(
            (&read.other, &read.direction),
            (&later.other, &later.direction)
        );
        assert_eq!((&read.length, &read.class), (&later.length, &later.class));
        assert_eq!((&read.sigma_c, &read.tau_c), (&later.sigma_c, &later.tau_c));
        assert_eq!(
            (&read.id, &read.whole, &read.held),
            (&later.id, &later.whole, &later.held)
        );
        for element in 0..80 {
            let [mut read, mut later] =
                [&read, &later].map(|bonds| bonds.bonds_of(element).collect::<Vec<_>>());
            if !own[element / BLOCK] {
                // The order is arbitrary.
                read.sort_by_key(|bond| bond.entry);
                later.sort_by_key(|bond| bond.entry);
            }
            assert_eq!(read, later, "{element}");
        }
    }

    #[test]
    fn a_rank_holds_the_bonds_of_its_elements_and_no_others() {
        let all = row();
        let own = [false, true, false, false, true];
        let is_own = |i: usize| own[i / BLOCK];
        let held = held(&all, own);
        assert!(!held.holds_all() && all.holds_all());
        for element in 0..80 {
            let bonds: Vec<_> = held.bonds_of(element).collect();
            let expected = all.sides(element);
            let expected = expected.filter(|side| is_own(element) || is_own(side.other));
            let expected: Vec<_> = expected.map(|side| all.bond(side.entry)).collect();
            assert_eq!(bonds, expected, "{element}");
        }
        for (owner, side) in all.entries() {
            let (entry, is_held) = (side.entry, is_own(owner) || is_own(side.other));
            assert_eq!(held.holds(entry), is_held);
            assert_eq!(held.is_intact(entry), is_held && all.is_intact(entry));
            if !is_held {
                let columns = [0, 1, 2].map(|k| held.direction[k][entry]);
                assert_eq!((columns, held.id[entry]), ([0.0; 3], 0));
                assert_eq!((held.sigma_c.get(entry), held.other[entry]), (0.0, 0));
            }
        }
        assert_eq!(held.touch, all.touch);
        assert!(held.tau_c.is_same() && held.length.is_same());
    }

    #[test]
    fn lanes_without_a_bond_are_as_in_one_process() {
        let all = row();
        let held = held(&all, [true; 5]);
        assert_eq!((&held.other, &held.direction), (&all.other, &all.direction));
        assert_eq!((&held.length, &held.class), (&all.length, &all.class));
        assert_eq!((&held.sigma_c, &held.tau_c), (&all.sigma_c, &all.tau_c));
        assert_eq!((held.foreign, held.whole), (all.foreign, all.whole));
    }

    #[test]
    fn a_bond_that_is_not_held_breaks_elsewhere() {
        let all = row();
        let mut held = held(&all, [true, false, false, false, false]);
        let far = all.find(70, 71).unwrap().entry;
        held.unbond(far, 1.0);
        assert!(held.touch.is_empty());
        let whole = all.intact().to_vec();
        held.set_intact(whole, all.touch.clone());
        assert!(held.touch.is_empty() && !held.is_intact(far));
        assert_eq!(held.sides(0).count(), 2);
        assert!(held.sides(0).all(|side| held.is_intact(side.entry)));
    }
}
