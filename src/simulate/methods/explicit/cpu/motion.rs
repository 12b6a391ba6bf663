//! Kick, drift and turn, and what they bring out of date.

use super::Cpu;
use std::time::Instant;

use crate::parallel::prelude::*;

use crate::math::{Lanes, Scalar};
use crate::simulate::bonded::motion_pass::AdvancePass;
use crate::simulate::error::SimulateError;
use crate::simulate::scene::clamps::Hold;
use crate::simulate::scene::colliders::Obstacle;

impl<L: Lanes> Cpu<L> {
    /// Ends a step's second kick if it is due (`close`), starts the next (`open`).
    pub(super) fn motion(&mut self, open: bool) -> Result<(), SimulateError> {
        let clock = Instant::now();
        let (step, close, chunk) = (self.parameters, self.half, self.run.system.chunk);
        // Where driven clamps have their elements after the step.
        let clamps = self.run.bearers.clamps();
        let next = match open {
            true => clamps.holds((self.run.step + 1) as f64 * self.run.dt),
            false => Vec::new(),
        };
        let rigid_before: Vec<Hold<L::Scalar>> = self.run.rigid.holds();
        self.run.rigid.advance(&step, (close, open), &self.run.load);
        let (rigid, rigid_next) = (&self.run.rigid, self.run.rigid.holds());
        let speeds: Vec<_> = self
            .run
            .system
            .motion
            .par_chunks_mut(chunk)
            .zip(self.run.system.tail.par_chunks_mut(chunk))
            .zip(self.run.load.par_chunks(chunk))
            .enumerate()
            .map(|(at, ((motion, tail), load))| {
                let speeds = L::run(AdvancePass {
                    step,
                    close,
                    open,
                    motion: &mut *motion,
                    tail: &mut *tail,
                    load,
                });
                if open {
                    clamps.place(&next, at * chunk, motion, tail);
                }
                rigid.place(&rigid_next, at * chunk, motion, tail);
                speeds
            })
            .collect();
        self.half = open;
        self.costs.motion.add(clock, rayon::current_num_threads());
        if speeds.iter().any(|s| !s.probe.is_finite()) {
            return Err(self.not_finite());
        }
        if open {
            let fastest = speeds
                .iter()
                .map(|s| s.largest_squared)
                .fold(0.0, f64::max)
                .sqrt();
            let now = self.run.obstacles((self.run.step + 1) as f64 * self.run.dt);
            let before = std::mem::replace(&mut self.obstacles, now);
            // A key frame within the step may change the speed.
            let driven = self
                .obstacles
                .iter()
                .chain(&before)
                .map(Obstacle::fastest)
                .fold(0.0, f64::max);
            let clamped = self.run.bearers.clamps().travel(&self.holds, &next);
            let carried = clamped.max(self.run.rigid.travel(&rigid_before, &rigid_next));
            self.holds = next;
            let distances = ((fastest * self.run.dt).max(carried), driven * self.run.dt);
            let clock = Instant::now();
            self.run
                .contacts
                .advance(distances, &self.run.system, &self.obstacles);
            self.costs.lists.add(clock, rayon::current_num_threads());
        }
        Ok(())
    }

    fn not_finite(&self) -> SimulateError {
        let element = self
            .run
            .system
            .motion
            .iter()
            .position(|row| !row.0.iter().all(|value| value.to_f64().is_finite()));
        SimulateError::NotFinite {
            step: self.run.step,
            time: self.run.step as f64 * self.run.dt,
            element: element.unwrap_or(0) as u32,
        }
    }
}
