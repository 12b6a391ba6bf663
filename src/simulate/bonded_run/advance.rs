//! Motion of all elements in a step, and of what drives some of them: clamps, rigid bodies, colliders.

use super::run::BondedRun;
use crate::math::Scalar;
use crate::parallel::prelude::*;
use crate::simulate::bonded::motion_pass::{Speeds, StepParameters};
use crate::simulate::bonded::system::{LoadRow, MotionRow, TailRow};
use crate::simulate::error::SimulateError;
use crate::simulate::scene::clamps::RigidPose;
use crate::simulate::scene::colliders::PosedCollider;
use crate::simulate::share::ranks::Receivers;

/// Present poses of colliders and driven clamps.
#[derive(Clone, Debug)]
pub struct DrivenPoses<S> {
    /// Poses of the colliders.
    pub colliders: Vec<PosedCollider>,
    /// Poses of the driven clamps.
    pub poses: Vec<RigidPose<S>>,
}

/// Columns of one chunk of elements.
pub struct ChunkRows<'a, S, E> {
    /// Rows of the motion.
    pub motion: &'a mut [MotionRow<S>],
    /// Residual rotations and radii.
    pub tail: &'a mut [TailRow<S>],
    /// Loads.
    pub load: &'a [LoadRow<S>],
    /// Data of the method, one entry per element.
    pub beside: &'a mut [E],
    /// First element of the chunk.
    pub first: usize,
}

impl<S: Scalar> BondedRun<S> {
    /// Poses of colliders and driven clamps after the steps done.
    pub fn driven(&self) -> DrivenPoses<S> {
        let time = self.time();
        DrivenPoses {
            colliders: self.colliders(time),
            poses: self.supports.clamps().poses(time),
        }
    }

    /// Applies the second kick of the current step (`close`) and begins the next step (`open`): `pass` moves
    /// the rows of a chunk, then driven elements are set to their prescribed positions.
    ///
    /// Returns upper bounds on the distances that elements and colliders moved, m, for the contact lists;
    /// `None` unless a step was begun.
    ///
    /// # Errors
    /// A position, velocity or spin that is not finite.
    pub fn advance<E: Send>(
        &mut self,
        driven: &mut DrivenPoses<S>,
        step: &StepParameters<S>,
        (close, open): (bool, bool),
        beside: &mut [E],
        pass: impl Fn(ChunkRows<S, E>) -> Speeds + Sync,
    ) -> Result<Option<(f64, f64)>, SimulateError> {
        let chunk = self.system.chunk;
        // Poses of driven clamps after the step.
        let clamps = self.supports.clamps();
        let after = (self.step + 1) as f64 * self.dt;
        let next = match open {
            true => clamps.poses(after),
            false => Vec::new(),
        };
        let rigid_before: Vec<RigidPose<S>> = self.rigid.poses();
        if self.rigid.any() && !self.ranks.is_alone() {
            let elements = self.rigid.elements();
            self.ranks.fetch(Receivers::All, &elements, &mut self.load);
        }
        self.rigid.advance(step, (close, open), &self.load);
        let (rigid, rigid_next) = (&self.rigid, self.rigid.poses());
        let owned = self.ranks.owned();
        let speeds: Vec<_> = self
            .system
            .motion
            .par_chunks_mut(chunk)
            .zip(self.system.tail.par_chunks_mut(chunk))
            .zip(self.load.par_chunks(chunk))
            .zip(beside.par_chunks_mut(chunk))
            .enumerate()
            .map(|(at, (((motion, tail), load), beside))| {
                if !owned.contains(at) {
                    return Speeds::default();
                }
                let first = at * chunk;
                let speeds = pass(ChunkRows {
                    motion: &mut *motion,
                    tail: &mut *tail,
                    load,
                    beside,
                    first,
                });
                if open {
                    clamps.place(&next, first, motion, tail);
                }
                rigid.place(&rigid_next, first, motion, tail);
                speeds
            })
            .collect();
        let fastest = speeds.iter().map(|s| s.largest_squared);
        let fastest = fastest.fold(0.0, f64::max).sqrt();
        let is_finite = speeds.iter().all(|s| s.probe.is_finite());
        if !open {
            self.agree([0.0; 2], is_finite)?;
            return Ok(None);
        }
        let now = self.colliders(after);
        let before = std::mem::replace(&mut driven.colliders, now);
        // A key frame within the step may change the speed.
        let speeds = driven.colliders.iter().chain(&before);
        let speed = speeds.map(PosedCollider::fastest).fold(0.0, f64::max);
        let clamped = self.supports.clamps().travel(&driven.poses, &next);
        let carried = clamped.max(self.rigid.travel(&rigid_before, &rigid_next));
        driven.poses = next;
        let distances = [(fastest * self.dt).max(carried), speed * self.dt];
        let [elements, colliders] = self.agree(distances, is_finite)?;
        Ok(Some((elements, colliders)))
    }

    /// The largest distances moved over all ranks, m.
    ///
    /// # Errors
    /// A rank has values that are not finite: the first such element of all.
    fn agree(&self, distances: [f64; 2], is_finite: bool) -> Result<[f64; 2], SimulateError> {
        let [elements, colliders] = distances;
        let mut most = [elements, colliders, f64::from(u8::from(!is_finite))];
        self.ranks.largest(&mut most);
        let [elements, colliders, fails] = most;
        if fails == 0.0 {
            return Ok([elements, colliders]);
        }
        // A chunk may have some, too, in numbers that its probe does not cover.
        let first = self.first_not_finite().map_or(f64::INFINITY, f64::from);
        let mut most = [-first];
        self.ranks.largest(&mut most);
        let [first] = most;
        Err(SimulateError::NotFinite {
            step: self.step,
            time: self.step as f64 * self.dt,
            element: if first.is_finite() { -first as u32 } else { 0 },
        })
    }

    /// The first element of this rank with values that are not finite.
    fn first_not_finite(&self) -> Option<u32> {
        let owned = self.ranks.owned();
        let mut rows = self.system.motion.iter().enumerate();
        let found = rows.find(|(i, row)| {
            let is_own = owned.contains(i / self.system.chunk);
            is_own && !row.0.iter().all(|value| value.to_f64().is_finite())
        });
        found.map(|(i, _)| i as u32)
    }
}
