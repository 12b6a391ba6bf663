//! Where energy went: what damping, friction and breaking have taken.
//!
//! Every element has half of what its pairs take, added up in the order in which it adds up loads, and frames
//! sum elements in their order: neither threads nor chunks nor lanes can change a bit.

use std::ops::AddAssign;

use crate::laws;
use crate::laws::bond::{BondLaw, BondState};
use crate::laws::table::{dispatch_law, with_law};
use crate::math::{Lanes, Real, Scalar};
use crate::simulate::bonded::rows::{low, quaternion, vector};
use crate::simulate::bonded::system::{System, motion};

/// Energy taken since the start, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// By the damping of bonds and contacts.
    pub damping: f64,
    /// By sliding and rolling.
    pub friction: f64,
    /// That bonds held when they broke.
    pub breaking: f64,
}

impl AddAssign<Taken> for Work {
    fn add_assign(&mut self, more: Taken) {
        self.damping += more.damping;
        self.friction += more.friction;
    }
}

/// What one element's share of its pairs took since the frame before, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Taken {
    /// By the damping of bonds and contacts.
    pub damping: f64,
    /// By sliding and rolling.
    pub friction: f64,
}

/// What a row of pairs took in a step, J.
#[derive(Clone, Copy, Debug)]
pub struct PairsTook<L> {
    /// By damping.
    pub damping: L,
    /// By friction.
    pub friction: L,
}

impl<L: Lanes> PairsTook<L> {
    /// From damping and sliding.
    #[inline(always)]
    pub fn sliding((damping, friction): (L, L)) -> Self {
        PairsTook { damping, friction }
    }

    /// With damping and giving way of what rolls.
    #[inline(always)]
    pub fn rolling(self, (damping, friction): (L, L)) -> Self {
        PairsTook {
            damping: self.damping + damping,
            friction: self.friction + friction,
        }
    }
}

impl Taken {
    /// Adds a part of what a pair took.
    #[inline(always)]
    pub fn add(&mut self, part: f64, [damping, friction]: [f64; 2]) {
        self.damping += part * damping;
        self.friction += part * friction;
    }
}

/// Takes what elements have had since the frame before.
pub fn take(chunks: &mut [Vec<Taken>], to: &mut Work) {
    for taken in chunks.iter_mut().flatten() {
        *to += std::mem::take(taken);
    }
}

impl<S: Scalar> System<S> {
    /// Elastic energy of a bond, J.
    pub fn bond_energy(&self, entry: usize) -> f64 {
        let bonds = &self.bonds;
        let (i, j) = (bonds.place(entry).0, bonds.other[entry] as usize);
        let [own, other] = [i, j].map(|k| &self.motion[k].0);
        let direction = [0, 1, 2].map(|axis| bonds.direction[axis][entry]);
        let length = bonds.length.get(entry);
        let at = BondState {
            x: laws::motion::separation(
                vector(own, motion::P),
                low(own),
                vector(other, motion::P),
                low(other),
            ),
            q_i: quaternion(own),
            q_j: quaternion(other),
            unapplied: vector(&self.tail[j].0, 0) - vector(&self.tail[i].0, 0),
            rest_direction: vector(&direction, 0),
            rest_length: length,
            k: self.classes[bonds.class.get(entry) as usize].stiffness(length),
        };
        with_law!(self.law, law => energy(law, at)).to_f64()
    }
}

fn energy<B: BondLaw, T: Real>(_: B, at: BondState<T>) -> T {
    B::energy(at, &B::load(at))
}
