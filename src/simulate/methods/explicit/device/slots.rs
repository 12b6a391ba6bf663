//! The bonds as the device keeps them: each on both of its sides, slot-major, entry `slot·stride + i` for
//! bond number `slot` of element i, so that neighbouring elements read neighbouring words.
//!
//! Bonds within a rigid piece have no slot: the device neither evaluates them nor takes their ends for broken
//! pairs. Slots are made anew when the mask of rigid elements changes.

use crate::simulate::bonded::bonds::{Bonds, Side};
use crate::simulate::bonded::system::System;

/// Slots that the masks of an element have a bit for.
pub const MOST_SLOTS: usize = u32::BITS as usize;

/// Where the bonds stand; breaking does not change it.
pub struct Slots {
    /// Most bonds and crowded partners that an element has.
    pub slots: usize,
    stride: usize,
}

impl Slots {
    /// Of all bonds of a system but those within a rigid piece.
    pub fn new(system: &System<f32>) -> Self {
        let stride = system.motion.len();
        let valences =
            (0..stride).map(|i| sides(&system.bonds, i).count() + system.crowded.partners(i).len());
        Slots {
            slots: valences.max().unwrap_or(0),
            stride,
        }
    }

    /// Other element of each slot; of an empty one the element itself.
    ///
    /// Crowded partners stand behind the bonds, with nothing in their slots: the two never touch.
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
    pub fn side(&self, bonds: &Bonds<f32>, element: u32, slot: u32) -> Side {
        let element = element as usize;
        let side = sides(bonds, element).nth(slot as usize);
        side.expect("the device names slots that hold bonds")
    }

    /// Entry of the slot that holds the bond to another element.
    pub fn find(&self, bonds: &Bonds<f32>, element: usize, other: u32) -> Option<usize> {
        let slot = sides(bonds, element).position(|side| side.other == other as usize)?;
        Some(slot * self.stride + element)
    }

    /// A value a slot: of its bond as seen from its element, or of an empty one.
    pub fn map<T>(
        &self,
        bonds: &Bonds<f32>,
        bond: impl Fn(Side) -> T,
        empty: impl Fn(usize) -> T,
    ) -> Vec<T> {
        let mut out: Vec<T> = (0..self.slots * self.stride)
            .map(|at| empty(at % self.stride))
            .collect();
        for i in 0..self.stride {
            for (slot, side) in sides(bonds, i).enumerate() {
                out[slot * self.stride + i] = bond(side);
            }
        }
        out
    }

    /// Bit s of each element set where the bond in its slot s is whole, or where it is broken.
    pub fn masks(&self, bonds: &Bonds<f32>, whole: bool) -> Vec<u32> {
        let mask = |i: usize| {
            sides(bonds, i).enumerate().fold(0, |mask, (slot, side)| {
                mask | u32::from(bonds.is_whole(side.entry) == whole) << slot
            })
        };
        (0..self.stride).map(mask).collect()
    }

    /// Rest directions and lengths; of broken bonds zero, where the spring of their contact stands, and the
    /// distance of touching.
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

/// The bonds of an element that have a slot, in the order of their slots.
fn sides(bonds: &Bonds<f32>, element: usize) -> impl Iterator<Item = Side> {
    let all = bonds.sides(element);
    all.filter(|side| !bonds.is_within_piece(side.entry))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::bonded::bonds::{BondRow, BondRows};
    use crate::simulate::bonded::rigid_mask::RigidMask;
    use crate::spec::Law;

    #[test]
    fn bonds_within_a_rigid_piece_have_no_slot() {
        // A chain of five elements.
        let mut system = System::new(5, 16, Law::Bdem);
        let mut rows = BondRows::with_capacity(4);
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
        system.bonds = Bonds::new(system.motion.len(), rows, system.rigid());
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
