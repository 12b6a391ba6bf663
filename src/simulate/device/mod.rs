//! Explicit bonded DEM on a graphics processor: the whole step loop on the device, the host looking in once a frame.
//!
//! ```text
//! every `batch` force passes    travel → lists made anew if an element may outrun them: grid, pairs, springs kept
//! every step                    move: forces of bonds and contacts, kick, drift, turn → break: bonds taken out
//! every frame                   measure → copies → the host makes tables of them while the device goes on
//! ```
//! Commands are submitted ahead. Whatever needs the host — a list too short, an element faster than the lists allow — stops the
//! device at a phase of a step; the host sees it with the next frame, mends it and submits the rest again from that phase. Nothing is
//! lost, and neither when lists are made nor how large they are changes a bit of the result.

mod arithmetic;
mod capture;
mod columns;
mod kernels;
mod launch;
mod plan;
mod tables;
#[cfg(test)]
mod tests;
mod texts;

use std::collections::VecDeque;

use glam::Vec3;
use wgpu::{Buffer, CommandEncoder};

use self::capture::{Event, Flight, Landed, Staging};
use self::columns::{Columns, ROWS, Sizes};
use self::kernels::{Compiled, Kernels};
use self::launch::{Launch, STATUS_WORDS, Status, phase, reason};
use self::plan::{Action, Task, actions, at};
use self::tables::{Tables, pose_rows};
use super::SimulateError;
use super::breaks::{BondIds, Broken};
use super::build::Built;
use super::colliders::obstacle;
use super::contact_pass::{ContactTotals, Obstacle, Surface};
use super::contacts::{Contacts, SpringEntry};
use super::engine::{Capture, Engine};
use super::fragments;
use super::passes::BreakEvent;
use super::record::{self, Carried, Moment, Rest};
use super::state::{State, StateError};
use super::system::{Load, System};
use crate::columns::{BreakMode, Breaks};
use crate::gpu::{Column, Device, GpuError, Item, LAUNCH_STRIDE, Launches, Request};
use crate::spec::{Collider, Pipeline};
use crate::store::Packing;

/// Part of the skin that the fastest pair may close up in a batch of force passes.
const BATCH_PART: f64 = 0.25;
/// Force passes from one look at the lists to the next, at most.
const LARGEST_BATCH: u32 = 64;

/// What does not change in a run.
struct Scene {
    tables: Tables,
    colliders: Vec<Collider>,
    rest: Rest,
    drag: f64,
    bond_ids: BondIds,
    surfaces: Vec<Surface>,
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
    status: Column,
    columns: Columns,
    sizes: Sizes,
    kernels: Kernels,
    compiled: Compiled,
    scene: Scene,
    /// The host's twin, true at frames.
    system: System<f32>,
    load: Vec<Load<f32>>,
    labels: Vec<u32>,
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
    /// A run at rest at time zero on the adapter that `request` names.
    pub fn new(
        built: Built<f32>,
        packing: &Packing,
        pipeline: &Pipeline,
        dt: f64,
        request: &Request,
    ) -> Result<Self, SimulateError> {
        let device = Device::open(request)?;
        arithmetic::check(&device)?;
        let system = built.system;
        let obstacles: Vec<Obstacle> = pipeline
            .colliders
            .iter()
            .map(|c| obstacle(c, 0.0))
            .collect();
        let tables = Tables::new(
            &system.classes,
            &built.surfaces,
            &obstacles,
            &built.forces,
            system.count,
        );
        // The dry count: lists as they are now, and room for half as much again.
        let contacts = Contacts::new(&system, &obstacles);
        let entries: usize = contacts.chunks.iter().map(|c| c.partner.len()).sum();
        let bonds = packing.bonds.id.len() as u64;
        let sizes = Sizes {
            stride: system.motion.len() as u64,
            slots: system.slots.slots as u64,
            kinds: system.classes.len() > 1,
            colliders: obstacles.len() as u64,
            tables: tables.rows.len() as u64,
            lists: (entries as u64 * 3 / 2).max(1024),
            events: (bonds / 8).clamp(1024.min(bonds.max(1)), 1 << 18),
            springs: (entries as u64).max(1024),
        };
        let columns = Columns::new(&device, &sizes)?;
        let status = Column::new(&device, "status", Item::Atomic, STATUS_WORDS as u64)?;
        let shared = device.uniform(size_of::<Launch>() as u64)?;
        let rows = device.uniform(ROWS * LAUNCH_STRIDE)?;
        for row in 0..ROWS {
            device.write(
                &rows,
                row * LAUNCH_STRIDE,
                bytemuck::bytes_of(&(row as u32)),
            );
        }
        let launches = Launches::new(&device, &shared, &rows);
        let mut compiled = Compiled::new();
        let count = system.count as u64;
        let tied = (&columns, &status);
        let kernels = Kernels::new(&device, &launches, tied, &sizes, count, &mut compiled)?;
        let labels = fragments::first_labels(&fragments::components(&system));
        let scene = Scene {
            tables,
            colliders: pipeline.colliders.clone(),
            rest: Rest::new(packing, pipeline, &built.load),
            drag: pipeline.simulate.drag,
            bond_ids: BondIds::new(&packing.bonds),
            surfaces: built.surfaces,
            skin: contacts.skin(),
            largest: contacts.largest(),
            equal: contacts.equal(),
            driven: fastest(&pipeline.colliders),
        };
        let mut gpu = Gpu {
            device,
            launches,
            shared,
            status,
            columns,
            sizes,
            kernels,
            compiled,
            scene,
            system,
            load: built.load,
            labels,
            dt,
            step: 0,
            tasks: VecDeque::new(),
            flights: VecDeque::new(),
            spare: Vec::new(),
            flips_before: 0,
            flips: 0,
            batch: 1,
            since: u32::MAX,
        };
        gpu.refresh()?;
        Ok(gpu)
    }

    /// The columns as of the last frame delivered.
    pub fn system(&self) -> &System<f32> {
        &self.system
    }

    /// The columns to change by hand; [`refresh`](Self::refresh) takes them over.
    pub fn system_mut(&mut self) -> &mut System<f32> {
        &mut self.system
    }

    /// Takes the columns over after they were changed by hand, and computes the loads there, springs unstretched.
    pub fn refresh(&mut self) -> Result<(), SimulateError> {
        self.upload(&[]);
        self.ask(Task::Start { step: self.step })?;
        Ok(())
    }

    /// The device, to look at or to give up.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Bytes of device memory in use.
    pub fn device_bytes(&self) -> u64 {
        self.sizes.bytes()
    }

    /// Everything from the host to the device; nothing is under way afterwards.
    fn upload(&mut self, springs: &[SpringEntry<f32>]) {
        let (device, c, system) = (&self.device, &self.columns, &self.system);
        let stride = system.motion.len();
        // Both: steps write no rows beyond the last element.
        let motion = columns::to_device(system);
        c.motion.iter().for_each(|m| m.write(device, 0, &motion));
        let own: Vec<[f32; 4]> = (0..stride)
            .map(|i| {
                let force = self.scene.tables.force_of.get(i).copied().unwrap_or(0);
                [
                    system.inverse_mass[i],
                    self.load[i].0[7],
                    f32::from_bits(system.material[i]),
                    f32::from_bits(force),
                ]
            })
            .collect();
        c.own.write(device, 0, &own);
        c.tables.write(device, 0, &self.scene.tables.rows);
        let slots = &system.slots;
        c.neighbour.write(device, 0, &slots.neighbour);
        let mut rest = columns::rest_rows(system);
        let mut near = vec![0u32; stride];
        let mut rows = columns::ListRows::default();
        for i in 0..stride {
            for slot in 0..slots.slots {
                let at = slots.at(slot, i);
                if slots.neighbour[at] as usize != i && !slots.is_whole(slot, i) {
                    rest[at][..3].fill(0.0);
                    near[i] |= 1 << slot;
                }
            }
        }
        for entry in springs {
            let i = entry.element as usize;
            match slots.find(i, entry.partner) {
                Some(slot) => rest[slots.at(slot, i)][..3].copy_from_slice(&entry.spring),
                None => rows.push(entry),
            }
        }
        rows.finish(stride);
        c.list_first.write(device, 0, &rows.first);
        c.list_partner.write(device, 0, &rows.partner);
        c.list_spring.write(device, 0, &rows.spring);
        c.rest.write(device, 0, &rest);
        let strength: Vec<[f32; 2]> = slots
            .sigma_c
            .iter()
            .zip(&slots.tau_c)
            .map(|(s, t)| [*s, *t])
            .collect();
        c.strength.write(device, 0, &strength);
        if self.sizes.kinds {
            c.class.write(device, 0, &slots.class);
        }
        let masks = [slots.whole.as_slice(), &near, &vec![0; stride]].concat();
        c.masks.write(device, 0, &masks);
        let loads: Vec<[f32; 4]> = [0, 4]
            .iter()
            .flat_map(|&at| self.load.iter().map(move |row| columns::vector(&row.0, at)))
            .collect();
        c.loads.write(device, 0, &loads);
        self.status.write(device, 0, &[Status::default()]);
        self.tasks.clear();
        self.spare.extend(self.flights.drain(..).map(|f| f.staging));
        (self.flips_before, self.flips) = (0, 0);
        let fastest = (0..system.count)
            .map(|i| system.velocity(i).length_squared())
            .fold(0.0, f64::max)
            .sqrt();
        self.batch = self.batch_for(fastest);
        self.since = u32::MAX;
    }

    /// Force passes for which lists serve at a speed.
    fn batch_for(&self, speed: f64) -> u32 {
        let closes = (2.0 * speed).max(speed + self.scene.driven) * self.dt;
        let steps = BATCH_PART * self.scene.skin / closes;
        // A float of no bound becomes the largest integer, one without sense 0.
        (steps as u32).clamp(1, LARGEST_BATCH)
    }

    /// Notes a task and submits it.
    fn ask(&mut self, task: Task) -> Result<(), SimulateError> {
        self.tasks.push_back(task);
        self.submit(task, 0)?;
        self.device.check()?;
        Ok(())
    }

    /// Submits those actions of a task that lie at phase `resume` or after it.
    fn submit(&mut self, task: Task, resume: u32) -> Result<(), GpuError> {
        match task {
            Task::Start { step } => {
                if at(step, phase::MOVE) >= resume {
                    self.submit_actions(step, [(step, Action::Start)]);
                }
            }
            Task::Steps { from, to } => {
                let mut base = from.max(u64::from(resume / phase::COUNT));
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
        let mut encoder = self.device.encoder();
        let mut pass = encoder.begin_compute_pass(&Default::default());
        for (step, action) in list {
            let launch = (&self.launches, step - base);
            let k = &self.kernels;
            let stage = match action {
                Action::Start => &k.start,
                Action::Open => &k.open,
                Action::Move { open: true } => &k.middle,
                Action::Move { open: false } => &k.last,
                Action::Break => &k.breaks,
            };
            if matches!(action, Action::Start | Action::Move { .. }) {
                if self.since >= self.batch {
                    for look in &k.lists {
                        look.run(&self.device, &mut pass, self.parity(), launch);
                    }
                    self.since = 0;
                }
                self.since += 1;
            }
            stage.run(&self.device, &mut pass, self.parity(), launch);
            self.flips += u64::from(action.flips());
        }
        drop(pass);
        self.device.submit(encoder);
    }

    fn submit_capture(&mut self, step: u64, state: bool) -> Result<(), GpuError> {
        let mut staging = match self.spare.pop() {
            Some(staging) => staging,
            None => Staging::new(&self.device, &self.columns, &self.sizes)?,
        };
        self.write_launch(step);
        let mut encoder = self.device.encoder();
        let launch = (&self.launches, 0);
        let run = |encoder: &mut CommandEncoder, stages: &[&kernels::Stage]| {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            for stage in stages {
                stage.run(&self.device, &mut pass, self.parity(), launch);
            }
        };
        let k = &self.kernels;
        let measuring: &[_] = if state {
            &[&k.carried, &k.gather]
        } else {
            &[&k.carried]
        };
        run(&mut encoder, measuring);
        let tied = (&self.columns, &self.status);
        staging.copy(&mut encoder, tied, self.parity(), state);
        run(&mut encoder, &[&k.close]);
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
    fn write_launch(&self, base: u64) {
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
            materials: scene.surfaces.len() as u32,
            equal: u32::from(scene.equal),
            pairs: scene.tables.pairs,
            forces: scene.tables.forces,
            cell_mask: (sizes.cells() - 1) as u32,
            list_room: sizes.lists as u32,
            event_room: sizes.events as u32,
            spring_room: sizes.springs as u32,
            ..Launch::default()
        };
        self.device
            .write(&self.shared, 0, bytemuck::bytes_of(&launch));
        if !scene.colliders.is_empty() {
            let poses: Vec<[f32; 4]> = (base..base + ROWS)
                .flat_map(|step| scene.colliders.iter().map(move |c| (step, c)))
                .flat_map(|(step, c)| pose_rows(&obstacle(c, step as f64 * self.dt)))
                .collect();
            self.columns.poses.write(&self.device, 0, &poses);
        }
    }

    /// Mends what stopped the device and submits the rest again.
    fn mend(&mut self, status: &Status) -> Result<(), SimulateError> {
        let step = u64::from(status.halt / phase::COUNT);
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
            self.flights.clear();
            self.spare.clear();
            self.columns.grow(&self.device, &before, &self.sizes)?;
            self.kernels = Kernels::new(
                &self.device,
                &self.launches,
                (&self.columns, &self.status),
                &self.sizes,
                self.system.count as u64,
                &mut self.compiled,
            )?;
        }
        self.status.write(
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

    /// The host's twin brought to a frame, and the frame's tables.
    fn take(&mut self, landed: &Landed, frame: u32, step: u64, state: bool) -> Capture {
        let speed = f64::from(f32::from_bits(landed.status.speed_seen)).sqrt();
        let batch = self.batch_for(speed).min(2 * self.batch);
        if batch != self.batch {
            self.batch = batch;
            self.since = u32::MAX;
        }
        columns::from_device(
            &landed.motion,
            &mut self.system.motion,
            &mut self.system.tail,
        );
        let mut breaks = Breaks::default();
        for event in &landed.events {
            self.take_break(event, &mut breaks);
        }
        if !landed.events.is_empty() {
            fragments::update(&mut self.labels, &self.system);
        }
        let carried: Vec<Carried> = landed
            .measured
            .iter()
            .map(|&[sigma, tau, energy, _]| Carried {
                sigma: f64::from(sigma),
                tau: f64::from(tau),
                energy: f64::from(energy),
            })
            .take(self.system.count)
            .collect();
        let contact = ContactTotals {
            energy: landed.measured.iter().map(|row| f64::from(row[3])).sum(),
            sides: landed.touched.iter().map(|sides| u64::from(*sides)).sum(),
        };
        let moment = Moment {
            step,
            dt: self.dt,
            system: &self.system,
            labels: &self.labels,
            rest: &self.scene.rest,
            carried: &carried,
            contact,
        };
        let snapshot = record::snapshot(&moment, frame, breaks);
        let state = state.then(|| {
            let stride = self.load.len();
            for (i, row) in self.load.iter_mut().enumerate() {
                row.0[..3].copy_from_slice(&landed.loads[i][..3]);
                row.0[4..7].copy_from_slice(&landed.loads[stride + i][..3]);
            }
            let springs = &landed.springs;
            let time = (step, self.dt);
            State::pack(frame, time, &self.system, &self.load, springs, &self.labels)
        });
        Capture { snapshot, state }
    }

    fn take_break(&mut self, event: &Event, rows: &mut Breaks) {
        let j = self.system.slots.partner(event.element, event.slot);
        let at = self
            .system
            .slots
            .at(event.slot as usize, event.element as usize);
        let tension = event.sigma > self.system.slots.sigma_c[at];
        let vector = |v: [f32; 3]| Vec3::from_array(v).as_dvec3();
        Broken {
            step: event.step,
            time: event.step as f64 * self.dt,
            bond: self
                .scene
                .bond_ids
                .id(event.element, j)
                .expect("every slot was made from a bond"),
            i: event.element,
            j,
            event: BreakEvent {
                element: event.element,
                slot: event.slot,
                sigma: f64::from(event.sigma),
                tau: f64::from(event.tau),
                mode: if tension {
                    BreakMode::Tension
                } else {
                    BreakMode::Shear
                },
            },
            middle: vector(event.middle),
            from_i: vector(event.from_i),
            from_j: vector(event.from_j),
        }
        .push(rows);
        self.system.unbond(event.element, event.slot, event.touch);
    }

    /// Waits until all that was asked for is done, mending what stops it.
    pub fn wait(&mut self) -> Result<(), SimulateError> {
        loop {
            let words: Vec<u32> = self.status.read(&self.device)?;
            let status: Status = bytemuck::pod_read_unaligned(bytemuck::cast_slice(&words));
            if status.halt == u32::MAX {
                return Ok(());
            }
            self.mend(&status)?;
        }
    }
}

/// Bound on the speed of the colliders' surfaces at any time, m/s.
fn fastest(colliders: &[Collider]) -> f64 {
    let speeds = colliders.iter().flat_map(|collider| {
        let keys = &collider.keys;
        // Between two keys it is constant; without keys at all times.
        let middles = keys
            .windows(2)
            .map(|pair| (pair[0].time + pair[1].time) / 2.0);
        let steady = keys.is_empty().then_some(0.0);
        middles
            .chain(steady)
            .map(|t| obstacle(collider, t).fastest())
    });
    speeds.fold(0.0, f64::max)
}

impl Engine for Gpu {
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

    fn ahead(&self) -> usize {
        1
    }

    fn restore(&mut self, state: &State) -> Result<(), StateError> {
        state.unpack(&mut self.system, &mut self.load, &mut self.labels)?;
        (self.step, self.dt) = (state.step, state.dt);
        self.upload(&state.springs()?);
        Ok(())
    }
}
