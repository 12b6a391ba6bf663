//! From tasks to commands, and recovery after the device has stopped.

use wgpu::CommandEncoder;

use super::Gpu;
use super::capture::{FrameInFlight, Staging};
use super::clamps::clamp_rows;
use super::columns::STEPS_PER_SUBMISSION;
use super::kernels::BoundKernel;
use super::launch::{Launch, Status, phase, reason};
use super::plan::{PendingTask, StepAction, actions, phase_number};
use super::tables::pose_rows;
use crate::gpu::GpuError;
use crate::simulate::error::SimulateError;

/// Fraction of the skin by which the fastest pair may approach during a batch of force passes.
const BATCH_PART: f64 = 0.25;
/// Most force passes between checks of the lists.
const LARGEST_BATCH: u32 = 64;

/// A kernel of the step loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KernelChoice {
    /// One of the kernels that check and rebuild the contact lists.
    ListUpdate(usize),
    /// Adds the last step of the previous advance to the reaction sums.
    FoldReactions,
    /// Dilation of cells.
    Dilate,
    /// One of the kernels of Rankine's criterion after a force pass.
    Rankine(usize),
    /// The kernel of an action.
    Step(StepAction),
}

/// A kernel to dispatch: reads the motion column of `parity` and row `row` of the launch numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dispatch {
    pub(super) choice: KernelChoice,
    pub(super) parity: usize,
    pub(super) row: u64,
}

impl Gpu {
    /// Number of force passes for which the lists stay valid at a speed.
    pub(super) fn batch_for(&self, speed: f64) -> u32 {
        let closes = (2.0 * speed).max(speed + self.scene.surface_speed) * self.dt;
        let steps = BATCH_PART * self.scene.skin / closes;
        // The cast maps an infinite value to the largest integer and NaN to 0.
        (steps as u32).clamp(1, LARGEST_BATCH)
    }

    /// Submits those actions of a task whose phase is `resume` or later.
    pub(super) fn submit(&mut self, task: PendingTask, resume: u32) -> Result<(), GpuError> {
        match task {
            PendingTask::Start { step } => {
                if phase_number(step, phase::MOVE) >= resume {
                    self.submit_actions(step, [(step, StepAction::Start)]);
                }
            }
            PendingTask::Steps { from, to } => {
                let mut base = from.max(u64::from(resume / phase::PHASES));
                while base <= to {
                    let last = (base + STEPS_PER_SUBMISSION - 1).min(to);
                    let list: Vec<_> = (base..=last)
                        .flat_map(|step| {
                            actions(step, (from, to))
                                .filter(|(when, _)| *when >= resume)
                                .map(move |(_, action)| (step, action))
                        })
                        .collect();
                    self.submit_actions(base, list);
                    base = last + 1;
                }
            }
            PendingTask::Capture { step, state, .. } => {
                debug_assert!(
                    phase_number(step, phase::CAPTURE) >= resume,
                    "a completed frame has been delivered"
                );
                self.submit_capture(step, state)?;
            }
        }
        Ok(())
    }

    fn submit_actions(&mut self, base: u64, list: impl IntoIterator<Item = (u64, StepAction)>) {
        self.write_launch(base);
        let dispatches = self.record(base, list);
        let mut encoder = self.device.encoder();
        let mut pass = encoder.begin_compute_pass(&Default::default());
        for dispatch in dispatches {
            let stage = self.bound_kernel(dispatch.choice);
            let launch = (&self.launches, dispatch.row);
            stage.run(&self.device, &mut pass, dispatch.parity, launch);
        }
        drop(pass);
        self.device.submit(encoder);
    }

    /// The dispatches of some actions in order, with a check of the lists before a force pass if it is due.
    pub(super) fn record(
        &mut self,
        base: u64,
        list: impl IntoIterator<Item = (u64, StepAction)>,
    ) -> Vec<Dispatch> {
        let mut out = Vec::new();
        for (step, action) in list {
            let mut push = |choice, parity| {
                out.push(Dispatch {
                    choice,
                    parity,
                    row: step - base,
                });
            };
            let parity = (self.flips % 2) as usize;
            if matches!(action, StepAction::Start | StepAction::Move { .. }) {
                if self.passes_since_check >= self.batch {
                    (0..self.kernels.lists.len())
                        .for_each(|k| push(KernelChoice::ListUpdate(k), parity));
                    self.passes_since_check = 0;
                }
                self.passes_since_check += 1;
                if self.kernels.dilate.is_some() {
                    push(KernelChoice::Dilate, parity);
                }
            }
            if action == StepAction::Open {
                push(KernelChoice::FoldReactions, parity);
            }
            push(KernelChoice::Step(action), parity);
            self.flips += u64::from(action.flips());
            if matches!(action, StepAction::Move { .. }) && self.kernels.rankine.is_some() {
                let parity = (self.flips % 2) as usize;
                (0..2).for_each(|k| push(KernelChoice::Rankine(k), parity));
            }
        }
        out
    }

    pub(super) fn bound_kernel(&self, choice: KernelChoice) -> &BoundKernel {
        let k = &self.kernels;
        match choice {
            KernelChoice::ListUpdate(part) => &k.lists[part],
            KernelChoice::FoldReactions => &k.fold_reactions,
            KernelChoice::Dilate => &k.dilate.as_ref().expect("dispatched for cells only")[0],
            KernelChoice::Rankine(part) => {
                let rankine = k.rankine.as_ref();
                &rankine.expect("dispatched for its bonds only").breaks[part]
            }
            KernelChoice::Step(StepAction::Start) => &k.start,
            KernelChoice::Step(StepAction::Open) => &k.open,
            KernelChoice::Step(StepAction::Move { open: true }) => &k.middle,
            KernelChoice::Step(StepAction::Move { open: false }) => &k.last,
            KernelChoice::Step(StepAction::Break) => &k.breaks,
        }
    }

    fn submit_capture(&mut self, step: u64, state: bool) -> Result<(), GpuError> {
        let mut staging = match self.idle_staging.pop() {
            Some(staging) => staging,
            None => Staging::new(&self.device, &self.columns)?,
        };
        self.write_launch(step);
        let mut encoder = self.device.encoder();
        let launch = (&self.launches, 0);
        let run = |encoder: &mut CommandEncoder, stages: &[&BoundKernel]| {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            for stage in stages {
                stage.run(&self.device, &mut pass, self.parity(), launch);
            }
        };
        let k = &self.kernels;
        let mut measuring = vec![&k.reset_touching];
        measuring.extend(k.dilate.as_ref().map(|both| &both[1]));
        measuring.push(&k.measure);
        measuring.extend(k.rankine.iter().flat_map(|both| &both.measure));
        measuring.extend(state.then_some(&k.gather_springs));
        run(&mut encoder, &measuring);
        staging.copy(&mut encoder, &self.columns, self.parity(), state);
        run(&mut encoder, &[&k.clear_reactions, &k.close_frame]);
        let submission = self.device.submit(encoder);
        self.frames_in_flight.push_back(FrameInFlight {
            staging,
            submission,
        });
        Ok(())
    }

    fn parity(&self) -> usize {
        (self.flips % 2) as usize
    }

    /// Writes launch numbers and the poses of colliders and clamps from step `base` on.
    pub(super) fn write_launch(&self, base: u64) {
        let (scene, sizes) = (&self.scene, &self.sizes);
        let launch = Launch {
            base_step: base as u32,
            count: self.system.count as u32,
            stride: sizes.stride as u32,
            slots: sizes.slots as u32,
            gravity: scene.rest.gravity.as_vec3().to_array(),
            drag: scene.drag as f32,
            dt: self.dt as f32,
            skin: scene.skin as f32,
            cell: (2.0 * scene.largest_radius + scene.skin) as f32,
            // Infinite becomes a large number that a shader can compute with.
            surface_travel: ((scene.surface_speed * self.dt) as f32).min(1e30),
            batch: self.batch,
            colliders: sizes.colliders as u32,
            materials: scene.surfaces.count() as u32,
            closed_shells: u32::from(scene.closed_shells),
            pairs: scene.tables.pairs,
            forces: scene.tables.forces,
            cell_mask: (sizes.cells() - 1) as u32,
            list_capacity: sizes.lists as u32,
            event_capacity: sizes.events as u32,
            spring_capacity: sizes.springs as u32,
            zero: 0,
            load_scale: scene.load_unit.recip() as f32,
            clamps: sizes.clamps as u32,
            held_rows: scene.tables.held_rows,
            clamp_poses: sizes.collider_poses() as u32,
            unused: 0,
        };
        self.device
            .write(&self.shared, 0, bytemuck::bytes_of(&launch));
        let colliders = scene.supports.colliders();
        if !colliders.is_empty() {
            let poses: Vec<[f32; 4]> = (base..base + STEPS_PER_SUBMISSION)
                .flat_map(|step| colliders.iter().map(move |c| (step, c)))
                .flat_map(|(step, c)| pose_rows(&c.at(step as f64 * self.dt)))
                .collect();
            self.columns.poses.write(&self.device, 0, &poses);
        }
        let clamps = scene.supports.clamps();
        if clamps.count() > 0 {
            // The last step opens the one after it.
            let poses: Vec<[f32; 4]> = (base..=base + STEPS_PER_SUBMISSION)
                .flat_map(|step| clamp_rows(clamps, step as f64 * self.dt))
                .collect();
            let first = sizes.collider_poses();
            self.columns.poses.write(&self.device, first, &poses);
        }
    }

    /// Resolves the cause that stopped the device and resubmits the remaining work.
    pub(super) fn recover(&mut self, status: &Status) -> Result<(), SimulateError> {
        let step = u64::from(status.halt / phase::PHASES);
        let why = |bit: u32| status.reasons & bit != 0;
        if why(reason::NOT_FINITE) {
            return Err(SimulateError::NotFinite {
                step,
                time: step as f64 * self.dt,
                element: status.bad_element,
            });
        }
        let before = self.sizes;
        if why(reason::LISTS_FULL) {
            self.sizes.lists = u64::from(status.list_need) * 2;
        }
        if why(reason::EVENTS_FULL) {
            self.sizes.events *= 2;
        }
        if why(reason::SPRINGS_FULL) {
            self.sizes.springs = u64::from(status.springs) * 3 / 2;
        }
        if why(reason::OUTRUN) {
            self.batch = (self.batch / 2).max(1);
        }
        if before == self.sizes {
            self.idle_staging
                .extend(self.frames_in_flight.drain(..).map(|f| f.staging));
        } else {
            self.grow()?;
        }
        self.columns.status.write(
            &self.device,
            0,
            &[Status {
                events: status.events.min(before.events as u32),
                rebuilds: status.rebuilds,
                list_used: status.list_used,
                ..Status::default()
            }],
        );
        // The phase that ran out of capacity runs again; the phases before it are done.
        let again = why(reason::EVENTS_FULL) || why(reason::SPRINGS_FULL);
        let resume = status.halt + u32::from(!again);
        let done: u64 = self.tasks.iter().map(|t| t.flips(resume - 1)).sum();
        self.flips = self.confirmed_flips + done;
        self.passes_since_check = u32::MAX;
        for task in self.tasks.clone() {
            self.submit(task, resume)?;
        }
        self.device.check()?;
        Ok(())
    }
}
