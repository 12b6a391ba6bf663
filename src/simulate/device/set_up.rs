//! A run from its packing to the device: columns made, kernels tied, everything uploaded.

use std::collections::VecDeque;

use super::columns::{self, Columns, ROWS, Sizes};
use super::kernels::{Compiled, Kernels};
use super::launch::{Launch, STATUS_WORDS, Status};
use super::plan::Task;
use super::tables::Tables;
use super::{Gpu, Scene, arithmetic};
use crate::gpu::{Column, Device, Item, LAUNCH_STRIDE, Launches, Request};
use crate::simulate::SimulateError;
use crate::simulate::breaks::BondIds;
use crate::simulate::build::Built;
use crate::simulate::colliders::obstacle;
use crate::simulate::contact_pass::Obstacle;
use crate::simulate::contacts::{Contacts, SpringEntry};
use crate::simulate::fragments;
use crate::simulate::record::Rest;
use crate::spec::{Collider, Pipeline};
use crate::store::Packing;

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

    /// Takes the columns over after they were changed by hand, and computes the loads there, springs unstretched.
    pub fn refresh(&mut self) -> Result<(), SimulateError> {
        self.upload(&[]);
        self.ask(Task::Start { step: self.step })?;
        Ok(())
    }

    /// Everything from the host to the device; nothing is under way afterwards.
    pub(super) fn upload(&mut self, springs: &[SpringEntry<f32>]) {
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
