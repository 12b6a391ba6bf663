//! A run from its packing to the device: columns made, kernels tied, everything uploaded.

use std::collections::VecDeque;

use wgpu::Buffer;

use super::cells::CellTables;
use super::columns::{self, Columns, ListRows, ROWS, Sizes};
use super::kernels::{Compiled, Kernels};
use super::launch::{Launch, Status};
use super::plan::Task;
use super::slots::{MOST_SLOTS, Slots};
use super::tables::Tables;
use super::{Gpu, Scene, arithmetic, reactions};
use crate::gpu::{Device, GpuError, LAUNCH_STRIDE, Launches, Request};
use crate::simulate::bonded::bonds::Side;
use crate::simulate::bonded::fragments;
use crate::simulate::bonded::system::System;
use crate::simulate::bonded_run::build::Built;
use crate::simulate::contact::chunk::SpringEntry;
use crate::simulate::contact::lists::Contacts;
use crate::simulate::error::SimulateError;
use crate::simulate::run_state::averages::MeanLoads;
use crate::simulate::scene::colliders::{Barrier, Obstacle};
use crate::simulate::scene::reactions::Bearers;
use crate::spec::Pipeline;

impl Gpu {
    /// A run at rest at time zero on the adapter that `request` names.
    pub fn new(
        built: Built<f32>,
        pipeline: &Pipeline,
        dt: f64,
        request: &Request,
    ) -> Result<Self, SimulateError> {
        Self::on(Self::open(request)?, built, pipeline, dt)
    }

    /// The device that `request` names, once it is known to compute right.
    pub fn open(request: &Request) -> Result<Device, GpuError> {
        let device = Device::open(request)?;
        arithmetic::check(&device)?;
        Ok(device)
    }

    /// A run at rest at time zero.
    pub fn on(
        device: Device,
        built: Built<f32>,
        pipeline: &Pipeline,
        dt: f64,
    ) -> Result<Self, SimulateError> {
        Self::with(device, (built, None), pipeline, dt)
    }

    /// A run at rest at time zero of bonded elements, or of cells.
    ///
    /// # Errors
    /// A device without room, or a cell with more neighbours than a word has bits.
    pub fn with(
        device: Device,
        (built, cells): (Built<f32>, Option<CellTables>),
        pipeline: &Pipeline,
        dt: f64,
    ) -> Result<Self, SimulateError> {
        let system = built.system;
        let colliders = built.bearers.colliders().iter();
        let obstacles: Vec<Obstacle> = colliders.map(|c| c.at(0.0)).collect();
        let tables = Tables::new(
            &system.classes,
            &built.surfaces,
            &obstacles,
            &built.forces,
            &built.bearers,
            system.count,
        );
        // The dry count: lists as they are now, and room for half as much again.
        let contacts = Contacts::new(&system, &built.surfaces, &obstacles);
        let slots = Slots::new(&system);
        if slots.slots > MOST_SLOTS {
            return Err(SimulateError::TooManyNeighbours {
                found: slots.slots,
                limit: MOST_SLOTS,
            });
        }
        let sizes = Sizes {
            cells: cells.as_ref().map(|cells| cells.walls),
            ..Sizes::new(
                &system,
                &slots,
                &tables,
                &built.bearers,
                contacts.sides() as u64,
            )
        };
        let columns = Columns::new(&device, &sizes)?;
        let (shared, launches) = launches(&device)?;
        let mut compiled = Compiled::new();
        let count = system.count as u64;
        let kernels = Kernels::new(&device, &launches, &columns, &sizes, count, &mut compiled)?;
        let labels = fragments::first_labels(&fragments::components(&system));
        let means = MeanLoads::new(built.bearers.count());
        let scene = Scene {
            tables,
            load_unit: reactions::unit(
                &built.surfaces,
                &obstacles,
                contacts.largest(),
                system.classes.iter().map(|class| f64::from(class.es)),
            ),
            driven: fastest(built.bearers.colliders()),
            bearers: built.bearers,
            rest: built.rest,
            drag: pipeline.simulate.drag,
            surfaces: built.surfaces,
            skin: contacts.skin(),
            largest: contacts.largest(),
            equal: contacts.equal(),
        };
        let mut gpu = Gpu {
            device,
            launches,
            shared,
            columns,
            sizes,
            kernels,
            compiled,
            scene,
            system,
            cells,
            slots,
            load: built.load,
            labels,
            means,
            begins: false,
            tallied: 0,
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

    /// Takes the columns over after they were changed by hand, and computes the loads there, springs unstretched.
    pub fn refresh(&mut self) -> Result<(), SimulateError> {
        self.upload(&[])?;
        self.means = MeanLoads::new(self.scene.bearers.count());
        self.begins = true;
        self.ask(Task::Start { step: self.step })?;
        Ok(())
    }

    /// Everything from the host to the device, with the springs of contacts in order of elements and
    /// partners; nothing is under way afterwards.
    pub(super) fn upload(&mut self, springs: &[SpringEntry<f32>]) -> Result<(), GpuError> {
        let contacts = Touching::new(&self.system, &self.slots, springs);
        if contacts.rows.partner.len() as u64 > self.sizes.lists {
            self.sizes.lists = contacts.rows.partner.len() as u64 * 3 / 2;
            self.grow()?;
        }
        let (device, c, system) = (&self.device, &self.columns, &self.system);
        let stride = system.motion.len();
        // Both: steps write no rows beyond the last element.
        let motion = columns::to_device(system);
        c.motion.write(device, 0, &motion);
        c.moved.write(device, 0, &motion);
        let (tables, load) = (&self.scene.tables, &self.load);
        c.own.write(device, 0, &tables.own_rows(system, load));
        c.tables.write(device, 0, &tables.rows);
        let (slots, bonds) = (&self.slots, &system.bonds);
        c.neighbour.write(device, 0, &slots.neighbours(system));
        c.bond_rest.write(device, 0, &contacts.rest);
        if let Some(cells) = &self.cells {
            c.cell_rows.write(device, 0, &cells.cell_rows());
            let first = contacts.rest.len() as u64;
            let faces = cells.face_rows(slots, system);
            c.bond_rest.write(device, first, &faces);
        }
        c.list_first.write(device, 0, &contacts.rows.first);
        c.list_partner.write(device, 0, &contacts.rows.partner);
        c.list_spring.write(device, 0, &contacts.rows.spring);
        let both = |side: Side| [bonds.sigma_c.get(side.entry), bonds.tau_c.get(side.entry)];
        let strength = slots.map(bonds, both, |_| [0.0; 2]);
        c.bond_strength.write(device, 0, &strength);
        if self.sizes.kinds {
            let class = slots.map(bonds, |side| bonds.class.get(side.entry), |_| 0);
            c.bond_class.write(device, 0, &class);
        }
        let whole = slots.masks(bonds, true);
        let masks = [whole, contacts.near, vec![0; stride]].concat();
        c.masks.write(device, 0, &masks);
        let vectors = |at: usize| load.iter().map(move |row| columns::vector(&row.0, at));
        let loads: Vec<[f32; 4]> = vectors(0).chain(vectors(4)).collect();
        c.loads.write(device, 0, &loads);
        c.borne
            .write(device, 0, &vec![0_u32; c.borne.count() as usize]);
        (self.begins, self.tallied) = (false, self.step);
        c.status.write(device, 0, &[Status::default()]);
        self.tasks.clear();
        self.spare.extend(self.flights.drain(..).map(|f| f.staging));
        (self.flips_before, self.flips) = (0, 0);
        let fastest = (0..system.count)
            .map(|i| system.velocity(i).length_squared())
            .fold(0.0, f64::max)
            .sqrt();
        self.batch = self.batch_for(fastest);
        self.since = u32::MAX;
        Ok(())
    }

    /// Longer columns where sizes have grown, and the kernels tied to them.
    pub(super) fn grow(&mut self) -> Result<(), GpuError> {
        self.flights.clear();
        self.spare.clear();
        self.columns.grow(&self.device, &self.sizes)?;
        self.kernels = Kernels::new(
            &self.device,
            &self.launches,
            &self.columns,
            &self.sizes,
            self.system.count as u64,
            &mut self.compiled,
        )?;
        Ok(())
    }
}

impl Sizes {
    /// Of a run that begins with so many `sides` of contacts.
    fn new(
        system: &System<f32>,
        slots: &Slots,
        tables: &Tables,
        bearers: &Bearers,
        sides: u64,
    ) -> Self {
        let stride = system.motion.len() as u64;
        let bonds = system.bonds.foreign.len() as u64;
        Sizes {
            stride,
            slots: slots.slots as u64,
            law: system.law,
            cells: None,
            kinds: system.classes.len() > 1,
            colliders: bearers.colliders().len() as u64,
            clamps: bearers.clamps().count() as u64,
            tables: tables.rows.len() as u64,
            lists: (sides * 3 / 2).max(1024),
            events: (bonds / 8).clamp(1024.min(bonds.max(1)), 1 << 18),
            springs: sides.max(1024),
            borne: reactions::rows(bearers, stride),
        }
    }
}

/// The numbers of launches: those that a submission shares, and a row a step.
fn launches(device: &Device) -> Result<(Buffer, Launches), GpuError> {
    let shared = device.uniform(size_of::<Launch>() as u64)?;
    let rows = device.uniform(ROWS * LAUNCH_STRIDE)?;
    for row in 0..ROWS {
        device.write(
            &rows,
            row * LAUNCH_STRIDE,
            bytemuck::bytes_of(&(row as u32)),
        );
    }
    let launches = Launches::new(device, &shared, &rows);
    Ok((shared, launches))
}

/// Contacts as the device keeps them: those that a bond left in its slot, all others in lists.
struct Touching {
    /// Slot-major rest directions and lengths; of broken bonds springs and distances of touching.
    rest: Vec<[f32; 4]>,
    /// Broken pairs to watch: all of them until the lists are made.
    near: Vec<u32>,
    rows: ListRows,
}

impl Touching {
    fn new(system: &System<f32>, slots: &Slots, springs: &[SpringEntry<f32>]) -> Self {
        let bonds = &system.bonds;
        let mut rest = slots.rest(bonds);
        let near = slots.masks(bonds, false);
        let mut rows = ListRows::default();
        for entry in springs {
            let i = entry.element as usize;
            match slots.find(bonds, i, entry.partner) {
                Some(at) => rest[at][..3].copy_from_slice(&entry.memory.spring),
                None => rows.push(entry),
            }
        }
        rows.finish(system.motion.len());
        Touching { rest, near, rows }
    }
}

/// Bound on the speed of the colliders' surfaces at any time, m/s.
fn fastest(colliders: &[Barrier]) -> f64 {
    let speeds = colliders.iter().flat_map(|barrier| {
        let keys = &barrier.collider.keys;
        // Between two keys it is constant; without keys at all times.
        let middles = keys
            .windows(2)
            .map(|pair| (pair[0].time + pair[1].time) / 2.0);
        let steady = keys.is_empty().then_some(0.0);
        middles.chain(steady).map(|t| barrier.at(t).fastest())
    });
    speeds.fold(0.0, f64::max)
}
