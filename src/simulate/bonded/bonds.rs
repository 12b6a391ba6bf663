//! The bonds as columns.
//!
//! One end owns a bond: the bond is evaluated once, from there, and the other end gets the opposite load.
//! Entries are stored in blocks of [`BLOCK`] elements, slot by slot, so that a pass reads each column from
//! front to back and a row of lanes is contiguous. Ownership is balanced (no end owns more than half of its
//! bonds, rounded up), so lanes of a slot are full and few slots are needed.
//!
//! Entries and owners depend on the packing alone. Bonds inside a rigid piece keep theirs: while there are
//! rigid pieces, passes read masks without these bonds, and lists without these and without broken bonds. Both
//! are rebuilt when the [`RigidMask`] changes. Without rigid pieces there are no such copies, and passes read
//! the full lists.
//!
//! A rank of several may hold only some of the bonds, with their entries: see [`HeldBonds`](super::held::HeldBonds).

use std::collections::BTreeMap;

use crate::laws::softening::Left;
use crate::math::{Scalar, Vec3};
use crate::simulate::bonded::active::{ActiveBonds, ForeignBonds, cleared, held_masks};
use crate::simulate::bonded::column::Column;
use crate::simulate::bonded::rigid_mask::RigidMask;
use crate::simulate::bonded::softening::Softening;

/// Elements per block: the width of the widest lanes.
pub const BLOCK: usize = 16;

/// A bond seen from one of its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BondSide {
    /// Entry of the bond.
    pub entry: usize,
    /// The other end.
    pub other: usize,
    /// Whether this end owns it.
    pub owned: bool,
}

/// All bonds of a system.
#[derive(Clone, Debug, Default)]
pub struct Bonds<S> {
    /// Largest number of bonds that an element owns.
    pub slots: usize,
    /// Other end of each entry; in empty entries the owner itself.
    pub other: Vec<u32>,
    /// Rest direction from the owner to the other end.
    pub direction: [Vec<S>; 3],
    /// Rest length, m.
    pub length: Column<S>,
    /// Index of the [`BondClass`](crate::simulate::bonded::system::BondClass).
    pub class: Column<u32>,
    /// Tensile strength, Pa.
    pub sigma_c: Column<S>,
    /// Shear strength, Pa.
    pub tau_c: Column<S>,
    /// What is left of bonds that soften; `None` if none does.
    pub softening: Option<Softening<S>>,
    /// Id in the packing.
    pub id: Vec<u32>,
    /// Bit s of element i is set while the bond in its slot s is intact, and held here.
    pub(super) whole: Vec<u32>,
    /// Bit s of element i is set if the bond in its slot s is held here; `None` if all are.
    pub(super) held: Option<Vec<u32>>,
    /// Start of each element's range in `foreign`; one more entry than elements.
    pub foreign_start: Vec<u32>,
    /// Entries of the bonds that end at each element but are owned by the other end, in the order of the
    /// packing. Where only some of an element's bonds are held, their order is arbitrary.
    pub foreign: Vec<u32>,
    /// Contact distance of the ends of each broken bond, m, by entry.
    pub touch: BTreeMap<u32, S>,
    /// Masks and lists that passes read while there are rigid pieces.
    pub(super) reduced: Option<ActiveBonds>,
}

impl<S: Scalar> Bonds<S> {
    /// Rebuilds the masks and lists of passes, without the bonds inside rigid pieces.
    pub(super) fn set_rigid(&mut self, mask: &RigidMask) {
        self.reduced = None;
        if !mask.any() {
            return;
        }
        let mut within = vec![0; self.whole.len()];
        for (i, side) in self.entries() {
            let is_within = mask.is_one_piece(i, side.other);
            within[i] |= u32::from(is_within) << self.place(side.entry).1;
        }
        self.reduced = Some(self.without(within));
    }

    /// Masks and lists without the bonds that `within` marks.
    fn without(&self, within: Vec<u32>) -> ActiveBonds {
        let active = cleared(&self.whole, &within);
        let (mut foreign_start, mut foreign) = (vec![0], Vec::new());
        for j in 0..active.len() {
            foreign.extend(self.foreign(j).iter().filter(|&&entry| {
                let (owner, slot) = self.place(entry as usize);
                active[owner] >> slot & 1 != 0
            }));
            foreign_start.push(foreign.len() as u32);
        }
        let blocks = active
            .chunks(BLOCK)
            .zip(foreign_start.windows(BLOCK + 1).step_by(BLOCK));
        let idle = blocks.map(|(own, start)| {
            let no_foreign = start[0] == start[BLOCK];
            no_foreign && own.iter().all(|&mask| mask == 0)
        });
        ActiveBonds {
            idle: idle.collect(),
            within,
            active,
            foreign_start,
            foreign,
        }
    }

    /// Bit s of each element is set while the bond in its slot s is intact.
    pub fn intact(&self) -> &[u32] {
        &self.whole
    }

    /// Sets which bonds are intact, and the contact distances (m) of the ends of broken bonds, by entry; those of bonds
    /// that are not held are left out.
    pub fn set_intact(&mut self, mut whole: Vec<u32>, mut touch: BTreeMap<u32, S>) {
        if let Some(held) = &self.held {
            whole = held_masks(&whole, held);
            touch.retain(|&entry, _| self.holds(entry as usize));
        }
        (self.whole, self.touch) = (whole, touch);
        if let Some(reduced) = self.reduced.take() {
            self.reduced = Some(self.without(reduced.within));
        }
    }

    /// Bit s of each element is set while the bond in its slot s is *active*: intact, and not inside a rigid
    /// piece. Steps evaluate active bonds.
    pub fn active(&self) -> &[u32] {
        let reduced = self.reduced.as_ref();
        reduced.map_or(&self.whole, |reduced| &reduced.active)
    }

    /// Bonds owned by the other end: while there are rigid pieces, those that were active when the lists were rebuilt;
    /// else all.
    pub fn active_foreign(&self) -> ForeignBonds<'_> {
        match &self.reduced {
            Some(reduced) => ForeignBonds {
                start: &reduced.foreign_start,
                entries: &reduced.foreign,
            },
            None => ForeignBonds {
                start: &self.foreign_start,
                entries: &self.foreign,
            },
        }
    }

    /// For each block of elements whether none of its bonds was active when the lists were rebuilt; `None` while there
    /// are no rigid pieces. A bond only becomes active when they are rebuilt.
    pub fn idle_blocks(&self) -> Option<&[bool]> {
        self.reduced.as_ref().map(|reduced| &reduced.idle[..])
    }

    /// Whether any bond may have a finite strength.
    pub fn can_break(&self) -> bool {
        let is_infinite = |strengths: &Column<S>| match strengths {
            Column::Same(strength) => strength.to_f64() == f64::INFINITY,
            // Some may be finite.
            Column::Each(_) => false,
        };
        !(is_infinite(&self.sigma_c) && is_infinite(&self.tau_c))
    }

    /// Entry of the bond in a slot of an element.
    #[inline(always)]
    pub fn at(&self, slot: usize, element: usize) -> usize {
        (element / BLOCK * self.slots + slot) * BLOCK + element % BLOCK
    }

    /// Owner and slot of an entry.
    #[inline(always)]
    pub fn place(&self, entry: usize) -> (usize, usize) {
        // Entries fit into 32 bits, and a 32-bit division costs half of a 64-bit one.
        let (row, slots) = ((entry / BLOCK) as u32, self.slots as u32);
        let block = (row / slots) as usize;
        (block * BLOCK + entry % BLOCK, (row % slots) as usize)
    }

    /// Entries of an element's bonds that the other end owns.
    #[inline(always)]
    pub fn foreign(&self, element: usize) -> &[u32] {
        let range = self.foreign_start[element] as usize..self.foreign_start[element + 1] as usize;
        &self.foreign[range]
    }

    /// Whether all bonds are held here.
    pub fn holds_all(&self) -> bool {
        self.held.is_none()
    }

    /// Whether the bond of an entry is held here.
    #[inline]
    pub fn holds(&self, entry: usize) -> bool {
        let Some(held) = &self.held else {
            return true;
        };
        let (owner, slot) = self.place(entry);
        held[owner] >> slot & 1 != 0
    }

    /// All bonds of an element that are held here, intact or broken: owned ones slot by slot, then the others.
    #[inline]
    pub fn sides(&self, element: usize) -> impl Iterator<Item = BondSide> {
        let held = self.held.as_ref().map_or(u32::MAX, |held| held[element]);
        let slots = (0..self.slots).filter(move |slot| held >> slot & 1 != 0);
        let owned = slots.map(move |slot| self.at(slot, element));
        let owned = owned
            .map(|entry| BondSide {
                entry,
                other: self.other[entry] as usize,
                owned: true,
            })
            .take_while(move |side| side.other != element);
        let foreign = self.foreign(element).iter().map(|&entry| BondSide {
            entry: entry as usize,
            other: self.place(entry as usize).0,
            owned: false,
        });
        owned.chain(foreign)
    }

    /// The bond to another element, intact or broken.
    pub fn find(&self, element: usize, other: usize) -> Option<BondSide> {
        self.sides(element).find(|side| side.other == other)
    }

    /// Whether the bond of an entry is intact.
    #[inline(always)]
    pub fn is_intact(&self, entry: usize) -> bool {
        let (owner, slot) = self.place(entry);
        self.whole[owner] >> slot & 1 != 0
    }

    /// Whether both ends of a bond belong to one rigid piece.
    #[inline]
    pub fn is_within_piece(&self, entry: usize) -> bool {
        self.reduced.as_ref().is_some_and(|reduced| {
            let (owner, slot) = self.place(entry);
            reduced.within[owner] >> slot & 1 != 0
        })
    }

    /// Whether the bond of an entry is [`active`](Self::active).
    #[inline(always)]
    pub fn is_active(&self, entry: usize) -> bool {
        let (owner, slot) = self.place(entry);
        self.active()[owner] >> slot & 1 != 0
    }

    /// Active bonds of an element.
    #[inline]
    pub fn active_sides(&self, element: usize) -> impl Iterator<Item = BondSide> {
        self.sides(element)
            .filter(|side| self.is_active(side.entry))
    }

    /// Owner and entry of all bonds held here, intact or broken.
    pub fn entries(&self) -> impl Iterator<Item = (usize, BondSide)> {
        let owned = (0..self.whole.len()).map(|i| (i, self.sides(i)));
        owned.flat_map(|(i, sides)| {
            sides
                .take_while(|side| side.owned)
                .map(move |side| (i, side))
        })
    }

    /// Rest direction, pointing away from the end that the bond is seen from.
    #[inline]
    pub fn rest_direction(&self, side: BondSide) -> Vec3<S> {
        let [x, y, z] = &self.direction;
        let out = Vec3::new(x[side.entry], y[side.entry], z[side.entry]);
        if side.owned { out } else { -out }
    }

    /// Contact distance of the ends of a broken bond, m; `None` while it is intact.
    #[inline]
    pub fn touch_distance(&self, entry: usize) -> Option<S> {
        self.touch.get(&(entry as u32)).copied()
    }

    /// Breaks a bond, if it is held here; from then on its ends touch at distance `touch`, m.
    pub fn unbond(&mut self, entry: usize, touch: S) {
        if !self.holds(entry) {
            return;
        }
        let (owner, slot) = self.place(entry);
        self.whole[owner] &= !(1 << slot);
        if let Some(reduced) = &mut self.reduced {
            reduced.active[owner] &= !(1 << slot);
        }
        self.touch.insert(entry as u32, touch);
    }

    /// What is left of a bond.
    pub fn left(&self, entry: usize) -> Left<f64> {
        let whole = Left {
            stiffness: 1.0,
            strength: 1.0,
        };
        let softening = self.softening.as_ref();
        softening.map_or(whole, |softening| softening.left(entry))
    }

    /// Energy that a damaged bond takes until it breaks, J; `None` if it is undamaged.
    pub fn energy_of_damaged(&self, entry: usize) -> Option<f64> {
        let softening = self.softening.as_ref()?;
        let is_damaged = softening.left(entry).stiffness < 1.0;
        is_damaged.then(|| softening.energy(entry).to_f64())
    }

    /// Least number of bytes that a pass over all active bonds reads.
    pub fn bytes(&self) -> u64 {
        let column = |same: bool, size: usize| if same { 0 } else { size };
        let scalar = |c: &Column<S>| column(c.is_same(), size_of::<S>());
        let entry = 4
            + 3 * size_of::<S>()
            + scalar(&self.length)
            + scalar(&self.sigma_c)
            + scalar(&self.tau_c)
            + column(self.class.is_same(), 4)
            + 2 * column(self.softening.is_none(), size_of::<S>());
        let entries = match &self.reduced {
            Some(reduced) => reduced.count(),
            None => self.other.len(),
        };
        (entry * entries + 4 * self.whole.len()) as u64
    }
}
