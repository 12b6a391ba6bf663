//! Where the time of a step goes, and how many bytes it moves.

use std::collections::BTreeMap;

use super::Gpu;
use super::columns::MOTION_ROWS;
use super::plan::{Action, Task, actions};
use super::submit::Which;
use crate::gpu::Timer;
use crate::simulate::error::SimulateError;
use crate::simulate::method::Method;

/// A stage's part of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct StageTime {
    /// Stage.
    pub name: &'static str,
    /// Dispatches.
    pub count: usize,
    /// Time on the device, s.
    pub seconds: f64,
}

impl Gpu {
    /// Takes `steps` steps with a time stamp around every dispatch: slower than [`advance`](Method::advance),
    /// the same result.
    ///
    /// None where the adapter has no time stamps. At most 100 steps.
    pub fn profile(&mut self, steps: u64) -> Result<Option<Vec<StageTime>>, SimulateError> {
        let (from, to) = (self.step(), self.step() + steps.clamp(1, 100));
        let list: Vec<_> = (from..=to)
            .flat_map(|step| actions(step, (from, to)).map(move |(_, action)| (step, action)))
            .collect();
        let room = 1 + 2 * list.len() + (list.len() + 1) * self.kernels.lists.len();
        let Some(timer) = Timer::new(&self.device, room)? else {
            return Ok(None);
        };
        self.step = to;
        self.tasks.push_back(Task::Steps { from, to });
        self.write_launch(from);
        let dispatches = self.record(from, list);
        let mut encoder = self.device.encoder();
        for (k, dispatch) in dispatches.iter().enumerate() {
            let mut pass = timer.pass(&mut encoder, k);
            let launch = (&self.launches, dispatch.row);
            let stage = self.stage(dispatch.which);
            stage.run(&self.device, &mut pass, dispatch.parity, launch);
        }
        let seconds = timer.read(&self.device, encoder, dispatches.len())?;
        let mut parts: BTreeMap<&'static str, (usize, f64)> = BTreeMap::new();
        for (dispatch, seconds) in dispatches.iter().zip(seconds) {
            let name = match dispatch.which {
                Which::List(_) => "contact lists",
                Which::Of(Action::Break) => "breaks",
                Which::Fold => "reactions",
                Which::Dilate => "dilation",
                Which::Of(_) => "forces and motion",
            };
            let part = parts.entry(name).or_default();
            *part = (part.0 + 1, part.1 + seconds);
        }
        Ok(Some(
            parts
                .into_iter()
                .map(|(name, (count, seconds))| StageTime {
                    name,
                    count,
                    seconds,
                })
                .collect(),
        ))
    }

    /// Bytes that an element's step moves at least: its own rows read and written, its whole bonds read,
    /// those of its neighbours' rows that other elements have not brought into a cache not counted.
    pub fn bytes_per_element_step(&self) -> f64 {
        let owned = self.system.bonds.active().iter();
        let active: u32 = owned.map(|mask| mask.count_ones()).sum();
        let bonds = 2.0 * f64::from(active) / self.system.count.max(1) as f64;
        let motion = 16.0 * MOTION_ROWS as f64;
        // Motion in and out, constants, whole and near masks, list beginnings, the mask of breaking bonds twice.
        let own = 2.0 * motion + 16.0 + 8.0 + 4.0 + 8.0;
        // Other end, rest direction and length, kind; strengths at one of both ends.
        let kind = if self.sizes.kinds { 4.0 } else { 0.0 };
        own + bonds * (4.0 + 16.0 + kind + 8.0 / 2.0)
    }
}
