//! Explicit bonded DEM on a graphics processor: the whole step loop on the device, the host looking in once a frame.
//!
//! ```text
//! every `batch` force passes    travel → lists made anew if an element may outrun them: grid, pairs, springs kept
//! every step                    move: forces of bonds and contacts, kick, drift, turn → break: bonds taken out
//! every frame                   measure → copies → the host makes tables of them while the device goes on; sums of loads begin anew
//! ```
//! Commands are submitted ahead. Whatever needs the host — a list too short, an element faster than the lists
//! allow — stops the device at a phase of a step; the host sees it with the next frame, mends it and submits
//! the rest again from that phase. Nothing is lost, and neither when lists are made nor how large they are
//! changes a bit of the result.

mod arithmetic;
mod capture;
pub mod cells;
mod clamps;
mod columns;
pub mod constants;
mod kernels;
mod launch;
mod plan;
mod profile;
mod reactions;
mod receive;
mod set_up;
mod slots;
mod solids;
mod submit;
mod tables;
#[cfg(test)]
mod tests;
mod texts;

pub use profile::StageTime;

use std::collections::VecDeque;

use wgpu::Buffer;

use self::capture::{Flight, Staging};
use self::cells::CellTables;
use self::columns::{Columns, Sizes};
use self::kernels::{Compiled, Kernels};
use self::launch::{Status, phase};
use self::plan::Task;
use self::slots::Slots;
use self::tables::Tables;
use crate::gpu::{Device, Launches};
use crate::simulate::bonded::rest::Rest;
use crate::simulate::bonded::system::{Load, System};
use crate::simulate::contact::surfaces::Surfaces;
use crate::simulate::error::{SimulateError, StateError};
use crate::simulate::method::{Capture, Method, Place};
use crate::simulate::run_state::averages::MeanLoads;
use crate::simulate::run_state::sections;
use crate::simulate::run_state::state::State;
use crate::simulate::scene::reactions::Bearers;

/// What does not change in a run.
struct Scene {
    tables: Tables,
    bearers: Bearers,
    /// What loads are counted in, N.
    load_unit: f64,
    rest: Rest,
    drag: f64,
    surfaces: Surfaces,
    /// Distance beyond touching up to which pairs are listed, m.
    skin: f64,
    /// Largest radius, m.
    largest: f64,
    /// Whether all radii are equal.
    equal: bool,
    /// Bound on the speed of the colliders' surfaces, m/s.
    driven: f64,
}

/// A run on a device.
pub struct Gpu {
    device: Device,
    launches: Launches,
    shared: Buffer,
    columns: Columns,
    sizes: Sizes,
    kernels: Kernels,
    compiled: Compiled,
    scene: Scene,
    /// The host's twin, true at frames.
    system: System<f32>,
    /// Cells and faces where the elements are cells: momenta are true at frames with a state.
    cells: Option<CellTables>,
    slots: Slots,
    load: Vec<Load<f32>>,
    labels: Vec<u32>,
    means: MeanLoads,
    /// Whether the loads before the first step are still to come.
    begins: bool,
    /// Step up to which mean loads are summed.
    tallied: u64,
    dt: f64,
    /// Steps asked for.
    step: u64,
    tasks: VecDeque<Task>,
    flights: VecDeque<Flight>,
    spare: Vec<Staging>,
    /// Changes of the motion column before the first task, and with all that was submitted.
    flips_before: u64,
    flips: u64,
    /// Force passes from one look at the lists to the next, and since the last.
    batch: u32,
    since: u32,
}

impl Gpu {
    /// The columns as of the last frame delivered.
    pub fn system(&self) -> &System<f32> {
        &self.system
    }

    /// The columns to change by hand; [`refresh`](Self::refresh) takes them over.
    pub fn system_mut(&mut self) -> &mut System<f32> {
        &mut self.system
    }

    /// The device, to look at or to give up.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Bytes of device memory in use.
    pub fn device_bytes(&self) -> u64 {
        self.sizes.bytes()
    }

    /// Notes a task and submits it.
    fn ask(&mut self, task: Task) -> Result<(), SimulateError> {
        self.tasks.push_back(task);
        self.submit(task, 0)?;
        self.device.check()?;
        Ok(())
    }

    /// Waits until all that was asked for is done, mending what stops it.
    pub fn wait(&mut self) -> Result<(), SimulateError> {
        loop {
            let words: Vec<u32> = self.columns.status.read(&self.device)?;
            let status: Status = bytemuck::pod_read_unaligned(bytemuck::cast_slice(&words));
            if status.halt == u32::MAX {
                return Ok(());
            }
            self.mend(&status)?;
        }
    }
}

impl Method for Gpu {
    fn advance(&mut self, steps: u64) -> Result<(), SimulateError> {
        let (from, to) = (self.step, self.step + steps);
        if to > phase::STEPS {
            return Err(SimulateError::TooManySteps {
                limit: phase::STEPS,
            });
        }
        self.step = to;
        if steps == 0 {
            return Ok(());
        }
        self.ask(Task::Steps { from, to })
    }

    fn step(&self) -> u64 {
        self.step
    }

    fn capture(&mut self, frame: u32, state: bool) -> Result<(), SimulateError> {
        let step = self.step;
        self.ask(Task::Capture { frame, step, state })
    }

    fn deliver(&mut self) -> Result<Capture, SimulateError> {
        loop {
            let flight = self.flights.pop_front().expect("a capture is outstanding");
            let landed = flight.staging.land(&self.device, flight.submission)?;
            self.spare.push(flight.staging);
            if landed.status.halt != u32::MAX {
                self.mend(&landed.status)?;
                continue;
            }
            while let Some(task) = self.tasks.pop_front() {
                self.flips_before += task.flips(u32::MAX);
                if let Task::Capture { frame, step, state } = task {
                    return Ok(self.take(&landed, frame, step, state));
                }
            }
            unreachable!("every flight has its task");
        }
    }

    fn place(&self) -> Place {
        Place {
            name: self.device.report.name.clone(),
            device_bytes: Some(self.device_bytes()),
        }
    }

    fn ahead(&self) -> usize {
        1
    }

    fn restore(&mut self, state: &State) -> Result<(), StateError> {
        sections::read_system(state, &mut self.system, &mut self.load)?;
        if let Some(cells) = &mut self.cells {
            cells.restore(state)?;
        }
        self.labels = sections::labels(state, self.system.count)?;
        (self.step, self.dt) = (state.step, state.dt);
        self.means
            .unpack(&self.scene.bearers, &sections::last_loads(state)?);
        Ok(self.upload(&sections::springs(state)?)?)
    }
}
