//! From tasks to commands, and what is done when the device stopped in the middle of them.

use wgpu::CommandEncoder;

use super::Gpu;
use super::capture::{Flight, Staging};
use super::clamps::clamp_rows;
use super::columns::ROWS;
use super::kernels::Stage;
use super::launch::{Launch, Status, phase, reason};
use super::plan::{Action, Task, actions, at};
use super::tables::pose_rows;
use crate::gpu::GpuError;
use crate::simulate::error::SimulateError;

/// Part of the skin that the fastest pair may close up in a batch of force passes.
const BATCH_PART: f64 = 0.25;
/// Force passes from one look at the lists to the next, at most.
const LARGEST_BATCH: u32 = 64;

/// A stage of the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// Part of the look at the lists.
    List(usize),
    /// What an advance before has left.
    Fold,
    /// Dilation of cells.
    Dilate,
    /// An action.
    Of(Action),
}

/// A stage to dispatch: over which motion column, with which row of launch numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dispatch {
    pub(super) which: Which,
    pub(super) parity: usize,
    pub(super) row: u64,
}

impl Gpu {
    /// Force passes for which lists serve at a speed.
    pub(super) fn batch_for(&self, speed: f64) -> u32 {
        let closes = (2.0 * speed).max(speed + self.scene.driven) * self.dt;
        let steps = BATCH_PART * self.scene.skin / closes;
        // A float of no bound becomes the largest integer, one without sense 0.
        (steps as u32).clamp(1, LARGEST_BATCH)
    }

    /// Submits those actions of a task that lie at phase `resume` or after it.
    pub(super) fn submit(&mut self, task: Task, resume: u32) -> Result<(), GpuError> {
        match task {
            Task::Start { step } => {
                if at(step, phase::MOVE) >= resume {
                    self.submit_actions(step, [(step, Action::Start)]);
                }
            }
            Task::Steps { from, to } => {
                let mut base = from.max(u64::from(resume / phase::PHASES));
                while base <= to {
                    let last = (base + ROWS - 1).min(to);
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
            Task::Capture { step, state, .. } => {
                debug_assert!(
                    at(step, phase::CAPTURE) >= resume,
                    "a frame that is there was delivered"
                );
                self.submit_capture(step, state)?;
            }
        }
        Ok(())
    }

    fn submit_actions(&mut self, base: u64, list: impl IntoIterator<Item = (u64, Action)>) {
        self.write_launch(base);
        let dispatches = self.record(base, list);
        let mut encoder = self.device.encoder();
        let mut pass = encoder.begin_compute_pass(&Default::default());
        for dispatch in dispatches {
            let stage = self.stage(dispatch.which);
            let launch = (&self.launches, dispatch.row);
            stage.run(&self.device, &mut pass, dispatch.parity, launch);
        }
        drop(pass);
        self.device.submit(encoder);
    }

    /// The dispatches of some actions, in order: before a force pass the look at the lists where it is due.
    pub(super) fn record(
        &mut self,
        base: u64,
        list: impl IntoIterator<Item = (u64, Action)>,
    ) -> Vec<Dispatch> {
        let mut out = Vec::new();
        for (step, action) in list {
            let mut push = |which, parity| {
                out.push(Dispatch {
                    which,
                    parity,
                    row: step - base,
                });
            };
            let parity = (self.flips % 2) as usize;
            if matches!(action, Action::Start | Action::Move { .. }) {
                if self.since >= self.batch {
                    (0..self.kernels.lists.len()).for_each(|k| push(Which::List(k), parity));
                    self.since = 0;
                }
                self.since += 1;
                if self.kernels.dilate.is_some() {
                    push(Which::Dilate, parity);
                }
            }
            if action == Action::Open {
                push(Which::Fold, parity);
            }
            push(Which::Of(action), parity);
            self.flips += u64::from(action.flips());
        }
        out
    }

    pub(super) fn stage(&self, which: Which) -> &Stage {
        let k = &self.kernels;
        match which {
            Which::List(part) => &k.lists[part],
            Which::Fold => &k.fold,
            Which::Dilate => &k.dilate.as_ref().expect("asked for with cells alone")[0],
            Which::Of(Action::Start) => &k.start,
            Which::Of(Action::Open) => &k.open,
            Which::Of(Action::Move { open: true }) => &k.middle,
            Which::Of(Action::Move { open: false }) => &k.last,
            Which::Of(Action::Break) => &k.breaks,
        }
    }

    fn submit_capture(&mut self, step: u64, state: bool) -> Result<(), GpuError> {
        let mut staging = match self.spare.pop() {
            Some(staging) => staging,
            None => Staging::new(&self.device, &self.columns)?,
        };
        self.write_launch(step);
        let mut encoder = self.device.encoder();
        let launch = (&self.launches, 0);
        let run = |encoder: &mut CommandEncoder, stages: &[&Stage]| {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            for stage in stages {
                stage.run(&self.device, &mut pass, self.parity(), launch);
            }
        };
        let k = &self.kernels;
        let mut measuring = vec![&k.forget];
        measuring.extend(k.dilate.as_ref().map(|both| &both[1]));
        measuring.push(&k.carried);
        measuring.extend(state.then_some(&k.gather));
        run(&mut encoder, &measuring);
        staging.copy(&mut encoder, &self.columns, self.parity(), state);
        run(&mut encoder, &[&k.clear, &k.close]);
        let submission = self.device.submit(encoder);
        self.flights.push_back(Flight {
            staging,
            submission,
        });
        Ok(())
    }

    fn parity(&self) -> usize {
        (self.flips % 2) as usize
    }

    /// Numbers and collider poses of the steps from `base` on.
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
            cell: (2.0 * scene.largest + scene.skin) as f32,
            // Without bound means farther than anything, which a shader can count with.
            driven: ((scene.driven * self.dt) as f32).min(1e30),
            batch: self.batch,
            colliders: sizes.colliders as u32,
            materials: scene.surfaces.count() as u32,
            equal: u32::from(scene.equal),
            pairs: scene.tables.pairs,
            forces: scene.tables.forces,
            cell_mask: (sizes.cells() - 1) as u32,
            list_room: sizes.lists as u32,
            event_room: sizes.events as u32,
            spring_room: sizes.springs as u32,
            zero: 0,
            load_scale: scene.load_unit.recip() as f32,
            clamps: sizes.clamps as u32,
            grips: scene.tables.grips,
            clamp_poses: sizes.collider_poses() as u32,
            unused: 0,
        };
        self.device
            .write(&self.shared, 0, bytemuck::bytes_of(&launch));
        let colliders = scene.bearers.colliders();
        if !colliders.is_empty() {
            let poses: Vec<[f32; 4]> = (base..base + ROWS)
                .flat_map(|step| colliders.iter().map(move |c| (step, c)))
                .flat_map(|(step, c)| pose_rows(&c.at(step as f64 * self.dt)))
                .collect();
            self.columns.poses.write(&self.device, 0, &poses);
        }
        let clamps = scene.bearers.clamps();
        if clamps.count() > 0 {
            // The last step opens the one after it.
            let poses: Vec<[f32; 4]> = (base..=base + ROWS)
                .flat_map(|step| clamp_rows(clamps, step as f64 * self.dt))
                .collect();
            let first = sizes.collider_poses();
            self.columns.poses.write(&self.device, first, &poses);
        }
    }

    /// Mends what stopped the device and submits the rest again.
    pub(super) fn mend(&mut self, status: &Status) -> Result<(), SimulateError> {
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
            self.sizes.lists = u64::from(status.list_need) * 3 / 2;
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
            self.spare.extend(self.flights.drain(..).map(|f| f.staging));
        } else {
            self.grow()?;
        }
        self.columns.status.write(
            &self.device,
            0,
            &[Status {
                events: status.events.min(before.events as u32),
                rebuilds: status.rebuilds,
                ..Status::default()
            }],
        );
        // What did not fit runs again; the other phases are done.
        let again = why(reason::EVENTS_FULL) || why(reason::SPRINGS_FULL);
        let resume = status.halt + u32::from(!again);
        let done: u64 = self.tasks.iter().map(|t| t.flips(resume - 1)).sum();
        self.flips = self.flips_before + done;
        self.since = u32::MAX;
        for task in self.tasks.clone() {
            self.submit(task, resume)?;
        }
        self.device.check()?;
        Ok(())
    }
}
