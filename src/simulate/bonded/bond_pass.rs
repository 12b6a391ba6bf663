//! Evaluates the bonds of one chunk of elements. The chunk of a bond's owner evaluates it once and stores its
//! load on the other end in a row. A bond between two chunks is evaluated by both, with the same bits: no
//! chunk waits for another.
//!
//! Every element sums its owned bonds slot by slot, then the others in their order, whichever chunk evaluated
//! them. So the number of threads, the size of chunks and the width of lanes do not change a bit.
//!
//! Only active bonds are evaluated. Bonds inside a rigid piece are treated as broken here: they are not in
//! the lists of bonds owned elsewhere. Rows of lanes without an active bond are skipped, and so are blocks of
//! elements and chunks without any.

use crate::laws;
use crate::laws::bond::{BondLaw, BondLoad, BondState, Stiffness};
use crate::laws::softening::{self, Left};
use crate::math::lanes::LaneRow;
use crate::math::{Lanes, Pass, Scalar, Vec3};
use crate::simulate::bonded::bonds::{BLOCK, Bonds};
use crate::simulate::bonded::rows::{lane_buffer, low, quaternion, vector};
use crate::simulate::bonded::system::{BondClass, CLASS_FIELDS, System, motion};

/// A computation over bonds that yields a sum over the bonds of each element.
pub trait BondTask<L: Lanes> {
    /// Sums of the elements in a row of lanes.
    type Sum: Copy;
    /// Whether the law must compute energies.
    const ENERGY: bool;

    /// A sum of zero.
    fn zero() -> Self::Sum;
    /// Adds the bonds selected by the mask to the sums of their owners; returns the contributions to the
    /// other ends.
    fn bond(&mut self, sum: &mut Self::Sum, bond: &BondLanes<L>, mask: L::Mask) -> [L; 8];
    /// Inspects a row of owned bonds after `bond`: `bits` marks the active ones, `first` is the first owner,
    /// `entry` the first entry, `others` are the other ends.
    fn inspect(
        &mut self,
        bond: &BondLanes<L>,
        bits: u32,
        first: usize,
        entry: usize,
        others: &[u32],
    );
    /// Stores the sums of owned bonds for the elements of the chunk from `local` on.
    fn store_owned(&mut self, local: usize, sum: Self::Sum);
    /// Adds the contribution of one bond to the end that does not own it.
    fn accumulate(sum: &mut [L::Scalar; 8], row: &[L::Scalar; 8]);
    /// Adds `sum`, the loads of bonds owned by their other end, to an element of the chunk.
    fn add_foreign(&mut self, local: usize, sum: [L::Scalar; 8]);
}

/// Evaluated bonds, one per lane.
pub struct BondLanes<'a, L: Lanes> {
    /// p_i − p_j, i the owner.
    pub x: Vec3<L>,
    /// Motion rows of the owners.
    pub own: &'a [L; 16],
    /// Motion rows of the other ends.
    pub other: &'a [L; 16],
    /// Load on the owners by the law.
    pub load: BondLoad<L>,
    /// Properties of their bond classes.
    pub class: BondClass<L>,
    /// Elastic energy by the law, J; 0 unless the task needs it.
    pub energy: L,
    /// Tensile and shear strength, Pa.
    pub strength: (L, L),
}

/// Bonds that end in a chunk and are owned by elements of other chunks, in the order in which the chunk's
/// elements read them. While there are rigid pieces, bonds inside one and bonds that were broken when this was
/// built are left out. Rebuilt when the mask of rigid elements changes.
#[derive(Clone, Debug, Default)]
pub struct Border<S> {
    /// Entries of the bonds, padded to whole blocks.
    entry: Vec<u32>,
    /// Owners of the bonds.
    owner: Vec<u32>,
    /// Elements of the chunk at their other ends.
    other: Vec<u32>,
    /// Rest directions, pointing away from the owners.
    direction: [Vec<S>; 3],
    /// Bit k of block b is set while bond 16 b + k is intact.
    whole: Vec<u32>,
    /// Whether no bond of the chunk's elements was active when this was built.
    is_idle: bool,
}

impl<S: Scalar> Border<S> {
    /// Borders of all chunks.
    pub fn all(system: &System<S>) -> Vec<Self> {
        let (bonds, padded, chunk) = (&system.bonds, system.motion.len(), system.chunk);
        (0..padded)
            .step_by(chunk)
            .map(|first| Self::new(bonds, first..(first + chunk).min(padded)))
            .collect()
    }

    fn new(bonds: &Bonds<S>, chunk: std::ops::Range<usize>) -> Self {
        let (active, foreign) = (bonds.active(), bonds.active_foreign());
        let mut border = Border::default();
        for element in chunk.clone() {
            for &entry in foreign.of(element) {
                let (owner, _) = bonds.place(entry as usize);
                if chunk.contains(&owner) {
                    continue;
                }
                if border.entry.len() % BLOCK == 0 {
                    border.whole.push(0);
                }
                if bonds.is_intact(entry as usize) {
                    *border.whole.last_mut().expect("just pushed") |=
                        1 << (border.entry.len() % BLOCK);
                }
                border.entry.push(entry);
                border.owner.push(owner as u32);
                border.other.push(element as u32);
                for (to, from) in border.direction.iter_mut().zip(&bonds.direction) {
                    to.push(from[entry as usize]);
                }
            }
        }
        let filled = border.entry.len().next_multiple_of(BLOCK);
        for column in [&mut border.entry, &mut border.owner, &mut border.other] {
            column.resize(filled, column.first().copied().unwrap_or_default());
        }
        for column in &mut border.direction {
            column.resize(filled, column.first().copied().unwrap_or_default());
        }
        let mut masks = active[chunk].iter().chain(&border.whole);
        border.is_idle = masks.all(|&mask| mask == 0);
        border
    }

    /// Removes a broken bond if it is listed here.
    pub fn unbond(&mut self, entry: u32) {
        if let Some(at) = self.entry.iter().position(|&e| e == entry) {
            self.whole[at / BLOCK] &= !(1 << (at % BLOCK));
        }
    }

    /// Bytes of it that a pass reads.
    pub fn bytes(&self) -> u64 {
        ((12 + 3 * size_of::<S>()) * self.entry.len() + 4 * self.whole.len()) as u64
    }
}

/// A pass over the bonds of one chunk, all of the same law.
pub struct BondPass<'a, L: Lanes, T, B> {
    /// The law.
    pub law: B,
    /// Motion, rotations and bonds of all elements.
    pub system: &'a System<L::Scalar>,
    /// Bonds that end in the chunk and are owned elsewhere.
    pub border: &'a Border<L::Scalar>,
    /// First element of the chunk.
    pub first: usize,
    /// Number of elements in the chunk.
    pub count: usize,
    /// Scratch buffer for the contributions to the other ends, reused from step to step.
    pub other_end_loads: &'a mut Vec<LaneRow<L::Scalar, 8>>,
    /// The computation.
    pub task: T,
}

/// Motion and tail rows of both ends of a row of bonds.
struct RowEnds<L> {
    own: [L; 16],
    own_tail: [L; 4],
    other: [L; 16],
    other_tail: [L; 4],
}

/// Rest state and properties of a row of bonds.
struct RowRest<L> {
    direction: Vec3<L>,
    length: L,
    class: BondClass<L>,
    k: Stiffness<L>,
    strength: (L, L),
    /// What is left of the bonds, if any softens.
    left: Option<Left<L>>,
}

impl<L: Lanes, T: BondTask<L>, B: BondLaw> Pass<L> for BondPass<'_, L, T, B> {
    type Out = T;

    #[inline(always)]
    fn run(mut self) -> T {
        if self.border.is_idle {
            for local in (0..self.count).step_by(L::WIDTH) {
                self.task.store_owned(local, T::zero());
            }
            return self.task;
        }
        let bonds = &self.system.bonds;
        let (active, foreign) = (bonds.active(), bonds.active_foreign());
        let slots = bonds.slots;
        let base = self.first * slots;
        let owned = self.count * slots;
        self.other_end_loads
            .resize(owned + self.border.entry.len(), LaneRow::default());
        let idle = bonds.idle_blocks();
        let first = self.first;
        let is_idle = |local: usize| idle.is_some_and(|idle| idle[(first + local) / BLOCK]);
        for local in (0..self.count).step_by(L::WIDTH) {
            match is_idle(local) {
                true => self.task.store_owned(local, T::zero()),
                false => self.own_bonds(active, local, base),
            }
        }
        for at in (0..self.border.entry.len()).step_by(L::WIDTH) {
            self.border_bonds(at, owned);
        }
        // Border rows are stored in the order in which they are read here.
        let mut next = owned;
        for block in (0..self.count).step_by(BLOCK) {
            if is_idle(block) {
                continue;
            }
            for local in block..self.count.min(block + BLOCK) {
                let mut sum = [L::Scalar::default(); 8];
                for &entry in foreign.of(self.first + local) {
                    let here = (entry as usize).wrapping_sub(base);
                    let outside = here >= owned;
                    let row = if outside { next } else { here };
                    next += usize::from(outside);
                    T::accumulate(&mut sum, &self.other_end_loads[row].0);
                }
                self.task.add_foreign(local, sum);
            }
        }
        self.task
    }
}

impl<L: Lanes, T: BondTask<L>, B: BondLaw> BondPass<'_, L, T, B> {
    /// Evaluates the bonds owned by a row of lanes that begins at element `local` of the chunk.
    #[inline(always)]
    fn own_bonds(&mut self, active: &[u32], local: usize, base: usize) {
        let (system, bonds) = (self.system, &self.system.bonds);
        let i = self.first + local;
        let own: [L; 16] = L::load_rows(&system.motion[i..]);
        let own_tail: [L; 4] = L::load_rows(&system.tail[i..]);
        let active = &active[i..i + L::WIDTH];
        let every = active.iter().fold(u32::MAX, |all, mask| all & mask);
        let mut sum = T::zero();
        for slot in 0..bonds.slots {
            let mut bits = u32::MAX;
            if every >> slot & 1 == 0 {
                bits = 0;
                for (lane, mask) in active.iter().enumerate() {
                    bits |= (mask >> slot & 1) << lane;
                }
            }
            let entry = bonds.at(slot, i);
            let to = &mut self.other_end_loads[entry - base..];
            if bits == 0 {
                L::store_rows([L::zero(); 8], to);
                continue;
            }
            let others = &bonds.other[entry..entry + L::WIDTH];
            if local + L::WIDTH < self.count {
                let next = bonds.at(slot, i + L::WIDTH);
                let others = &bonds.other[next..next + L::WIDTH];
                L::prefetch(&system.motion, others);
                L::prefetch(&system.tail, others);
            }
            let ends = RowEnds {
                own,
                own_tail,
                other: L::gather(&system.motion, others),
                other_tail: L::gather(&system.tail, others),
            };
            let (class, k, length) = system.class_lanes::<L>(Entries::From(entry));
            let rest = RowRest {
                direction: Vec3::new(
                    L::load(&bonds.direction[0][entry..]),
                    L::load(&bonds.direction[1][entry..]),
                    L::load(&bonds.direction[2][entry..]),
                ),
                length,
                class,
                k,
                strength: (bonds.sigma_c.load(entry), bonds.tau_c.load(entry)),
                left: bonds.softening.as_ref().map(|left| left.load(entry)),
            };
            let bond = evaluate::<L, T, B>(&ends, rest);
            let row = self.task.bond(&mut sum, &bond, L::mask(bits));
            L::store_rows(row, to);
            self.task.inspect(&bond, bits, i, entry, others);
        }
        self.task.store_owned(local, sum);
    }

    /// Evaluates a row of bonds that are owned elsewhere.
    #[inline(always)]
    fn border_bonds(&mut self, at: usize, owned: usize) {
        let (system, bonds, border) = (self.system, &self.system.bonds, self.border);
        let bits = border.whole[at / BLOCK] >> (at % BLOCK);
        let to = &mut self.other_end_loads[owned + at..];
        if bits == 0 {
            L::store_rows([L::zero(); 8], to);
            return;
        }
        let (owners, others) = (&border.owner[at..], &border.other[at..]);
        let ends = RowEnds {
            own: L::gather(&system.motion, owners),
            own_tail: L::gather(&system.tail, owners),
            other: L::gather(&system.motion, others),
            other_tail: L::gather(&system.tail, others),
        };
        let entries = &border.entry[at..];
        let (class, k, length) = system.class_lanes::<L>(Entries::These(entries));
        let rest = RowRest {
            direction: Vec3::new(
                L::load(&border.direction[0][at..]),
                L::load(&border.direction[1][at..]),
                L::load(&border.direction[2][at..]),
            ),
            length,
            class,
            k,
            strength: (bonds.sigma_c.pick(entries), bonds.tau_c.pick(entries)),
            left: bonds.softening.as_ref().map(|left| left.pick(entries)),
        };
        let bond = evaluate::<L, T, B>(&ends, rest);
        let row = self.task.bond(&mut T::zero(), &bond, L::mask(bits));
        L::store_rows(row, to);
    }
}

#[inline(always)]
fn evaluate<L: Lanes, T: BondTask<L>, B: BondLaw>(
    ends: &RowEnds<L>,
    rest: RowRest<L>,
) -> BondLanes<'_, L> {
    let (own, other) = (&ends.own, &ends.other);
    let at = BondState {
        x: laws::motion::separation(
            vector(own, motion::P),
            low(own),
            vector(other, motion::P),
            low(other),
        ),
        q_i: quaternion(own),
        q_j: quaternion(other),
        unapplied: vector(&ends.other_tail, 0) - vector(&ends.own_tail, 0),
        rest_direction: rest.direction,
        rest_length: rest.length,
        k: rest.k,
    };
    let load = B::load(at);
    let energy = if T::ENERGY {
        B::energy(at, &load)
    } else {
        L::zero()
    };
    let whole = BondLanes {
        x: at.x,
        own,
        other,
        load,
        energy,
        class: rest.class,
        strength: rest.strength,
    };
    match rest.left {
        None => whole,
        Some(left) => softened(whole, left, (at.rest_length, at.k.normal)),
    }
}

/// Bonds with what is left of their loads, energies, strengths and damping.
#[inline(always)]
fn softened<'a, L: Lanes>(
    mut bond: BondLanes<'a, L>,
    left: Left<L>,
    (length, normal): (L, L),
) -> BondLanes<'a, L> {
    let (stiffness, strength) = (left.stiffness, left.strength);
    bond.energy = softening::energy(bond.energy, bond.x, length, normal, stiffness);
    bond.load = softening::softened(bond.load, bond.x, length, normal, stiffness);
    bond.class.damping = bond.class.damping * stiffness;
    bond.class.spin_damping = bond.class.spin_damping * stiffness;
    bond.strength = (bond.strength.0 * strength, bond.strength.1 * strength);
    bond
}

/// Bond entries of a row of lanes.
#[derive(Clone, Copy)]
enum Entries<'a> {
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

impl<S: Scalar> System<S> {
    /// Class, stiffnesses and rest length of each lane's bond; classes rarely differ within a row of lanes.
    #[inline(always)]
    fn class_lanes<L: Lanes<Scalar = S>>(
        &self,
        entries: Entries,
    ) -> (BondClass<L>, Stiffness<L>, L) {
        let length = match entries {
            Entries::From(first) => self.bonds.length.load(first),
            Entries::These(entries) => self.bonds.length.pick(entries),
        };
        let class = &self.bonds.class;
        let first = class.get(entries.get(0));
        let class = if (1..L::WIDTH).all(|lane| class.get(entries.get(lane)) == first) {
            self.classes[first as usize].map(|value| L::splat(value.to_f64()))
        } else {
            let mut lanes = [first; BLOCK];
            for (lane, class_of_lane) in lanes[..L::WIDTH].iter_mut().enumerate() {
                *class_of_lane = class.get(entries.get(lane));
            }
            let mut fields = [lane_buffer::<L>(); CLASS_FIELDS];
            for (lane, &class) in lanes[..L::WIDTH].iter().enumerate() {
                let mut fields = fields.iter_mut();
                self.classes[class as usize].map(|value| {
                    if let Some(field) = fields.next() {
                        field[lane] = value;
                    }
                    value
                });
            }
            let mut field = 0;
            self.classes[first as usize].map(|_| {
                field += 1;
                L::load(&fields[field - 1])
            })
        };
        (class, class.stiffness(length), length)
    }
}
