//! Kick, drift and rotation, and the updates that follow from them.

use super::Cpu;
use std::time::Instant;

use crate::math::Lanes;
use crate::simulate::bonded::motion_pass::{AdvancePass, Speeds};
use crate::simulate::error::SimulateError;

impl<L: Lanes> Cpu<L> {
    /// Does a step's second kick if it is due (`close`) and starts the next step (`open`).
    pub(super) fn motion(&mut self, open: bool) -> Result<(), SimulateError> {
        let clock = Instant::now();
        let (step, close) = (self.parameters, self.kick_due);
        let asleep = self.advance_pieces(open, self.run.dt)?;
        let (sleep, chunk) = (&self.sleep, self.run.system.chunk);
        let is_quiet = |first: usize| {
            sleep
                .as_ref()
                .is_some_and(|one| one.is_quiet(first / chunk))
        };
        // Balls have no additional rows per element.
        let mut no_rows = vec![(); self.run.system.motion.len()];
        let moved = self.run.advance(
            &mut self.driven,
            &step,
            (close, open),
            &mut no_rows,
            |rows| {
                if is_quiet(rows.first) {
                    return Speeds::default();
                }
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
        if let Some((elements, colliders)) = moved? {
            self.follow_lists((elements.max(asleep), colliders));
        }
        Ok(())
    }
}
