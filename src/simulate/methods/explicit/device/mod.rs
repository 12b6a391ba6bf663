//! Explicit bonded DEM on a graphics processor: the whole step loop runs on the device; the host reads
//! results once a frame.
//!
//! ```text
//! every `batch` force passes    travel → if an element may outrun the lists, rebuild them: grid, pairs; springs are kept
//! every step                    move: forces of bonds and contacts, kick, drift, rotation → break: remove bonds
//! every frame                   measure → copy; the host makes tables while the device continues; reaction sums restart
//! ```
//! Commands are submitted ahead of time. Whatever needs the host — a contact list that is too short, an
//! element that outruns the lists — stops the device at a phase of a step. The host finds out with the next
//! frame, resolves the cause and submits the rest again from that phase. Nothing is lost, and neither the
//! time of a rebuild nor the size of the lists changes a bit of the result.

mod arithmetic;
mod capture;
mod cell_texts;
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

pub use profile::PassTime;

use std::collections::VecDeque;

use wgpu::Buffer;

use self::capture::{FrameInFlight, Staging};
use self::cells::CellTables;
use self::columns::{Columns, Sizes};
use self::kernels::{Compiled, Kernels};
use self::launch::{Status, phase};
use self::plan::PendingTask;
use self::slots::Slots;
use self::tables::Tables;
use crate::columns::Breaks;
use crate::gpu::{Device, LaunchParameters};
use crate::simulate::bonded::rankine::Rankine;
use crate::simulate::bonded::rest::RestData;
use crate::simulate::bonded::system::{LoadRow, System};
use crate::simulate::contact::surfaces::Surfaces;
use crate::simulate::error::{SimulateError, StateError};
use crate::simulate::method::{Capture, Method, Platform};
use crate::simulate::run_state::averages::MeanLoads;
use crate::simulate::run_state::state::State;
use crate::simulate::run_state::{sections, system_sections};
use crate::simulate::scene::reactions::Supports;

/// Constants of a run.
struct DeviceScene {
    tables: Tables,
    supports: Supports,
    /// Unit of the reaction sums, N.
    load_unit: f64,
    rest: RestData,
    /// Strengths of bonds that break by Rankine's criterion.
    rankine: Option<Rankine<f32>>,
    drag: f64,
    surfaces: Surfaces,
    /// Distance beyond touching up to which pairs are listed, m.
    skin: f64,
    /// Largest radius, m.
    largest_radius: f64,
    /// Whether nothing reaches elements inside a complete shell of bonds.
    closed_shells: bool,
    /// Upper bound of the speed of the colliders' surfaces, m/s.
    surface_speed: f64,
}

/// A run on a graphics processor.
pub struct Gpu {
    device: Device,
    launches: LaunchParameters,
    shared: Buffer,
    columns: Columns,
    sizes: Sizes,
    kernels: Kernels,
    compiled: Compiled,
    scene: DeviceScene,
    /// The host's copy of elements and bonds, current at frames.
    system: System<f32>,
    /// Cells and faces, if the elements are cells; their momenta are current at frames with a checkpoint.
    cells: Option<CellTables>,
    slots: Slots,
    load: Vec<LoadRow<f32>>,
    /// Bonds that are broken from the start, until the first frame has them.
    opened: Breaks,
    labels: Vec<u32>,
    means: MeanLoads,
    /// Whether the loads before the first step are still to be read.
    starting_loads_due: bool,
    /// Last step that the mean loads include.
    averaged_to_step: u64,
    dt: f64,
    /// Steps submitted.
    step: u64,
    tasks: VecDeque<PendingTask>,
    frames_in_flight: VecDeque<FrameInFlight>,
    idle_staging: Vec<Staging>,
    /// Swaps of the motion columns before the first pending task, and including all submitted tasks.
    confirmed_flips: u64,
    flips: u64,
    /// Force passes between checks of the contact lists, and force passes since the last check.
    batch: u32,
    passes_since_check: u32,
}

impl Gpu {
    /// The columns as of the last delivered frame.
    pub fn system(&self) -> &System<f32> {
        &self.system
    }

    /// The columns, to be changed by hand; call [`refresh`](Self::refresh) afterwards.
    pub fn system_mut(&mut self) -> &mut System<f32> {
        &mut self.system
    }

    /// The device, for inspection or to simulate its loss.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Device memory in use, bytes.
    pub fn device_bytes(&self) -> u64 {
        self.sizes.bytes()
    }

    /// Queues a task and submits it.
    fn submit_task(&mut self, task: PendingTask) -> Result<(), SimulateError> {
        self.tasks.push_back(task);
        self.submit(task, 0)?;
        self.device.check()?;
        Ok(())
    }

    /// Waits until all submitted tasks are done, and recovers from whatever stops them. Returns how often the
    /// contact lists have been rebuilt.
    pub fn wait(&mut self) -> Result<u32, SimulateError> {
        loop {
            let words: Vec<u32> = self.columns.status.read(&self.device)?;
            let status: Status = bytemuck::pod_read_unaligned(bytemuck::cast_slice(&words));
            if status.halt == u32::MAX {
                return Ok(status.rebuilds);
            }
            self.recover(&status)?;
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
        self.submit_task(PendingTask::Steps { from, to })
    }

    fn step(&self) -> u64 {
        self.step
    }

    fn capture(&mut self, frame: u32, state: bool) -> Result<(), SimulateError> {
        let step = self.step;
        self.submit_task(PendingTask::Capture { frame, step, state })
    }

    fn deliver(&mut self) -> Result<Capture, SimulateError> {
        loop {
            let in_flight = self
                .frames_in_flight
                .pop_front()
                .expect("a frame is in flight");
            let raw = in_flight
                .staging
                .wait_and_read(&self.device, in_flight.submission)?;
            self.idle_staging.push(in_flight.staging);
            if raw.status.halt != u32::MAX {
                self.recover(&raw.status)?;
                continue;
            }
            while let Some(task) = self.tasks.pop_front() {
                self.confirmed_flips += task.flips(u32::MAX);
                if let PendingTask::Capture { frame, step, state } = task {
                    return Ok(self.decode_frame(&raw, frame, step, state));
                }
            }
            unreachable!("every frame in flight has a pending task");
        }
    }

    fn platform(&self) -> Platform {
        Platform {
            name: self.device.report.name.clone(),
            device_bytes: Some(self.device_bytes()),
        }
    }

    fn ahead(&self) -> usize {
        1
    }

    fn restore(&mut self, state: &State) -> Result<(), StateError> {
        system_sections::read_system(state, &mut self.system, &mut self.load, |_, broken| broken)?;
        if let Some(cells) = &mut self.cells {
            cells.restore(state)?;
        }
        self.labels = sections::labels(state, self.system.count)?;
        self.opened = Breaks::default();
        (self.step, self.dt) = (state.step, state.dt);
        self.means
            .unpack(&self.scene.supports, &sections::last_loads(state)?);
        Ok(self.upload(&sections::springs(state)?)?)
    }
}
