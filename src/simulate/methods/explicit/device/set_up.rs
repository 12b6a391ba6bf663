//! Sets a run up on the device: allocates columns, binds kernels, uploads data.

use std::collections::VecDeque;

use wgpu::Buffer;

use super::cells::CellTables;
use super::columns::{self, Columns, ListRows, STEPS_PER_SUBMISSION, Sizes};
use super::kernels::{Compiled, Kernels};
use super::launch::{Launch, Status};
use super::plan::PendingTask;
use super::slots::{MAX_SLOTS, Slots};
use super::tables::Tables;
use super::{DeviceScene, Gpu, arithmetic, reactions};
use crate::gpu::{Device, DeviceRequest, GpuError, LAUNCH_STRIDE, LaunchParameters};
use crate::simulate::bonded::bonds::BondSide;
use crate::simulate::bonded::fragments;
use crate::simulate::bonded::rankine::Rankine;
use crate::simulate::bonded::system::System;
use crate::simulate::bonded_run::build::Built;
use crate::simulate::contact::chunk::SpringEntry;
use crate::simulate::contact::lists::{Contacts, FAST_SKIN};
use crate::simulate::error::SimulateError;
use crate::simulate::run_state::averages::MeanLoads;
use crate::simulate::scene::colliders::{PosedCollider, SolidCollider};
use crate::simulate::scene::reactions::Supports;
use crate::spec::Pipeline;

impl Gpu {
    /// A run at rest at time zero on the adapter that `request` names.
    pub fn new(
        built: Built<f32>,
        pipeline: &Pipeline,
        dt: f64,
        request: &DeviceRequest,
    ) -> Result<Self, SimulateError> {
        Self::on(Self::open(request)?, built, pipeline, dt)
    }

    /// Opens the device that `request` names and checks its arithmetic.
    pub fn open(request: &DeviceRequest) -> Result<Device, GpuError> {
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

    /// A run of bonded elements, or of cells, at rest at time zero.
    ///
    /// # Errors
    /// Fails if the device has too little memory, or a cell has more neighbours than a word has bits.
    pub fn with(
        device: Device,
        (built, cells): (Built<f32>, Option<CellTables>),
        pipeline: &Pipeline,
        dt: f64,
    ) -> Result<Self, SimulateError> {
        let mut system = built.system;
        let rankine = match cells {
            None => Rankine::of(&mut system, pipeline, &built.rest),
            Some(_) => None,
        };
        let colliders = built.supports.colliders().iter();
        let colliders: Vec<PosedCollider> = colliders.map(|c| c.at(0.0)).collect();
        let tables = Tables::new(
            &system.classes,
            &built.surfaces,
            &colliders,
            &built.forces,
            &built.supports,
            system.count,
        );
        // Sizes the contact lists: the current number of entries plus half of it. A search costs a device hardly more
        // with this skin, and is needed less often.
        let contacts = Contacts::with_skin(&system, &built.surfaces, &colliders, FAST_SKIN);
        let slots = Slots::new(&system);
        if slots.slots > MAX_SLOTS {
            return Err(SimulateError::TooManyNeighbours {
                found: slots.slots,
                limit: MAX_SLOTS,
            });
        }
        let sizes = Sizes {
            cells: cells.as_ref().map(|cells| cells.walls),
            damped: cells.is_some() || system.damped(),
            rankine: rankine.is_some(),
            ..Sizes::new(
                &system,
                &slots,
                &tables,
                &built.supports,
                contacts.sides() as u64,
            )
        };
        let columns = Columns::new(&device, &sizes)?;
        let (shared, launches) = launches(&device)?;
        let mut compiled = Compiled::new();
        let count = system.count as u64;
        let kernels = Kernels::new(&device, &launches, &columns, &sizes, count, &mut compiled)?;
        let labels = fragments::first_labels(&fragments::components(&system));
        let means = MeanLoads::new(built.supports.count());
        let scene = DeviceScene {
            tables,
            load_unit: reactions::load_unit(
                &built.surfaces,
                &colliders,
                contacts.largest(),
                system.classes.iter().map(|class| f64::from(class.es)),
            ),
            surface_speed: fastest_surface(built.supports.colliders()),
            supports: built.supports,
            rest: built.rest,
            rankine,
            drag: pipeline.simulate.drag,
            surfaces: built.surfaces,
            skin: contacts.skin(),
            largest_radius: contacts.largest(),
            closed_shells: contacts.closed_shells(),
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
            opened: built.opened,
            labels,
            means,
            starting_loads_due: false,
            averaged_to_step: 0,
            dt,
            step: 0,
            tasks: VecDeque::new(),
            frames_in_flight: VecDeque::new(),
            idle_staging: Vec::new(),
            confirmed_flips: 0,
            flips: 0,
            batch: 1,
            passes_since_check: u32::MAX,
        };
        gpu.refresh()?;
        Ok(gpu)
    }

    /// Uploads the columns after they were changed by hand, and computes the loads with unstretched springs.
    pub fn refresh(&mut self) -> Result<(), SimulateError> {
        self.upload(&[])?;
        self.means = MeanLoads::new(self.scene.supports.count());
        self.starting_loads_due = true;
        self.submit_task(PendingTask::Start { step: self.step })?;
        Ok(())
    }

    /// Uploads everything. `springs` are sorted by element and partner. No task is pending afterwards.
    pub(super) fn upload(&mut self, springs: &[SpringEntry<f32>]) -> Result<(), GpuError> {
        let contacts = DeviceContacts::new(&self.system, &self.slots, springs);
        if contacts.rows.partner.len() as u64 > self.sizes.lists {
            self.sizes.lists = contacts.rows.partner.len() as u64 * 3 / 2;
            self.grow()?;
        }
        let (device, c, system) = (&self.device, &self.columns, &self.system);
        let stride = system.motion.len();
        // Both motion columns: steps do not write rows beyond the last element.
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
        c.list_bounds
            .write(device, 0, &contacts.rows.bounds(stride));
        c.list_partner.write(device, 0, &contacts.rows.partner);
        c.list_spring.write(device, 0, &contacts.rows.spring);
        let both = |side: BondSide| [bonds.sigma_c.get(side.entry), bonds.tau_c.get(side.entry)];
        let strength = slots.map(bonds, both, |_| [0.0; 2]);
        c.bond_strength.write(device, 0, &strength);
        if let Some(softening) = &bonds.softening {
            let left = |side: BondSide| {
                let [_, stiffness, strength] = softening.damage_of(side.entry);
                [stiffness, strength]
            };
            let limits = |side: BondSide| {
                let [end, ..] = softening.damage_of(side.entry);
                [end, softening.energy(side.entry)]
            };
            let rows = [
                slots.map(bonds, left, |_| [1.0; 2]),
                slots.map(bonds, limits, |_| [1.0; 2]),
            ];
            let first = strength.len() as u64;
            c.bond_strength.write(device, first, &rows.concat());
        }
        self.upload_rankine();
        if self.sizes.several_classes {
            let class = slots.map(bonds, |side| bonds.class.get(side.entry), |_| 0);
            c.bond_class.write(device, 0, &class);
        }
        let whole = slots.masks(bonds, true);
        let masks = [whole, contacts.near, vec![0; stride]].concat();
        c.masks.write(device, 0, &masks);
        let vectors = |at: usize| load.iter().map(move |row| columns::vector(&row.0, at));
        let loads: Vec<[f32; 4]> = vectors(0).chain(vectors(4)).collect();
        c.loads.write(device, 0, &loads);
        c.reactions
            .write(device, 0, &vec![0_u32; c.reactions.count() as usize]);
        (self.starting_loads_due, self.averaged_to_step) = (false, self.step);
        let status = Status {
            list_used: contacts.rows.partner.len() as u32,
            ..Status::default()
        };
        c.status.write(device, 0, &[status]);
        self.tasks.clear();
        self.idle_staging
            .extend(self.frames_in_flight.drain(..).map(|f| f.staging));
        (self.confirmed_flips, self.flips) = (0, 0);
        let fastest = (0..system.count)
            .map(|i| system.velocity(i).length_squared())
            .fold(0.0, f64::max)
            .sqrt();
        self.batch = self.batch_for(fastest);
        self.passes_since_check = u32::MAX;
        Ok(())
    }

    /// Uploads strengths and volumes of the bonds and elements of this criterion, if there are any.
    fn upload_rankine(&self) {
        let Some(rankine) = &self.scene.rankine else {
            return;
        };
        let (system, device) = (&self.system, &self.device);
        let strengths = self.slots.map(
            &system.bonds,
            |side| match rankine.strength(side.entry) {
                strength if strength.is_finite() => strength as f32,
                _ => -1.0,
            },
            |_| -1.0,
        );
        self.columns.solid_strength.write(device, 0, &strengths);
        let mut stresses = vec![[0.0_f32; 4]; 2 * system.motion.len()];
        for (i, side) in system.bonds.entries() {
            if rankine.strength(side.entry).is_finite() {
                for end in [i, side.other] {
                    stresses[end][3] = self.scene.rest.volume[end] as f32;
                }
            }
        }
        self.columns.solid_stress.write(device, 0, &stresses);
    }

    /// Enlarges columns where sizes have grown, and binds the kernels to them.
    pub(super) fn grow(&mut self) -> Result<(), GpuError> {
        self.frames_in_flight.clear();
        self.idle_staging.clear();
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
    /// Sizes of a run that begins with `sides` contact sides.
    fn new(
        system: &System<f32>,
        slots: &Slots,
        tables: &Tables,
        supports: &Supports,
        sides: u64,
    ) -> Self {
        let stride = system.motion.len() as u64;
        let bonds = system.bonds.foreign.len() as u64;
        Sizes {
            stride,
            slots: slots.slots as u64,
            law: system.law,
            cells: None,
            several_classes: system.classes.len() > 1,
            damped: system.damped(),
            softens: system.bonds.softening.is_some(),
            rankine: false,
            colliders: supports.colliders().len() as u64,
            clamps: supports.clamps().count() as u64,
            tables: tables.rows.len() as u64,
            // An entry for each element: what breaks soon lists thousands, and each growth stops the device.
            lists: (sides * 3 / 2).max(stride).max(1024),
            events: (bonds / 8).clamp(1024.min(bonds.max(1)), 1 << 18),
            springs: sides.max(1024),
            reaction_rows: reactions::row_count(supports, stride),
        }
    }
}

/// The launch numbers: those that a submission shares, and one row per step.
fn launches(device: &Device) -> Result<(Buffer, LaunchParameters), GpuError> {
    let shared = device.uniform(size_of::<Launch>() as u64)?;
    let rows = device.uniform(STEPS_PER_SUBMISSION * LAUNCH_STRIDE)?;
    for row in 0..STEPS_PER_SUBMISSION {
        device.write(
            &rows,
            row * LAUNCH_STRIDE,
            bytemuck::bytes_of(&(row as u32)),
        );
    }
    let launches = LaunchParameters::new(device, &shared, &rows);
    Ok((shared, launches))
}

/// Contacts in the device's layout: those of broken bonds in the bonds' slots, all others in lists.
struct DeviceContacts {
    /// Slot-major rest directions and lengths; for broken bonds, springs and touching distances.
    rest: Vec<[f32; 4]>,
    /// Broken pairs to check for contact: all of them until the lists are built.
    near: Vec<u32>,
    rows: ListRows,
}

impl DeviceContacts {
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
        DeviceContacts { rest, near, rows }
    }
}

/// Upper bound of the speed of the colliders' surfaces at any time, m/s.
fn fastest_surface(colliders: &[SolidCollider]) -> f64 {
    let speeds = colliders.iter().flat_map(|barrier| {
        let keys = &barrier.collider.keys;
        // The speed is constant between two keys, and at all times without keys.
        let middles = keys
            .windows(2)
            .map(|pair| (pair[0].time + pair[1].time) / 2.0);
        let steady = keys.is_empty().then_some(0.0);
        middles.chain(steady).map(|t| barrier.at(t).fastest())
    });
    speeds.fold(0.0, f64::max)
}
