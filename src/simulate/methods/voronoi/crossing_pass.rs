//! A pass over the faces of a chunk's cells that cells of other chunks own.

use super::columns::RestLanes;
use super::crossings::Crossings;
use super::face_pass::{FaceEnds, FaceLanes, Owners};
use crate::laws::cell::CellRotation;
use crate::math::lanes::LaneRow;
use crate::math::{Lanes, Pass};
use crate::simulate::bonded::rows::{quaternion, vector};
use crate::simulate::bonded::system::System;

/// A computation on these faces.
pub trait CrossingTask<L: Lanes> {
    /// Computes what faces add to the cells that do not own them; only lanes in `bits` have a face.
    fn crossing(&mut self, at: &FaceLanes<L>);
}

/// A pass of a task over the crossing faces of a chunk.
pub struct CrossingPass<'a, L: Lanes, T> {
    /// Elements and bonds.
    pub system: &'a System<L::Scalar>,
    /// The crossing faces of the chunk.
    pub crossings: &'a Crossings<L::Scalar>,
    /// Left-over rotation of each cell, and a fourth number that the task needs.
    pub rest: &'a [LaneRow<L::Scalar, 4>],
    /// The computation to perform.
    pub task: &'a mut T,
}

/// Number of lane rows ahead whose cells are prefetched.
const AHEAD: usize = 2;

impl<L: Lanes, T: CrossingTask<L>> Pass<L> for CrossingPass<'_, L, T> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let (motion, rest, crossings) = (&self.system.motion, self.rest, self.crossings);
        let faces = &crossings.faces;
        for at in (0..crossings.len()).step_by(L::WIDTH) {
            let bits = crossings.whole(at);
            if bits == 0 {
                continue;
            }
            let ahead = at + AHEAD * L::WIDTH;
            if ahead < crossings.len() {
                L::prefetch(motion, &crossings.owner[ahead..]);
                L::prefetch(rest, &crossings.owner[ahead..]);
            }
            let (owners, others) = (&crossings.owner[at..], &crossings.other[at..]);
            let own: [L; 16] = L::gather(motion, owners);
            let own_rest: [L; 4] = L::gather(rest, owners);
            let ends = FaceEnds {
                own: &own,
                other: &L::gather(motion, others),
                own_rest: &own_rest,
                other_rest: &L::gather(rest, others),
                turned: &CellRotation::new(quaternion(&own), vector(&own_rest, 0)),
            };
            let at_rest = RestLanes::of::<L>(faces, at);
            self.task.crossing(&FaceLanes {
                faces,
                entry: at,
                place: 0,
                owners: Owners::Listed(owners),
                others,
                bits,
                face: ends.face(&at_rest),
                rest: at_rest,
                ends: &ends,
            });
        }
    }
}
