//! Kick, drift and rotation, and the updates that follow from them.

use super::Cpu;
use std::ops::Range;
use std::time::Instant;

use crate::math::Lanes;
use crate::simulate::bonded::motion_pass::AdvancePass;
use crate::simulate::error::SimulateError;

impl<L: Lanes> Cpu<L> {
    /// Does a step's second kick if it is due (`close`) and starts the next step (`open`).
    pub(super) fn motion(&mut self, open: bool) -> Result<(), SimulateError> {
        let clock = Instant::now();
        let (step, close) = (self.parameters, self.kick_due);
        let asleep = self.advance_pieces(open, self.run.dt)?;
        let sleep = &self.sleep;
        // Balls have no additional rows per element.
        let mut no_rows = vec![(); self.run.system.motion.len()];
        let moved = self.run.advance(
            &mut self.driven,
            &step,
            (close, open),
            &mut no_rows,
            |rows| {
                let count = rows.motion.len();
                let mut advance = |at: Range<usize>| {
                    L::run(AdvancePass {
                        step,
                        close,
                        open,
                        motion: &mut rows.motion[at.clone()],
                        tail: &mut rows.tail[at.clone()],
                        load: &rows.load[at],
                    })
                };
                match sleep {
                    None => advance(0..count),
                    Some(sleep) => sleep.awake_runs(rows.first, count).map(advance).sum(),
                }
            },
        );
        self.kick_due = open;
        self.exchange_due = !self.run.ranks.is_alone();
        self.costs.motion.add(clock, rayon::current_num_threads());
        if let Some((elements, colliders)) = moved? {
            self.follow_lists((elements.max(asleep), colliders));
        }
        Ok(())
    }
}
