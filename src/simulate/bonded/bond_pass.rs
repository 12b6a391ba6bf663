//! Evaluates the bonds of one chunk of elements. The chunk of a bond's owner evaluates it once and stores its
//! load on the other end in a row. A bond between two chunks is evaluated by both, with the same bits: no
//! chunk waits for another.
//!
//! Every element sums its owned bonds slot by slot, then the others in their order, whichever chunk evaluated
//! them. So the number of threads, the size of chunks and the width of lanes do not change a bit.
//!
//! What bounds it (Zen 4, sixteen lanes; `llvm-mca -mcpu=znver4` of LLVM 19 on the instructions of a row): a row of
//! sixteen bonds takes about 320 cycles if every load hits the cache. 190 of its 700 instructions are arithmetic,
//! 140 of them on two units, of which the 75 shuffles use one, too. The rest loads rows, computes addresses and spills
//! registers. Its longest chain of dependent operations takes 210 cycles, and the processor looks ahead by less than
//! half a row. Two rows side by side were slower: their registers are spilled more often.
//!
//! Only active bonds are evaluated. Bonds inside a rigid piece are treated as broken here: they are not in
//! the lists of bonds owned elsewhere. Rows of lanes without an active bond are skipped, and so are blocks of
//! elements and chunks without any.

use crate::laws;
use crate::laws::bond::{BondLaw, BondLoad, BondState};
use crate::laws::softening::{self, Left};
use crate::math::lanes::LaneRow;
use crate::math::{Lanes, Pass, Vec3};
use crate::simulate::bonded::bonds::BLOCK;
use crate::simulate::bonded::border::{Border, GROUP};
use crate::simulate::bonded::kind::{BondKind, Entries};
use crate::simulate::bonded::rows::{low, quaternion, vector};
use crate::simulate::bonded::system::{BondClass, System, motion};

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
    /// Properties of their bond classes, undamaged.
    pub class: &'a BondClass<L>,
    /// Damping of relative translation, N s/m, and of relative spin, N m s, of which damage leaves less.
    pub damping: (L, L),
    /// Elastic energy by the law, J; 0 unless the task needs it.
    pub energy: L,
    /// Tensile and shear strength, Pa.
    pub strength: (L, L),
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
struct RowRest<'a, L> {
    kind: &'a BondKind<L>,
    direction: Vec3<L>,
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
        let active = bonds.active();
        let slots = bonds.slots;
        let base = self.first * slots;
        let owned = self.count * slots;
        let zeros = owned + self.border.entry.len();
        self.other_end_loads.resize(zeros + 1, LaneRow::default());
        self.other_end_loads[zeros] = LaneRow::default();
        let idle = bonds.idle_blocks();
        let first = self.first;
        let is_idle = |local: usize| idle.is_some_and(|idle| idle[(first + local) / BLOCK]);
        let mut kind = self.system.first_kind::<L>();
        for local in (0..self.count).step_by(L::WIDTH) {
            match is_idle(local) {
                true => self.task.store_owned(local, T::zero()),
                false => self.own_bonds(active, local, base, &mut kind),
            }
        }
        for at in (0..self.border.entry.len()).step_by(L::WIDTH) {
            self.border_bonds(at, owned, &mut kind);
        }
        for block in (0..self.count).step_by(BLOCK) {
            if is_idle(block) {
                continue;
            }
            for group in (block..block + BLOCK).step_by(GROUP) {
                let mut sums = [[L::Scalar::default(); 8]; GROUP];
                for rows in self.border.rows_of(group / GROUP) {
                    // Not `zip`: see `columns` of avx512.rs.
                    for k in 0..GROUP {
                        T::accumulate(&mut sums[k], &self.other_end_loads[rows[k] as usize].0);
                    }
                }
                for (k, sum) in sums.iter().enumerate() {
                    self.task.add_foreign(group + k, *sum);
                }
            }
        }
        self.task
    }
}

impl<L: Lanes, T: BondTask<L>, B: BondLaw> BondPass<'_, L, T, B> {
    /// Evaluates the bonds owned by a row of lanes that begins at element `local` of the chunk.
    #[inline(always)]
    fn own_bonds(&mut self, active: &[u32], local: usize, base: usize, kind: &mut BondKind<L>) {
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
            system.read_kind(Entries::From(entry), kind);
            let rest = RowRest {
                kind: &*kind,
                direction: Vec3::new(
                    L::load(&bonds.direction[0][entry..]),
                    L::load(&bonds.direction[1][entry..]),
                    L::load(&bonds.direction[2][entry..]),
                ),
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
    fn border_bonds(&mut self, at: usize, owned: usize, kind: &mut BondKind<L>) {
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
        system.read_kind(Entries::These(entries), kind);
        let rest = RowRest {
            kind: &*kind,
            direction: Vec3::new(
                L::load(&border.direction[0][at..]),
                L::load(&border.direction[1][at..]),
                L::load(&border.direction[2][at..]),
            ),
            strength: (bonds.sigma_c.pick(entries), bonds.tau_c.pick(entries)),
            left: bonds.softening.as_ref().map(|left| left.pick(entries)),
        };
        let bond = evaluate::<L, T, B>(&ends, rest);
        let row = self.task.bond(&mut T::zero(), &bond, L::mask(bits));
        L::store_rows(row, to);
    }
}

#[inline(always)]
fn evaluate<'a, L: Lanes, T: BondTask<L>, B: BondLaw>(
    ends: &'a RowEnds<L>,
    rest: RowRest<'a, L>,
) -> BondLanes<'a, L> {
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
        rest_length: rest.kind.length,
        k: rest.kind.k,
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
        class: &rest.kind.class,
        damping: (rest.kind.class.damping, rest.kind.class.spin_damping),
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
    bond.damping = (bond.damping.0 * stiffness, bond.damping.1 * stiffness);
    bond.strength = (bond.strength.0 * strength, bond.strength.1 * strength);
    bond
}
