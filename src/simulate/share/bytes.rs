//! Records of messages as bytes, in native byte order, which must be the same on all ranks.

use bytemuck::Pod;
use glam::DVec3;

use crate::columns::BreakMode;
use crate::math::Scalar;
use crate::math::lanes::LaneRow;
use crate::simulate::bonded::bond_tasks::{BreakEvent, StressAndEnergy};
use crate::simulate::bonded::breaks::{BondBeforeBreak, BreakingBond, BrokenBond, BrokenSides};
use crate::simulate::bonded::held::HeldBond;
use crate::simulate::bonded::work::Dissipation;
use crate::simulate::contact::chunk::SpringEntry;
use crate::simulate::contact::pair_list::Memory;
use crate::simulate::run_state::frame_element::FrameElement;
use crate::simulate::scene::reactions::Wrench;

/// Appends a number, or an array of numbers.
#[inline]
pub fn put<T: Pod>(bytes: &mut Vec<u8>, value: T) {
    bytes.extend_from_slice(bytemuck::bytes_of(&value));
}

/// Reads a message from its start on.
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// A reader of a whole message.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader(bytes)
    }

    /// The next number, or array of numbers.
    ///
    /// # Panics
    /// At the end of the message.
    #[inline]
    pub fn get<T: Pod>(&mut self) -> T {
        let (value, rest) = self.0.split_at(size_of::<T>());
        self.0 = rest;
        bytemuck::pod_read_unaligned(value)
    }

    /// Whether the message ends here.
    pub fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }
}

/// A value of fixed size in a message.
pub trait Record: Copy + Send {
    /// Appends it to a message.
    fn put(&self, bytes: &mut Vec<u8>);
    /// Reads it from a message.
    fn get(from: &mut Reader) -> Self;
}

macro_rules! numbers {
    ($type:ty) => {
        impl Record for $type {
            fn put(&self, bytes: &mut Vec<u8>) {
                put(bytes, *self);
            }
            fn get(from: &mut Reader) -> Self {
                from.get()
            }
        }
    };
}
numbers!(u32);
numbers!(u64);
numbers!(f64);
numbers!(DVec3);
numbers!([f32; 6]);

macro_rules! row {
    ($width:literal) => {
        impl<S: Scalar> Record for LaneRow<S, $width> {
            #[inline]
            fn put(&self, bytes: &mut Vec<u8>) {
                put(bytes, self.0);
            }
            #[inline]
            fn get(from: &mut Reader) -> Self {
                LaneRow(from.get())
            }
        }
    };
}
row!(4);
row!(8);
row!(16);

impl Record for Dissipation {
    fn put(&self, bytes: &mut Vec<u8>) {
        put(bytes, [self.damping, self.friction]);
    }
    fn get(from: &mut Reader) -> Self {
        let [damping, friction] = from.get();
        Dissipation { damping, friction }
    }
}

impl Record for StressAndEnergy {
    fn put(&self, bytes: &mut Vec<u8>) {
        put(bytes, [self.sigma, self.tau, self.energy]);
    }
    fn get(from: &mut Reader) -> Self {
        let [sigma, tau, energy] = from.get();
        StressAndEnergy { sigma, tau, energy }
    }
}

impl Record for Wrench {
    fn put(&self, bytes: &mut Vec<u8>) {
        put(bytes, [self.force, self.torque]);
    }
    fn get(from: &mut Reader) -> Self {
        let [force, torque] = from.get();
        Wrench { force, torque }
    }
}

/// Modes in the order of their numbers in messages.
const MODES: [BreakMode; 3] = [BreakMode::Tension, BreakMode::Shear, BreakMode::Hydrostatic];

impl Record for BreakEvent {
    fn put(&self, bytes: &mut Vec<u8>) {
        put(bytes, [self.entry, self.i, self.j, self.mode as u32]);
        put(bytes, [self.sigma, self.tau]);
    }
    fn get(from: &mut Reader) -> Self {
        let ([entry, i, j, mode], [sigma, tau]): ([u32; 4], [f64; 2]) = (from.get(), from.get());
        BreakEvent {
            entry,
            i,
            j,
            sigma,
            tau,
            mode: MODES[mode as usize],
        }
    }
}

impl Record for BrokenSides {
    fn put(&self, bytes: &mut Vec<u8>) {
        put(bytes, self.bonds);
        put(bytes, self.area);
    }
    fn get(from: &mut Reader) -> Self {
        BrokenSides {
            bonds: from.get(),
            area: from.get(),
        }
    }
}

impl Record for FrameElement {
    fn put(&self, bytes: &mut Vec<u8>) {
        put(
            bytes,
            [self.position, self.velocity, self.spin, self.momentum],
        );
        put(bytes, self.rotation);
        put(
            bytes,
            [self.radius, self.mass, self.volume, self.inverse_mass],
        );
        put(bytes, self.body);
        self.carried.put(bytes);
        self.broken.put(bytes);
    }
    fn get(from: &mut Reader) -> Self {
        let [position, velocity, spin, momentum] = from.get();
        let (rotation, [radius, mass, volume, inverse_mass]) = (from.get(), from.get());
        FrameElement {
            position,
            velocity,
            spin,
            rotation,
            radius,
            mass,
            volume,
            body: from.get(),
            inverse_mass,
            momentum,
            carried: Record::get(from),
            broken: Record::get(from),
        }
    }
}

impl<S: Scalar> Record for BondBeforeBreak<S> {
    fn put(&self, bytes: &mut Vec<u8>) {
        put(bytes, self.id);
        put(bytes, self.from_i);
        put(bytes, self.length);
    }
    fn get(from: &mut Reader) -> Self {
        BondBeforeBreak {
            id: from.get(),
            from_i: from.get(),
            length: from.get(),
        }
    }
}

impl<S: Scalar> Record for BreakingBond<S> {
    fn put(&self, bytes: &mut Vec<u8>) {
        put(bytes, self.entry);
        self.bond.put(bytes);
        put(bytes, self.energy);
    }
    fn get(from: &mut Reader) -> Self {
        BreakingBond {
            entry: from.get(),
            bond: Record::get(from),
            energy: from.get(),
        }
    }
}

impl Record for BrokenBond {
    fn put(&self, bytes: &mut Vec<u8>) {
        put(bytes, self.step);
        put(bytes, [self.bond, u32::from(self.energy.is_some())]);
        self.event.put(bytes);
        put(bytes, [self.time, self.energy.unwrap_or_default()]);
        put(bytes, [self.middle, self.from_i, self.from_j]);
    }
    fn get(from: &mut Reader) -> Self {
        let (step, [bond, has_energy]): (_, [u32; 2]) = (from.get(), from.get());
        let (event, [time, energy]) = (Record::get(from), from.get());
        let [middle, from_i, from_j] = from.get();
        BrokenBond {
            step,
            time,
            bond,
            event,
            energy: (has_energy != 0).then_some(energy),
            middle,
            from_i,
            from_j,
        }
    }
}

impl<S: Scalar> Record for HeldBond<S> {
    fn put(&self, bytes: &mut Vec<u8>) {
        put(bytes, [self.entry, self.other, self.id, self.class]);
        put(bytes, self.direction);
        put(bytes, [self.length, self.strengths[0], self.strengths[1]]);
        put(bytes, u32::from(self.touch.is_some()));
        put(bytes, self.touch.unwrap_or_default());
    }
    fn get(from: &mut Reader) -> Self {
        let [entry, other, id, class] = from.get();
        let (direction, [length, sigma_c, tau_c]) = (from.get(), from.get());
        let is_broken = from.get::<u32>() != 0;
        let touch = from.get();
        HeldBond {
            entry,
            other,
            id,
            class,
            direction,
            length,
            strengths: [sigma_c, tau_c],
            touch: is_broken.then_some(touch),
        }
    }
}

impl<S: Scalar> Record for SpringEntry<S> {
    fn put(&self, bytes: &mut Vec<u8>) {
        let slides = u32::from(self.memory.slides);
        put(bytes, [self.element, self.partner, slides]);
        put(bytes, [self.memory.spring, self.memory.roll]);
    }
    fn get(from: &mut Reader) -> Self {
        let [element, partner, slides]: [u32; 3] = from.get();
        let [spring, roll]: [[S; 3]; 2] = from.get();
        SpringEntry {
            element,
            partner,
            memory: Memory {
                spring,
                roll,
                slides: slides != 0,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_as_they_were() {
        let events = MODES.map(|mode| BreakEvent {
            entry: 7,
            i: 1,
            j: 2,
            sigma: 0.1,
            tau: -0.0,
            mode,
        });
        let spring = SpringEntry {
            element: 3,
            partner: 1 << 31,
            memory: Memory {
                spring: [1.0f32, 2.0, 3.0],
                roll: [4.0, 5.0, 6.0],
                slides: true,
            },
        };
        let mut bytes = Vec::new();
        events.iter().for_each(|event| event.put(&mut bytes));
        spring.put(&mut bytes);
        let mut from = Reader::new(&bytes);
        assert_eq!(events.map(|_| BreakEvent::get(&mut from)), events);
        assert_eq!(SpringEntry::<f32>::get(&mut from), spring);
        assert!(from.is_at_end());
    }
}
