//! A step's motion of all elements, with what drives some of them: clamps, rigid bodies, colliders.

use super::run::BondedRun;
use crate::math::Scalar;
use crate::parallel::prelude::*;
use crate::simulate::bonded::motion_pass::{Speeds, StepParameters};
use crate::simulate::bonded::system::{Load, Motion, Tail};
use crate::simulate::error::SimulateError;
use crate::simulate::scene::clamps::Hold;
use crate::simulate::scene::colliders::Obstacle;

/// Colliders and driven clamps where they are.
#[derive(Clone, Debug)]
pub struct Driven<S> {
    /// Colliders.
    pub obstacles: Vec<Obstacle>,
    /// Clamps.
    pub holds: Vec<Hold<S>>,
}

/// Rows of a chunk of elements.
pub struct Rows<'a, S, E> {
    /// Motion.
    pub motion: &'a mut [Motion<S>],
    /// Left-over rotations and radii.
    pub tail: &'a mut [Tail<S>],
    /// Loads.
    pub load: &'a [Load<S>],
    /// What the method keeps beside them.
    pub beside: &'a mut [E],
    /// First element.
    pub first: usize,
}

impl<S: Scalar> BondedRun<S> {
    /// What is driven, where it is after the steps done.
    pub fn driven(&self) -> Driven<S> {
        let time = self.time();
        Driven {
            obstacles: self.obstacles(time),
            holds: self.bearers.clamps().holds(time),
        }
    }

    /// Ends a step's second kick if it is due (`close`), starts the next (`open`): `pass` moves a chunk's
    /// rows, then what is driven is placed.
    ///
    /// Returns how far elements and colliders may have moved, m, for the lists of contacts; nothing where no
    /// step was opened.
    ///
    /// # Errors
    /// A number that is not finite.
    pub fn advance<E: Send>(
        &mut self,
        driven: &mut Driven<S>,
        step: &StepParameters<S>,
        (close, open): (bool, bool),
        beside: &mut [E],
        pass: impl Fn(Rows<S, E>) -> Speeds + Sync,
    ) -> Result<Option<(f64, f64)>, SimulateError> {
        let chunk = self.system.chunk;
        // Where driven clamps have their elements after the step.
        let clamps = self.bearers.clamps();
        let after = (self.step + 1) as f64 * self.dt;
        let next = match open {
            true => clamps.holds(after),
            false => Vec::new(),
        };
        let rigid_before: Vec<Hold<S>> = self.rigid.holds();
        self.rigid.advance(step, (close, open), &self.load);
        let (rigid, rigid_next) = (&self.rigid, self.rigid.holds());
        let speeds: Vec<_> = self
            .system
            .motion
            .par_chunks_mut(chunk)
            .zip(self.system.tail.par_chunks_mut(chunk))
            .zip(self.load.par_chunks(chunk))
            .zip(beside.par_chunks_mut(chunk))
            .enumerate()
            .map(|(at, (((motion, tail), load), beside))| {
                let first = at * chunk;
                let speeds = pass(Rows {
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
        if speeds.iter().any(|s| !s.probe.is_finite()) {
            return Err(self.not_finite());
        }
        if !open {
            return Ok(None);
        }
        let fastest = speeds.iter().map(|s| s.largest_squared);
        let fastest = fastest.fold(0.0, f64::max).sqrt();
        let now = self.obstacles(after);
        let before = std::mem::replace(&mut driven.obstacles, now);
        // A key frame within the step may change the speed.
        let speeds = driven.obstacles.iter().chain(&before);
        let speed = speeds.map(Obstacle::fastest).fold(0.0, f64::max);
        let clamped = self.bearers.clamps().travel(&driven.holds, &next);
        let carried = clamped.max(self.rigid.travel(&rigid_before, &rigid_next));
        driven.holds = next;
        Ok(Some(((fastest * self.dt).max(carried), speed * self.dt)))
    }

    fn not_finite(&self) -> SimulateError {
        let mut rows = self.system.motion.iter();
        let element = rows.position(|row| !row.0.iter().all(|value| value.to_f64().is_finite()));
        SimulateError::NotFinite {
            step: self.step,
            time: self.step as f64 * self.dt,
            element: element.unwrap_or(0) as u32,
        }
    }
}
