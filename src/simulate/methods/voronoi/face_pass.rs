//! A pass over the faces of one chunk of cells; each face is evaluated by the cell that owns its bond.

use super::columns::{Faces, RestLanes, field};
use crate::laws;
use crate::laws::cell::{self, CellRotation, FaceBending, FaceConfiguration, FaceFold};
use crate::math::lanes::LaneRow;
use crate::math::{Lanes, Pass, Quat, Vec3};
use crate::simulate::bonded::bonds::BLOCK;
use crate::simulate::bonded::rows::{low, quaternion, vector};
use crate::simulate::bonded::system::{System, motion};

/// A computation on faces.
pub trait FaceTask<L: Lanes> {
    /// Number of leading fields of a face at rest that it reads.
    const FIELDS: usize;

    /// Begins a row of cells.
    fn begin_row(&mut self);
    /// Computes the faces in one slot of the row; only lanes in `bits` have a face.
    fn face(&mut self, at: &FaceLanes<L>);
    /// Called instead if no lane of the row has a face in this slot; `place` is its place in the block.
    fn empty_slot(&mut self, place: usize);
    /// Ends a row, whose first cell in the chunk is `local`.
    fn end_row(&mut self, local: usize);
    /// Ends a block of cells, whose first cell in the chunk is `local`. In slot s there is a
    /// face if bit s of `filled` is set.
    fn end_block(&mut self, local: usize, filled: u32);
}

/// Cells of a row of lanes.
#[derive(Clone, Copy)]
pub enum Owners<'a> {
    /// Consecutive cells from this one on.
    Consecutive(usize),
    /// Any cells.
    Listed(&'a [u32]),
}

impl Owners<'_> {
    /// The rows of these cells.
    #[inline(always)]
    pub fn rows<L: Lanes, const C: usize>(self, rows: &[LaneRow<L::Scalar, C>]) -> [L; C] {
        match self {
            Owners::Consecutive(first) => L::load_rows(&rows[first..]),
            Owners::Listed(cells) => L::gather(rows, cells),
        }
    }
}

/// A row of faces, one per lane.
pub struct FaceLanes<'a, L: Lanes> {
    /// The columns of all faces.
    pub faces: &'a Faces<L::Scalar>,
    /// First entry of the row.
    pub entry: usize,
    /// First place of the row within a block of cells; 0 for faces that other chunks own.
    pub place: usize,
    /// Cells that own the faces.
    pub owners: Owners<'a>,
    /// Other cells.
    pub others: &'a [u32],
    /// Lanes with a face.
    pub bits: u32,
    /// The faces at rest.
    pub rest: RestLanes<'a, L::Scalar>,
    /// Relative position of the cells at these faces.
    pub face: FaceConfiguration<L>,
    /// Both cells of each face.
    pub ends: &'a FaceEnds<'a, L>,
}

/// Both cells of a row of faces.
pub struct FaceEnds<'a, L> {
    /// Motion of the owners.
    pub own: &'a [L; 16],
    /// Motion of the other cells.
    pub other: &'a [L; 16],
    /// Left-over rotation of the owners, and a fourth number that the task needs (λε).
    pub own_rest: &'a [L; 4],
    /// The same for the other cells.
    pub other_rest: &'a [L; 4],
    /// The owners' rotations.
    pub turned: &'a CellRotation<L>,
}

impl<L: Lanes> FaceEnds<'_, L> {
    /// Relative position of the cells at these faces.
    #[inline(always)]
    pub fn face(&self, rest: &RestLanes<L::Scalar>) -> FaceConfiguration<L> {
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

    /// Rotation of the other cells, and the rotation not yet applied to the quaternion.
    #[inline(always)]
    fn other_turn(&self) -> (Quat<L>, Vec3<L>) {
        (quaternion(self.other), vector(self.other_rest, 0))
    }

    /// The vector in columns `at` to `at + 2` of the motion, of the cell that owns the face and of the other cell.
    #[inline(always)]
    pub fn motion_of_both(&self, at: usize) -> (Vec3<L>, Vec3<L>) {
        (vector(self.own, at), vector(self.other, at))
    }

    /// λ(ε_i + ε_j), Pa.
    #[inline(always)]
    pub fn pressure(&self) -> L {
        self.own_rest[3] + self.other_rest[3]
    }
}

impl<L: Lanes> FaceLanes<'_, L> {
    /// Bending of the one-layer walls that the faces belong to; none if there are no walls.
    #[inline(always)]
    pub fn fold(&self) -> Option<FaceFold<L>> {
        let through = self.faces.through.as_ref()?;
        let normal = self.rest.vector(field::NORMAL);
        let through = through.vectors(self.entry, 0);
        Some(cell::fold(self.ends.rotations(), normal, through))
    }

    /// Bending and twist.
    #[inline(always)]
    pub fn bend(&self) -> FaceBending<L> {
        cell::bending(
            self.ends.turned,
            self.ends.other_turn(),
            self.rest.vector(field::NORMAL),
            self.rest.vector(field::SECOND),
            self.rest.vector(field::BENDING),
        )
    }
}

/// Number of slots ahead that are prefetched.
const AHEAD: usize = 2;

/// A pass of a task over the faces of a chunk.
pub struct FacePass<'a, L: Lanes, T> {
    /// Elements and bonds.
    pub system: &'a System<L::Scalar>,
    /// Faces.
    pub faces: &'a Faces<L::Scalar>,
    /// Left-over rotation of each cell, and a fourth number that the task needs.
    pub rest: &'a [LaneRow<L::Scalar, 4>],
    /// First cell of the chunk.
    pub first: usize,
    /// Number of cells of the chunk.
    pub count: usize,
    /// The computation to perform.
    pub task: &'a mut T,
}

impl<L: Lanes, T: FaceTask<L>> Pass<L> for FacePass<'_, L, T> {
    type Out = ();

    #[inline(always)]
    fn run(mut self) {
        for block in (0..self.count).step_by(BLOCK) {
            let mut filled = 0;
            for local in (block..block + BLOCK).step_by(L::WIDTH) {
                filled |= self.row(local);
            }
            self.task.end_block(block, filled);
        }
    }
}

impl<L: Lanes, T: FaceTask<L>> FacePass<'_, L, T> {
    /// Runs the task over the faces that a row of cells owns. Returns a bit mask of the slots in use.
    #[inline(always)]
    fn row(&mut self, local: usize) -> u32 {
        let (system, faces, rest) = (self.system, self.faces, self.rest);
        let bonds = &system.bonds;
        let i = self.first + local;
        let own: [L; 16] = L::load_rows(&system.motion[i..]);
        let own_rest: [L; 4] = L::load_rows(&rest[i..]);
        let turned = CellRotation::new(quaternion(&own), vector(&own_rest, 0));
        let active = &bonds.active()[i..i + L::WIDTH];
        let (mut every, mut any) = (u32::MAX, 0);
        for mask in active {
            every &= mask;
            any |= mask;
        }
        self.task.begin_row();
        for slot in 0..bonds.slots {
            let entry = bonds.at(slot, i);
            let place = slot * BLOCK + local % BLOCK;
            if any >> slot & 1 == 0 {
                self.task.empty_slot(place);
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
                faces.rest.prefetch_entry(entry + AHEAD * BLOCK, T::FIELDS);
            }
            let others = &bonds.other[entry..entry + L::WIDTH];
            if local + L::WIDTH < self.count {
                let next = bonds.at(slot, i + L::WIDTH);
                let others = &bonds.other[next..next + L::WIDTH];
                L::prefetch(&system.motion, others);
                L::prefetch(rest, others);
            }
            let ends = FaceEnds {
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
                owners: Owners::Consecutive(i),
                others,
                bits,
                face: ends.face(&at_rest),
                rest: at_rest,
                ends: &ends,
            });
        }
        self.task.end_row(local);
        any
    }
}
