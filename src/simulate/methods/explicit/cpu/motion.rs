//! Kick, drift and rotation, and the updates that follow from them.

use super::Cpu;
use std::time::Instant;

use crate::math::Lanes;
use crate::simulate::bonded::motion_pass::AdvancePass;
use crate::simulate::error::SimulateError;

impl<L: Lanes> Cpu<L> {
    /// Does a step's second kick if it is due (`close`) and starts the next step (`open`).
    pub(super) fn motion(&mut self, open: bool) -> Result<(), SimulateError> {
        let clock = Instant::now();
        let (step, close) = (self.parameters, self.kick_due);
        // Balls have no additional rows per element.
        let mut no_rows = vec![(); self.run.system.motion.len()];
        let moved = self.run.advance(
            &mut self.driven,
            &step,
            (close, open),
            &mut no_rows,
            |rows| {
                L::run(AdvancePass {
                    step,
                    close,
                    open,
                    motion: rows.motion,
                    tail: rows.tail,
                    load: rows.load,
                })
            },
        );
        self.kick_due = open;
        self.costs.motion.add(clock, rayon::current_num_threads());
        if let Some(distances) = moved? {
            let clock = Instant::now();
            let (system, colliders) = (&self.run.system, &self.driven.colliders);
            self.run.contacts.advance(distances, system, colliders);
            self.costs.lists.add(clock, rayon::current_num_threads());
        }
        Ok(())
    }
}
