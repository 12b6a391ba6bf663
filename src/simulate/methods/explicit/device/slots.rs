//! The bonds in the device's layout: each at both of its ends, slot-major. Bond number `slot` of element i is
//! entry `slot·stride + i`, so that neighbouring elements read neighbouring words.
//!
//! Bonds within a rigid piece have no slot: the device neither evaluates them nor treats their ends as broken
//! pairs. Slots are rebuilt when the mask of rigid elements changes.

use crate::simulate::bonded::bonds::{BondSide, Bonds};
use crate::simulate::bonded::system::System;

/// Most slots of an element: the bits of its masks.
pub const MAX_SLOTS: usize = u32::BITS as usize;

/// Positions of the bonds in slots; breaking a bond does not change them.
pub struct Slots {
    /// Most bonds and crowded partners of an element.
    pub slots: usize,
    stride: usize,
}

impl Slots {
    /// Slots for all bonds of a system except those within a rigid piece.
    pub fn new(system: &System<f32>) -> Self {
        let stride = system.motion.len();
        let valences =
            (0..stride).map(|i| sides(&system.bonds, i).count() + system.crowded.partners(i).len());
        Slots {
            slots: valences.max().unwrap_or(0),
            stride,
        }
    }

    /// Other element of each slot; an empty slot has the element itself.
    ///
    /// Crowded partners come after the bonds and have empty slots: such a pair never touches.
    pub fn neighbours(&self, system: &System<f32>) -> Vec<u32> {
        let bonds = &system.bonds;
        let mut out = self.map(bonds, |side| side.other as u32, |i| i as u32);
        for i in 0..self.stride {
            let partners = system.crowded.partners(i);
            if partners.is_empty() {
                continue;
            }
            for (slot, partner) in (sides(bonds, i).count()..).zip(partners) {
                out[slot * self.stride + i] = *partner;
            }
        }
        out
    }

    /// The bond in a slot that is not empty.
    pub fn side(&self, bonds: &Bonds<f32>, element: u32, slot: u32) -> BondSide {
        let element = element as usize;
        let side = sides(bonds, element).nth(slot as usize);
        side.expect("the device reports slots that hold bonds")
    }

    /// Entry of the slot that holds the bond to another element.
    pub fn find(&self, bonds: &Bonds<f32>, element: usize, other: u32) -> Option<usize> {
        let slot = sides(bonds, element).position(|side| side.other == other as usize)?;
        Some(slot * self.stride + element)
    }

    /// One value per slot: `bond` of its bond as seen from its element, or `empty` of the element.
    pub fn map<T>(
        &self,
        bonds: &Bonds<f32>,
        bond: impl Fn(BondSide) -> T,
        empty: impl Fn(usize) -> T,
    ) -> Vec<T> {
        let mut out: Vec<T> = (0..self.slots * self.stride)
            .map(|at| empty(at % self.stride))
            .collect();
        for (at, side) in self.all(bonds) {
            out[at] = bond(side);
        }
        out
    }

    /// Slots that hold bonds, and the bonds as seen from their elements.
    fn all(&self, bonds: &Bonds<f32>) -> impl Iterator<Item = (usize, BondSide)> {
        (0..self.stride).flat_map(move |i| {
            let sides = sides(bonds, i).enumerate();
            sides.map(move |(slot, side)| (slot * self.stride + i, side))
        })
    }

    /// Sets the damage of intact bonds from the device's rows: stiffness and strength left of all slots, then
    /// use of strength at which each breaks, and its energy.
    pub fn take_damage(&self, rows: &[[f32; 2]], bonds: &mut Bonds<f32>) {
        let Some(mut softening) = bonds.softening.take() else {
            return;
        };
        for (at, side) in self.all(bonds) {
            let [stiffness, strength] = rows[at];
            if side.owned && stiffness != 1.0 && bonds.is_intact(side.entry) {
                let [end, _] = rows[self.slots * self.stride + at];
                softening.set(side.entry, [end, stiffness, strength]);
            }
        }
        bonds.softening = Some(softening);
    }

    /// Masks with bit s of each element set if the bond in its slot s is intact, or, unless `whole`, if it is
    /// broken.
    pub fn masks(&self, bonds: &Bonds<f32>, whole: bool) -> Vec<u32> {
        let mask = |i: usize| {
            sides(bonds, i).enumerate().fold(0, |mask, (slot, side)| {
                mask | u32::from(bonds.is_intact(side.entry) == whole) << slot
            })
        };
        (0..self.stride).map(mask).collect()
    }

    /// Rest directions and lengths; for broken bonds a zero contact spring and the touching distance.
    pub fn rest(&self, bonds: &Bonds<f32>) -> Vec<[f32; 4]> {
        self.map(
            bonds,
            |side| match bonds.touch_distance(side.entry) {
                Some(touch) => [0.0, 0.0, 0.0, touch],
                None => {
                    let d = bonds.rest_direction(side);
                    [d.x, d.y, d.z, bonds.length.get(side.entry)]
                }
            },
            |_| [0.0, 0.0, 0.0, 1.0],
        )
    }
}

/// The bonds of an element that have slots, in slot order.
fn sides(bonds: &Bonds<f32>, element: usize) -> impl Iterator<Item = BondSide> {
    let all = bonds.sides(element);
    all.filter(|side| !bonds.is_within_piece(side.entry))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::bonded::bond_rows::BondRow;
    use crate::simulate::bonded::rigid_mask::RigidMask;
    use crate::spec::Law;

    #[test]
    fn bonds_within_a_rigid_piece_have_no_slot() {
        // A chain of five elements.
        let mut system = System::new(5, 16, Law::Bdem);
        let mut rows = Vec::with_capacity(4);
        for k in 0..4 {
            rows.push(BondRow {
                ends: [k, k + 1],
                direction: [1.0, 0.0, 0.0],
                length: 1.0,
                class: 0,
                sigma_c: 1.0,
                tau_c: 1.0,
                id: k,
            });
        }
        system.bonds = Bonds::new(system.motion.len(), &rows, system.rigid());
        let masks = |system: &System<f32>| {
            let slots = Slots::new(system);
            let [whole, broken] = [true, false].map(|whole| slots.masks(&system.bonds, whole));
            (slots.slots, whole[..5].to_vec(), broken[..5].to_vec())
        };
        let all = (2, vec![1, 3, 3, 3, 1], vec![0; 5]);
        assert_eq!(masks(&system), all);
        system.set_rigid(RigidMask::new(vec![0, 1, 1, 1, 0]));
        assert_eq!(masks(&system), (1, vec![1, 1, 0, 1, 1], vec![0; 5]));
        assert_eq!(Slots::new(&system).find(&system.bonds, 1, 2), None);
        system.set_rigid(RigidMask::default());
        assert_eq!(masks(&system), all);
    }
}
