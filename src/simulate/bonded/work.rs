//! Energy dissipated by damping, friction and breaking.
//!
//! Every element gets half of the energy that its pairs dissipate, summed in the order of its loads, and
//! frames sum elements in order: neither threads nor chunks nor lanes change a bit.

use std::ops::AddAssign;

use crate::laws::bond::{BondLaw, BondState};
use crate::laws::failure::{self, CriterionSection};
use crate::laws::table::{dispatch_law, with_law};
use crate::laws::{self, softening};
use crate::math::{Lanes, Real, Scalar, Vec3};
use crate::simulate::bonded::rows::{low, quaternion, vector};
use crate::simulate::bonded::system::{System, motion};

/// Energy dissipated since the start, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Energy dissipated by the damping of bonds and contacts.
    pub damping: f64,
    /// Energy dissipated by sliding and rolling.
    pub friction: f64,
    /// Energy stored in bonds when they broke.
    pub breaking: f64,
}

impl AddAssign<Dissipation> for Work {
    fn add_assign(&mut self, more: Dissipation) {
        self.damping += more.damping;
        self.friction += more.friction;
    }
}

/// Energy dissipated by one element's share of its pairs since the previous frame, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dissipation {
    /// Energy dissipated by the damping of bonds and contacts.
    pub damping: f64,
    /// Energy dissipated by sliding and rolling.
    pub friction: f64,
}

/// Energy dissipated by a row of pairs in a step, J.
#[derive(Clone, Copy, Debug)]
pub struct PairDissipation<L> {
    /// Energy dissipated by damping.
    pub damping: L,
    /// Energy dissipated by friction.
    pub friction: L,
}

impl<L: Lanes> PairDissipation<L> {
    /// Dissipation by damping and sliding.
    #[inline(always)]
    pub fn sliding((damping, friction): (L, L)) -> Self {
        PairDissipation { damping, friction }
    }

    /// Adds the damping and slip of rolling.
    #[inline(always)]
    pub fn rolling(self, (damping, friction): (L, L)) -> Self {
        PairDissipation {
            damping: self.damping + damping,
            friction: self.friction + friction,
        }
    }
}

impl Dissipation {
    /// Adds a fraction of the energy dissipated by a pair.
    #[inline(always)]
    pub fn add(&mut self, part: f64, [damping, friction]: [f64; 2]) {
        self.damping += part * damping;
        self.friction += part * friction;
    }
}

/// Calls `act` for each element of a chunk.
pub fn each(chunk: &mut [Dissipation], act: &mut dyn FnMut(&mut Dissipation)) {
    chunk.iter_mut().for_each(act);
}

/// Moves the energies of all elements since the previous frame into a total.
pub fn drain(chunks: &mut [Vec<Dissipation>], to: &mut Work) {
    for dissipation in chunks.iter_mut().flatten() {
        *to += std::mem::take(dissipation);
    }
}

impl<S: Scalar> System<S> {
    /// Elastic energy of a bond, J.
    pub fn bond_energy(&self, entry: usize) -> f64 {
        self.bond_energy_left(entry, self.bonds.left(entry).stiffness)
    }

    /// Elastic energy that a bond would have with `stiffness` left, J.
    pub(super) fn bond_energy_left(&self, entry: usize, stiffness: f64) -> f64 {
        let at = self.bond_state(entry);
        let whole = with_law!(self.law, law => energy(law, at));
        let left = S::from_f64(stiffness);
        softening::energy(whole, at.x, at.rest_length, at.k.normal, left).to_f64()
    }

    /// p_i − p_j of a bond (m) and the force on its owner i (N), undamaged and without damping.
    pub(super) fn bond_force(&self, entry: usize) -> (Vec3<f64>, Vec3<f64>) {
        let at = self.bond_state(entry);
        let force = with_law!(self.law, law => force(law, at));
        (to_f64(at.x), to_f64(force))
    }

    /// p_i − p_j of a bond, m, i its owner.
    pub(super) fn bond_vector(&self, entry: usize) -> Vec3<f64> {
        to_f64(self.bond_state(entry).x)
    }

    /// Normal and shear stress of a bond by its own criterion, undamaged, Pa.
    pub(super) fn bond_stress(&self, entry: usize) -> [f64; 2] {
        let at = self.bond_state(entry);
        let section = &self.classes[self.bonds.class.get(entry) as usize].section;
        let (sigma, tau) = with_law!(self.law, law => stress(law, at, section));
        [sigma.to_f64(), tau.to_f64()]
    }

    /// Where the ends of a bond are, at rest and now.
    fn bond_state(&self, entry: usize) -> BondState<S> {
        let bonds = &self.bonds;
        let (i, j) = (bonds.place(entry).0, bonds.other[entry] as usize);
        let [own, other] = [i, j].map(|k| &self.motion[k].0);
        let direction = [0, 1, 2].map(|axis| bonds.direction[axis][entry]);
        let length = bonds.length.get(entry);
        BondState {
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
        }
    }
}

/// Normal and shear stress of an undamaged bond, Pa.
fn stress<B: BondLaw, T: Real>(_: B, at: BondState<T>, section: &CriterionSection<T>) -> (T, T) {
    failure::stress(&B::load(at), section)
}

/// Force on the owner of an undamaged bond, N.
fn force<B: BondLaw, T: Real>(_: B, at: BondState<T>) -> Vec3<T> {
    B::load(at).force
}

fn to_f64<T: Scalar>(v: Vec3<T>) -> Vec3<f64> {
    Vec3::new(v.x.to_f64(), v.y.to_f64(), v.z.to_f64())
}

/// Elastic energy of an undamaged bond, J.
fn energy<B: BondLaw, T: Real>(_: B, at: BondState<T>) -> T {
    B::energy(at, &B::load(at))
}
