//! The bonds as the device keeps them: each on both of its sides, slot-major, entry `slot·stride + i` for bond number `slot` of
//! element i, so that neighbouring elements read neighbouring words.

use crate::simulate::bonded::bonds::{Bonds, Side};
use crate::simulate::bonded::system::System;

/// Where the bonds stand; breaking does not change it.
pub struct Slots {
    /// Most bonds that an element has.
    pub slots: usize,
    stride: usize,
}

impl Slots {
    /// Of all bonds of a system.
    pub fn new(system: &System<f32>) -> Self {
        let stride = system.motion.len();
        let valences = (0..stride).map(|i| system.bonds.sides(i).count());
        Slots {
            slots: valences.max().unwrap_or(0),
            stride,
        }
    }

    /// The bond in a slot that is not empty.
    pub fn side(&self, bonds: &Bonds<f32>, element: u32, slot: u32) -> Side {
        let element = element as usize;
        let side = bonds.sides(element).nth(slot as usize);
        side.expect("the device names slots that hold bonds")
    }

    /// Entry of the slot that holds the bond to another element.
    pub fn find(&self, bonds: &Bonds<f32>, element: usize, other: u32) -> Option<usize> {
        let slot = bonds
            .sides(element)
            .position(|side| side.other == other as usize)?;
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
            for (slot, side) in bonds.sides(i).enumerate() {
                out[slot * self.stride + i] = bond(side);
            }
        }
        out
    }

    /// Bit s of each element set where the bond in its slot s is whole, or where it is broken.
    pub fn masks(&self, bonds: &Bonds<f32>, whole: bool) -> Vec<u32> {
        let mask = |i: usize| {
            bonds.sides(i).enumerate().fold(0, |mask, (slot, side)| {
                mask | u32::from(bonds.is_whole(side.entry) == whole) << slot
            })
        };
        (0..self.stride).map(mask).collect()
    }

    /// Rest directions and lengths; of broken bonds zero, where the spring of their contact stands, and the distance of touching.
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
