//! Time per kernel group, and bytes moved per step.

use std::collections::BTreeMap;

use super::Gpu;
use super::columns::MOTION_ROWS;
use super::plan::{PendingTask, StepAction, actions};
use super::submit::KernelChoice;
use crate::gpu::Timer;
use crate::simulate::error::SimulateError;
use crate::simulate::method::Method;

/// Time of a group of kernels in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct PassTime {
    /// Name of the group.
    pub name: &'static str,
    /// Number of dispatches.
    pub count: usize,
    /// Time on the device, s.
    pub seconds: f64,
}

impl Gpu {
    /// Takes `steps` steps with time stamps around every dispatch: slower than [`advance`](Method::advance),
    /// same result.
    ///
    /// None if the adapter has no time stamps. At most 100 steps.
    pub fn profile(&mut self, steps: u64) -> Result<Option<Vec<PassTime>>, SimulateError> {
        let (from, to) = (self.step(), self.step() + steps.clamp(1, 100));
        let list: Vec<_> = (from..=to)
            .flat_map(|step| actions(step, (from, to)).map(move |(_, action)| (step, action)))
            .collect();
        let stamps = 1 + 2 * list.len() + (list.len() + 1) * self.kernels.lists.len();
        let Some(timer) = Timer::new(&self.device, stamps)? else {
            return Ok(None);
        };
        self.step = to;
        self.tasks.push_back(PendingTask::Steps { from, to });
        self.write_launch(from);
        let dispatches = self.record(from, list);
        let mut encoder = self.device.encoder();
        for (k, dispatch) in dispatches.iter().enumerate() {
            let mut pass = timer.pass(&mut encoder, k);
            let launch = (&self.launches, dispatch.row);
            let stage = self.bound_kernel(dispatch.choice);
            stage.run(&self.device, &mut pass, dispatch.parity, launch);
        }
        let seconds = timer.read(&self.device, encoder, dispatches.len())?;
        let mut parts: BTreeMap<&'static str, (usize, f64)> = BTreeMap::new();
        for (dispatch, seconds) in dispatches.iter().zip(seconds) {
            let name = match dispatch.choice {
                KernelChoice::ListUpdate(_) => "contact lists",
                KernelChoice::Step(StepAction::Break) => "breaks",
                KernelChoice::FoldReactions => "reactions",
                KernelChoice::Dilate => "dilation",
                KernelChoice::Rankine(_) => "Rankine's criterion",
                KernelChoice::Step(_) => "forces and motion",
            };
            let part = parts.entry(name).or_default();
            *part = (part.0 + 1, part.1 + seconds);
        }
        Ok(Some(
            parts
                .into_iter()
                .map(|(name, (count, seconds))| PassTime {
                    name,
                    count,
                    seconds,
                })
                .collect(),
        ))
    }

    /// Least bytes that an element's step moves: its own rows read and written, and its intact bonds read.
    /// Neighbours' rows are not counted, as if other elements had brought them into a cache.
    pub fn bytes_per_element_step(&self) -> f64 {
        let owned = self.system.bonds.active().iter();
        let active: u32 = owned.map(|mask| mask.count_ones()).sum();
        let bonds = 2.0 * f64::from(active) / self.system.count.max(1) as f64;
        let motion = 16.0 * MOTION_ROWS as f64;
        // Motion in and out, constants, masks of intact and near bonds, first list entries, mask of breaking
        // bonds twice.
        let own = 2.0 * motion + 16.0 + 8.0 + 4.0 + 8.0;
        // Other end, rest direction and length, class; strengths at one of the two ends.
        let kind = if self.sizes.several_classes { 4.0 } else { 0.0 };
        own + bonds * (4.0 + 16.0 + kind + 8.0 / 2.0)
    }
}
