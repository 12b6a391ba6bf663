//! A pass over the faces of one chunk of cells, each face by the cell that owns its bond.

use super::columns::{Faces, RestLanes, field};
use crate::laws;
use crate::laws::cell::{self, Bend, Face, Fold, Turned};
use crate::math::lanes::Row;
use crate::math::{Lanes, Pass, Quat, Vec3};
use crate::simulate::bonded::bonds::BLOCK;
use crate::simulate::bonded::rows::{low, quaternion, vector};
use crate::simulate::bonded::system::{System, motion};

/// What is asked of the faces.
pub trait Task<L: Lanes> {
    /// Numbers of a face at rest that it reads, from the first on.
    const FIELDS: usize;

    /// A row of cells begins.
    fn begin(&mut self);
    /// The faces in one slot of the row; only lanes in `bits` have one.
    fn face(&mut self, at: &FaceLanes<L>);
    /// No lane of the row has a face in the slot at this place in the block.
    fn none(&mut self, place: usize);
    /// The row is done; `local` is its first cell in the chunk.
    fn end(&mut self, local: usize);
    /// All rows of a block of cells are done; `local` is its first cell in the chunk. In slot s there is a
    /// face if bit s of `filled` is set.
    fn block(&mut self, local: usize, filled: u32);
}

/// Cells of a row of lanes.
#[derive(Clone, Copy)]
pub enum Owners<'a> {
    /// Consecutive ones.
    From(usize),
    /// Any.
    These(&'a [u32]),
}

impl Owners<'_> {
    /// Their rows.
    #[inline(always)]
    pub fn rows<L: Lanes, const C: usize>(self, rows: &[Row<L::Scalar, C>]) -> [L; C] {
        match self {
            Owners::From(first) => L::load_rows(&rows[first..]),
            Owners::These(cells) => L::gather(rows, cells),
        }
    }
}

/// Faces side by side.
pub struct FaceLanes<'a, L: Lanes> {
    /// The faces among which they stand.
    pub faces: &'a Faces<L::Scalar>,
    /// First entry there.
    pub entry: usize,
    /// The same from the first entry of a block of cells on; 0 of faces that other chunks own.
    pub place: usize,
    /// Cells that own them.
    pub owners: Owners<'a>,
    /// Other cells.
    pub others: &'a [u32],
    /// Lanes with a face.
    pub bits: u32,
    /// They at rest.
    pub rest: RestLanes<'a, L::Scalar>,
    /// How the cells stand to each other.
    pub face: Face<L>,
    /// Both cells.
    pub ends: &'a Ends<'a, L>,
}

/// Both cells of a row of faces.
pub struct Ends<'a, L> {
    /// Motion of the owners.
    pub own: &'a [L; 16],
    /// Motion of the other cells.
    pub other: &'a [L; 16],
    /// Left-over rotation of the owners, and λε where the task has it.
    pub own_rest: &'a [L; 4],
    /// The same of the other cells.
    pub other_rest: &'a [L; 4],
    /// The owners' rotations.
    pub turned: &'a Turned<L>,
}

impl<L: Lanes> Ends<'_, L> {
    /// How the cells stand to each other at these faces.
    #[inline(always)]
    pub fn face(&self, rest: &RestLanes<L::Scalar>) -> Face<L> {
        let line = laws::motion::separation(
            vector(self.other, motion::P),
            low(self.other),
            vector(self.own, motion::P),
            low(self.own),
        );
        cell::face(
            line,
            self.turned,
            self.other_turn(),
            (rest.vector(field::ARM_I), rest.vector(field::ARM_J)),
        )
    }

    /// Rotations of both cells.
    #[inline(always)]
    pub fn rotations(&self) -> (Quat<L>, Quat<L>) {
        (quaternion(self.own), quaternion(self.other))
    }

    /// Rotation of the other cells, and what it has not taken yet.
    #[inline(always)]
    fn other_turn(&self) -> (Quat<L>, Vec3<L>) {
        (quaternion(self.other), vector(self.other_rest, 0))
    }

    /// A vector of both cells' motion.
    #[inline(always)]
    pub fn both(&self, at: usize) -> (Vec3<L>, Vec3<L>) {
        (vector(self.own, at), vector(self.other, at))
    }

    /// λ(ε_i + ε_j), Pa.
    #[inline(always)]
    pub fn pressure(&self) -> L {
        self.own_rest[3] + self.other_rest[3]
    }
}

impl<L: Lanes> FaceLanes<'_, L> {
    /// Bending of the walls that they are faces of; nothing where there are none.
    #[inline(always)]
    pub fn fold(&self) -> Option<Fold<L>> {
        let through = self.faces.through.as_ref()?;
        let normal = self.rest.vector(field::NORMAL);
        let through = through.vectors(self.entry, 0);
        Some(cell::fold(self.ends.rotations(), normal, through))
    }

    /// Bending and twist.
    #[inline(always)]
    pub fn bend(&self) -> Bend<L> {
        cell::bending(
            self.ends.turned,
            self.ends.other_turn(),
            self.rest.vector(field::NORMAL),
            self.rest.vector(field::SECOND),
            self.rest.vector(field::BENDING),
        )
    }
}

/// Slots ahead of the one at work that are asked for.
const AHEAD: usize = 2;

/// The pass.
pub struct FacePass<'a, L: Lanes, T> {
    /// Elements and bonds.
    pub system: &'a System<L::Scalar>,
    /// Faces.
    pub faces: &'a Faces<L::Scalar>,
    /// Left-over rotation of each cell, and what the task asks for beside it.
    pub rest: &'a [Row<L::Scalar, 4>],
    /// First cell of the chunk.
    pub first: usize,
    /// Cells of the chunk.
    pub count: usize,
    /// What is asked.
    pub task: &'a mut T,
}

impl<L: Lanes, T: Task<L>> Pass<L> for FacePass<'_, L, T> {
    type Out = ();

    #[inline(always)]
    fn run(mut self) {
        for block in (0..self.count).step_by(BLOCK) {
            let mut filled = 0;
            for local in (block..block + BLOCK).step_by(L::WIDTH) {
                filled |= self.row(local);
            }
            self.task.block(block, filled);
        }
    }
}

impl<L: Lanes, T: Task<L>> FacePass<'_, L, T> {
    /// The faces that a row of cells owns; the slots in which there are any, a bit each.
    #[inline(always)]
    fn row(&mut self, local: usize) -> u32 {
        let (system, faces, rest) = (self.system, self.faces, self.rest);
        let bonds = &system.bonds;
        let i = self.first + local;
        let own: [L; 16] = L::load_rows(&system.motion[i..]);
        let own_rest: [L; 4] = L::load_rows(&rest[i..]);
        let turned = Turned::new(quaternion(&own), vector(&own_rest, 0));
        let active = &bonds.active()[i..i + L::WIDTH];
        let (mut every, mut any) = (u32::MAX, 0);
        for mask in active {
            every &= mask;
            any |= mask;
        }
        self.task.begin();
        for slot in 0..bonds.slots {
            let entry = bonds.at(slot, i);
            let place = slot * BLOCK + local % BLOCK;
            if any >> slot & 1 == 0 {
                self.task.none(place);
                continue;
            }
            let mut bits = u32::MAX;
            if every >> slot & 1 == 0 {
                bits = 0;
                for (lane, mask) in active.iter().enumerate() {
                    bits |= (mask >> slot & 1) << lane;
                }
            }
            if local.is_multiple_of(BLOCK) {
                faces.rest.ask(entry + AHEAD * BLOCK, T::FIELDS);
            }
            let others = &bonds.other[entry..entry + L::WIDTH];
            if local + L::WIDTH < self.count {
                let next = bonds.at(slot, i + L::WIDTH);
                let others = &bonds.other[next..next + L::WIDTH];
                L::prefetch(&system.motion, others);
                L::prefetch(rest, others);
            }
            let ends = Ends {
                own: &own,
                other: &L::gather(&system.motion, others),
                own_rest: &own_rest,
                other_rest: &L::gather(rest, others),
                turned: &turned,
            };
            let at_rest = RestLanes::of::<L>(faces, entry);
            self.task.face(&FaceLanes {
                faces,
                entry,
                place,
                owners: Owners::From(i),
                others,
                bits,
                face: ends.face(&at_rest),
                rest: at_rest,
                ends: &ends,
            });
        }
        self.task.end(local);
        any
    }
}
