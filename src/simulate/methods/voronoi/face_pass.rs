//! A pass over the faces of one chunk of cells, each face by the cell that owns its bond.

use super::columns::{Faces, field};
use crate::laws;
use crate::laws::cell::{self, Bend, Face, Fold};
use crate::math::lanes::Row;
use crate::math::{Lanes, Pass, Quat, Vec3};
use crate::simulate::bonded::bonds::BLOCK;
use crate::simulate::bonded::rows::{low, quaternion, vector};
use crate::simulate::bonded::system::{System, motion};

/// What is asked of the faces.
pub trait Task<L: Lanes> {
    /// A row of cells begins; `local` is the first in the chunk.
    fn begin(&mut self, local: usize);
    /// The faces in one slot of the row; only lanes in `bits` have one.
    fn face(&mut self, at: &FaceLanes<L>);
    /// No lane of the row has a face in the slot that begins with this entry.
    fn none(&mut self, entry: usize);
    /// The row is done.
    fn end(&mut self, local: usize);
}

/// Faces side by side.
pub struct FaceLanes<'a, L: Lanes> {
    /// First entry.
    pub entry: usize,
    /// First owner.
    pub first: usize,
    /// Other cells.
    pub others: &'a [u32],
    /// Lanes with a face.
    pub bits: u32,
    /// How the cells stand to each other.
    pub face: Face<L>,
    /// Motion of the owners.
    pub own: &'a [L; 16],
    /// Motion of the other cells.
    pub other: &'a [L; 16],
    /// Left-over rotation of the owners, and λε where the task has it.
    pub own_rest: &'a [L; 4],
    /// The same of the other cells.
    pub other_rest: &'a [L; 4],
}

impl<L: Lanes> FaceLanes<'_, L> {
    /// Rotations of both cells.
    #[inline(always)]
    pub fn rotations(&self) -> (Quat<L>, Quat<L>) {
        (quaternion(self.own), quaternion(self.other))
    }

    /// What these have not taken yet.
    #[inline(always)]
    pub fn left(&self) -> (Vec3<L>, Vec3<L>) {
        (vector(self.own_rest, 0), vector(self.other_rest, 0))
    }

    /// Velocities of both cells, and their spins.
    #[inline(always)]
    pub fn speeds(&self) -> [(Vec3<L>, Vec3<L>); 2] {
        [motion::V, motion::W].map(|at| (vector(self.own, at), vector(self.other, at)))
    }

    /// Bending of the walls that they are faces of; nothing where there are none.
    #[inline(always)]
    pub fn fold(&self, faces: &Faces<L::Scalar>) -> Option<Fold<L>> {
        let through = faces.through.as_ref()?;
        let normal = faces.rest.vectors(self.entry, field::NORMAL);
        let through = through.vectors(self.entry, 0);
        Some(cell::fold(self.rotations(), normal, through))
    }

    /// Bending and twist.
    #[inline(always)]
    pub fn bend(&self, faces: &Faces<L::Scalar>) -> Bend<L> {
        let at = self.entry;
        cell::bending(
            self.rotations(),
            self.left(),
            faces.rest.vectors(at, field::NORMAL),
            faces.rest.vectors(at, field::SECOND),
            faces.rest.vectors(at, field::BENDING),
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
    pub task: T,
}

impl<L: Lanes, T: Task<L>> Pass<L> for FacePass<'_, L, T> {
    type Out = ();

    #[inline(always)]
    fn run(mut self) {
        let (system, faces) = (self.system, self.faces);
        let bonds = &system.bonds;
        let active = bonds.active();
        let rest = self.rest;
        for local in (0..self.count).step_by(L::WIDTH) {
            let i = self.first + local;
            let own: [L; 16] = L::load_rows(&system.motion[i..]);
            let own_rest: [L; 4] = L::load_rows(&rest[i..]);
            let active = &active[i..i + L::WIDTH];
            let every = active.iter().fold(u32::MAX, |all, mask| all & mask);
            self.task.begin(local);
            for slot in 0..bonds.slots {
                let mut bits = u32::MAX;
                if every >> slot & 1 == 0 {
                    bits = 0;
                    for (lane, mask) in active.iter().enumerate() {
                        bits |= (mask >> slot & 1) << lane;
                    }
                }
                let entry = bonds.at(slot, i);
                if bits == 0 {
                    self.task.none(entry);
                    continue;
                }
                if L::WIDTH == BLOCK {
                    faces.rest.ask(entry + AHEAD * BLOCK);
                }
                let others = &bonds.other[entry..entry + L::WIDTH];
                if local + L::WIDTH < self.count {
                    let next = bonds.at(slot, i + L::WIDTH);
                    let others = &bonds.other[next..next + L::WIDTH];
                    L::prefetch(&system.motion, others);
                    L::prefetch(rest, others);
                }
                let other: [L; 16] = L::gather(&system.motion, others);
                let other_rest: [L; 4] = L::gather(rest, others);
                let line = laws::motion::separation(
                    vector(&other, motion::P),
                    low(&other),
                    vector(&own, motion::P),
                    low(&own),
                );
                let face = cell::face(
                    line,
                    (quaternion(&own), quaternion(&other)),
                    (vector(&own_rest, 0), vector(&other_rest, 0)),
                    (
                        faces.rest.vectors(entry, field::ARM_I),
                        faces.rest.vectors(entry, field::ARM_J),
                    ),
                );
                self.task.face(&FaceLanes {
                    entry,
                    first: i,
                    others,
                    bits,
                    face,
                    own: &own,
                    other: &other,
                    own_rest: &own_rest,
                    other_rest: &other_rest,
                });
            }
            self.task.end(local);
        }
    }
}
