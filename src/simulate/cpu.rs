//! Explicit bonded DEM on the CPU: the step loop over lanes of any type, threads over chunks of elements.

use glam::DVec3;
use rayon::prelude::*;

use super::SimulateError;
use super::build::{AttachedForce, Built};
use super::colliders::obstacle;
use super::contact_pass::{ContactPass, Obstacle, Surface};
use super::contacts::Contacts;
use super::engine::{Engine, Snapshot};
use super::fragments;
use super::passes::{AdvancePass, BondPass, BreakEvent, StepParameters};
use super::record;
use super::state::{State, StateError};
use super::system::{CHUNK, Load, System};
use crate::columns::Breaks;
use crate::math::{Lanes, Scalar, Vec3};
use crate::spec::{Collider, Pipeline, Region};
use crate::store::Packing;

/// What records ask of the packing.
pub(super) struct Rest {
    pub(super) mass: Vec<f64>,
    pub(super) volume: Vec<f64>,
    pub(super) body: Vec<u32>,
}

/// A run on the CPU with lanes of type `L`.
pub struct Cpu<L: Lanes> {
    pub(super) system: System<L::Scalar>,
    pub(super) load: Vec<Load<L::Scalar>>,
    pub(super) contacts: Contacts<L::Scalar>,
    pub(super) surfaces: Vec<Surface>,
    forces: Vec<AttachedForce>,
    colliders: Vec<Collider>,
    pub(super) obstacles: Vec<Obstacle>,
    pub(super) parameters: StepParameters<L::Scalar>,
    pub(super) gravity: DVec3,
    dt: f64,
    step: u64,
    /// Velocities are at the middle of the last step: its second kick is due.
    half: bool,
    chunk_breaks: Vec<Vec<BreakEvent>>,
    breaks: Breaks,
    broken_since: bool,
    pub(super) labels: Vec<u32>,
    pub(super) rest: Rest,
    pub(super) bounds: Option<Region>,
    /// (i, j, bond), ascending.
    bond_ids: Vec<(u32, u32, u32)>,
}

impl<L: Lanes> Cpu<L> {
    /// A run at rest at time zero.
    pub fn new(built: Built<L::Scalar>, packing: &Packing, pipeline: &Pipeline, dt: f64) -> Self {
        let obstacles = obstacles(&pipeline.colliders, 0.0);
        let contacts = Contacts::new(&built.system, &obstacles);
        let bonds = &packing.bonds;
        let mut bond_ids: Vec<_> = (0..bonds.id.len())
            .map(|k| (bonds.i[k], bonds.j[k], bonds.id[k]))
            .collect();
        bond_ids.sort_unstable();
        let labels = fragments::first_labels(&fragments::components(&built.system));
        let chunks = built.system.motion.len().div_ceil(CHUNK);
        let mut cpu = Cpu {
            system: built.system,
            load: built.load,
            contacts,
            surfaces: built.surfaces,
            forces: built.forces,
            colliders: pipeline.colliders.clone(),
            obstacles,
            parameters: StepParameters {
                dt: Scalar::from_f64(dt),
                gravity: Vec3::from_f64(pipeline.world.gravity),
                drag: Scalar::from_f64(pipeline.simulate.drag),
            },
            gravity: DVec3::from_array(pipeline.world.gravity),
            dt,
            step: 0,
            half: false,
            chunk_breaks: vec![Vec::new(); chunks],
            breaks: Breaks::default(),
            broken_since: false,
            labels,
            rest: Rest {
                mass: packing.elements.mass.clone(),
                volume: packing.elements.volume.clone(),
                body: packing.elements.body.clone(),
            },
            bounds: pipeline.world.bounds,
            bond_ids,
        };
        // The first kick needs the loads at the start; nothing slides or breaks before time runs.
        cpu.forces(L::Scalar::default());
        cpu.chunk_breaks.iter_mut().for_each(Vec::clear);
        cpu
    }

    /// The columns, for tests of the laws in motion.
    pub fn system(&self) -> &System<L::Scalar> {
        &self.system
    }

    /// The columns to change before the first step; contacts follow at the next rebuild.
    pub fn system_mut(&mut self) -> &mut System<L::Scalar> {
        &mut self.system
    }

    /// Recomputes the contact lists and the loads after the columns were changed by hand.
    pub fn refresh(&mut self) {
        self.contacts.rebuild(&self.system, &self.obstacles);
        self.forces(L::Scalar::default());
        self.chunk_breaks.iter_mut().for_each(Vec::clear);
    }

    /// Ends a step's second kick if it is due (`close`), starts the next (`open`).
    fn motion(&mut self, open: bool) -> Result<(), SimulateError> {
        let (step, close) = (self.parameters, self.half);
        let speeds: Vec<_> = self
            .system
            .motion
            .par_chunks_mut(CHUNK)
            .zip(self.system.tail.par_chunks_mut(CHUNK))
            .zip(self.load.par_chunks(CHUNK))
            .map(|((motion, tail), load)| {
                L::run(AdvancePass {
                    step,
                    close,
                    open,
                    motion,
                    tail,
                    load,
                })
            })
            .collect();
        self.half = open;
        if speeds.iter().any(|s| !s.probe.is_finite()) {
            return Err(self.not_finite());
        }
        if open {
            let fastest = speeds
                .iter()
                .map(|s| s.largest_squared)
                .fold(0.0, f64::max)
                .sqrt();
            self.obstacles = obstacles(&self.colliders, (self.step + 1) as f64 * self.dt);
            let driven = self
                .obstacles
                .iter()
                .map(Obstacle::fastest)
                .fold(0.0, f64::max);
            let distances = (fastest * self.dt, driven * self.dt);
            self.contacts
                .advance(distances, &self.system, &self.obstacles);
        }
        Ok(())
    }

    fn not_finite(&self) -> SimulateError {
        let element = self
            .system
            .motion
            .iter()
            .position(|row| !row.0.iter().all(|value| value.to_f64().is_finite()));
        SimulateError::NotFinite {
            step: self.step,
            time: self.step as f64 * self.dt,
            element: element.unwrap_or(0) as u32,
        }
    }

    /// One force pass: bonds, contacts, attached forces.
    fn forces(&mut self, dt: L::Scalar) {
        let (system, surfaces, obstacles) = (&self.system, &self.surfaces, &self.obstacles);
        self.load
            .par_chunks_mut(CHUNK)
            .zip(self.contacts.chunks.par_iter_mut())
            .zip(self.chunk_breaks.par_iter_mut())
            .enumerate()
            .for_each(|(chunk, ((load, contacts), breaks))| {
                let first = chunk * CHUNK;
                L::run(BondPass {
                    first,
                    load: &mut *load,
                    motion: &system.motion,
                    tail: &system.tail,
                    slots: &system.slots,
                    classes: &system.classes,
                    breaks,
                });
                ContactPass {
                    system,
                    surfaces,
                    obstacles,
                    dt,
                    first,
                }
                .apply(contacts, load);
            });
        for attached in &self.forces {
            for &element in &attached.elements {
                for (k, f) in attached.force.to_array().into_iter().enumerate() {
                    let sum = &mut self.load[element as usize].0[k];
                    *sum = *sum + Scalar::from_f64(f);
                }
            }
        }
    }

    /// Takes broken bonds out and lets their ends touch.
    fn break_bonds(&mut self) {
        let mut events = Vec::new();
        for chunk in &mut self.chunk_breaks {
            events.append(chunk);
        }
        if events.is_empty() {
            return;
        }
        self.broken_since = true;
        events.sort_unstable_by_key(|event| (event.element, self.partner(event)));
        for event in events {
            let j = self.partner(&event);
            let bond = self
                .bond_ids
                .binary_search_by_key(&(event.element, j), |&(i, j, _)| (i, j))
                .map(|at| self.bond_ids[at].2)
                .expect("every slot was made from a bond");
            record::push_break(
                &mut self.breaks,
                &self.system,
                &event,
                bond,
                (self.step, self.step as f64 * self.dt),
            );
            self.unbond(&event, j);
        }
    }

    fn partner(&self, event: &BreakEvent) -> u32 {
        let at = self
            .system
            .slots
            .at(event.slot as usize, event.element as usize);
        self.system.slots.neighbour[at]
    }

    fn unbond(&mut self, event: &BreakEvent, j: u32) {
        let i = event.element;
        let distance = self
            .system
            .position(i as usize)
            .distance(self.system.position(j as usize));
        let radii = self.system.tail[i as usize].0[3] + self.system.tail[j as usize].0[3];
        // Otherwise the overlap stored in a compressed pair would explode.
        let touch = crate::math::Real::min(radii, Scalar::from_f64(distance));
        for (own, other) in [(i as usize, j), (j as usize, i)] {
            let slots = &mut self.system.slots;
            let slot = slots
                .find(own, other)
                .expect("a bond stands on both of its sides");
            slots.whole[own] &= !(1 << slot);
            let at = slots.at(slot, own);
            slots.length[at] = touch;
        }
        // Two held elements cannot answer a force: they are not listed.
        let moves = |k: u32| self.system.inverse_mass[k as usize].to_f64() > 0.0;
        if moves(i) || moves(j) {
            self.contacts.insert_broken(i, j, touch);
        }
    }

    /// Velocities brought to the end of the step.
    fn finish(&mut self) -> Result<(), SimulateError> {
        if self.half {
            self.motion(false)?;
        }
        Ok(())
    }
}

fn obstacles(colliders: &[Collider], t: f64) -> Vec<Obstacle> {
    colliders.iter().map(|c| obstacle(c, t)).collect()
}

impl<L: Lanes> Engine for Cpu<L> {
    fn advance(&mut self, steps: u64) -> Result<(), SimulateError> {
        for _ in 0..steps {
            self.motion(true)?;
            self.step += 1;
            self.forces(self.parameters.dt);
            self.break_bonds();
        }
        self.finish()
    }

    fn step(&self) -> u64 {
        self.step
    }

    fn snapshot(&mut self, frame: u32) -> Snapshot {
        if std::mem::take(&mut self.broken_since) {
            let components = fragments::components(&self.system);
            self.labels = fragments::relabel(&self.labels, &components);
        }
        let mut breaks = std::mem::take(&mut self.breaks);
        breaks.frame.fill(frame);
        record::snapshot(self, frame, self.step, self.dt, breaks)
    }

    fn state(&self, frame: u32) -> State {
        let slots = &self.system.slots;
        let mut touch = Vec::new();
        for i in 0..self.system.count {
            for slot in 0..slots.slots {
                let at = slots.at(slot, i);
                if slots.neighbour[at] as usize != i && !slots.is_whole(slot, i) {
                    touch.push(slots.length[at]);
                }
            }
        }
        State::pack(
            frame,
            (self.step, self.dt),
            &self.system.motion,
            &self.system.tail,
            &self.load,
            slots.whole.clone(),
            &touch,
            &self.contacts.springs(),
            self.labels.clone(),
        )
    }

    fn restore(&mut self, state: &State) -> Result<(), StateError> {
        state.unpack(
            &mut self.system.motion,
            &mut self.system.tail,
            &mut self.load,
        )?;
        state.check_length(
            "bond masks",
            state.whole.len(),
            self.system.slots.whole.len(),
        )?;
        state.check_length("labels", state.labels.len(), self.system.count)?;
        self.system.slots.whole.clone_from(&state.whole);
        let mut touch = state.scalars::<L::Scalar>(&state.touch)?.into_iter();
        for i in 0..self.system.count {
            for slot in 0..self.system.slots.slots {
                let slots = &mut self.system.slots;
                let at = slots.at(slot, i);
                if slots.neighbour[at] as usize != i && !slots.is_whole(slot, i) {
                    slots.length[at] = touch.next().ok_or_else(|| StateError::short("touch"))?;
                }
            }
        }
        self.labels.clone_from(&state.labels);
        (self.step, self.dt) = (state.step, state.dt);
        self.parameters.dt = Scalar::from_f64(state.dt);
        self.half = false;
        self.broken_since = false;
        self.breaks = Breaks::default();
        self.obstacles = obstacles(&self.colliders, self.step as f64 * self.dt);
        self.contacts = Contacts::new(&self.system, &self.obstacles);
        match self.contacts.restore_springs(&state.springs()?) {
            0 => Ok(()),
            lost => Err(StateError::LostContacts { lost }),
        }
    }
}
