//! Classes, stiffnesses and rest lengths of a row of bonds.

use crate::laws::bond::Stiffness;
use crate::math::{Lanes, Scalar};
use crate::simulate::bonded::rows::lane_buffer;
use crate::simulate::bonded::system::{BondClass, CLASS_FIELDS, System};

/// Bond entries of a row of lanes.
#[derive(Clone, Copy)]
pub(super) enum Entries<'a> {
    /// Consecutive entries from this one on.
    From(usize),
    /// One entry per lane.
    These(&'a [u32]),
}

impl Entries<'_> {
    #[inline(always)]
    fn get(self, lane: usize) -> usize {
        match self {
            Entries::From(first) => first + lane,
            Entries::These(entries) => entries[lane] as usize,
        }
    }
}

/// Class, stiffnesses and rest length of each lane's bond. It stays in memory from row to row: its fields are read
/// where they are used.
pub(super) struct BondKind<L> {
    pub class: BondClass<L>,
    pub k: Stiffness<L>,
    pub length: L,
}

impl<S: Scalar> System<S> {
    /// The kind of the first entry in every lane; there must be a bond.
    #[inline(always)]
    pub(super) fn first_kind<L: Lanes<Scalar = S>>(&self) -> BondKind<L> {
        let class =
            self.classes[self.bonds.class.get(0) as usize].map(|value| L::splat(value.to_f64()));
        let length = L::splat(self.bonds.length.get(0).to_f64());
        BondKind {
            k: class.stiffness(length),
            class,
            length,
        }
    }

    /// Reads the kinds of a row of bonds. In lattices all bonds are of one kind, which is read once, by
    /// [`first_kind`](Self::first_kind).
    #[inline(always)]
    pub(super) fn read_kind<L: Lanes<Scalar = S>>(&self, entries: Entries, kind: &mut BondKind<L>) {
        let bonds = &self.bonds;
        if bonds.class.is_same() && bonds.length.is_same() {
            return;
        }
        kind.length = match entries {
            Entries::From(first) => bonds.length.load(first),
            Entries::These(entries) => bonds.length.pick(entries),
        };
        if !bonds.class.is_same() {
            self.read_classes(entries, &mut kind.class);
        }
        kind.k = kind.class.stiffness(kind.length);
    }

    /// Reads the classes of a row of bonds; they rarely differ within a row.
    #[inline(always)]
    fn read_classes<L: Lanes<Scalar = S>>(&self, entries: Entries, to: &mut BondClass<L>) {
        let class = &self.bonds.class;
        let first = class.get(entries.get(0));
        if (1..L::WIDTH).all(|lane| class.get(entries.get(lane)) == first) {
            *to = self.classes[first as usize].map(|value| L::splat(value.to_f64()));
            return;
        }
        let mut fields = [lane_buffer::<L>(); CLASS_FIELDS];
        for lane in 0..L::WIDTH {
            let mut fields = fields.iter_mut();
            self.classes[class.get(entries.get(lane)) as usize].map(|value| {
                if let Some(field) = fields.next() {
                    field[lane] = value;
                }
                value
            });
        }
        let mut field = 0;
        *to = self.classes[first as usize].map(|_| {
            field += 1;
            L::load(&fields[field - 1])
        });
    }
}
