//! Explicit bonded DEM on the CPU: the step loop over lanes of any type, threads over chunks of elements.

use std::collections::VecDeque;

use rayon::prelude::*;

use super::SimulateError;
use super::breaks::{BondIds, Broken};
use super::build::{AttachedForce, Built};
use super::colliders::obstacle;
use super::contact_pass::{ContactPass, ContactTotals, Obstacle, Surface};
use super::contacts::Contacts;
use super::engine::{Capture, Engine, Place};
use super::fragments;
use super::passes::{AdvancePass, BondPass, BreakEvent, StepParameters};
use super::record::{self, Moment, Rest};
use super::state::{State, StateError};
use super::system::{CHUNK, Load, System};
use crate::columns::Breaks;
use crate::math::{Lanes, Scalar, Vec3};
use crate::spec::{Collider, Pipeline};
use crate::store::Packing;

/// A run on the CPU with lanes of type `L`.
pub struct Cpu<L: Lanes> {
    system: System<L::Scalar>,
    load: Vec<Load<L::Scalar>>,
    contacts: Contacts<L::Scalar>,
    surfaces: Vec<Surface>,
    forces: Vec<AttachedForce>,
    colliders: Vec<Collider>,
    obstacles: Vec<Obstacle>,
    parameters: StepParameters<L::Scalar>,
    dt: f64,
    step: u64,
    /// Velocities are at the middle of the last step: its second kick is due.
    half: bool,
    chunk_breaks: Vec<Vec<BreakEvent>>,
    breaks: Breaks,
    broken_since: bool,
    labels: Vec<u32>,
    rest: Rest,
    bond_ids: BondIds,
    captures: VecDeque<Capture>,
}

impl<L: Lanes> Cpu<L> {
    /// A run at rest at time zero.
    pub fn new(built: Built<L::Scalar>, packing: &Packing, pipeline: &Pipeline, dt: f64) -> Self {
        let obstacles = obstacles(&pipeline.colliders, 0.0);
        let contacts = Contacts::new(&built.system, &obstacles);
        let labels = fragments::first_labels(&fragments::components(&built.system));
        let rest = Rest::new(packing, pipeline, &built.load);
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
            dt,
            step: 0,
            half: false,
            chunk_breaks: vec![Vec::new(); chunks],
            breaks: Breaks::default(),
            broken_since: false,
            labels,
            rest,
            bond_ids: BondIds::new(&packing.bonds),
            captures: VecDeque::new(),
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
        let partner = |event: &BreakEvent| self.system.slots.partner(event.element, event.slot);
        events.sort_unstable_by_key(|event| (event.element, partner(event)));
        let now = (self.step, self.step as f64 * self.dt);
        for event in events {
            let broken = Broken::now(&self.system, &self.bond_ids, event, now);
            broken.push(&mut self.breaks);
            let (i, j) = (broken.i, broken.j);
            let touch = self.system.touch_once_broken(i, j);
            self.system.unbond(i, event.slot, touch);
            // Two held elements cannot answer a force: they are not listed.
            let moves = |k: u32| self.system.inverse_mass[k as usize].to_f64() > 0.0;
            if moves(i) || moves(j) {
                self.contacts.insert_broken(i, j, touch);
            }
        }
    }

    fn contact_totals(&self) -> ContactTotals {
        let chunks = self.contacts.chunks.iter().enumerate();
        chunks
            .map(|(chunk, contacts)| {
                ContactPass {
                    system: &self.system,
                    surfaces: &self.surfaces,
                    obstacles: &self.obstacles,
                    dt: self.parameters.dt,
                    first: chunk * CHUNK,
                }
                .measure(contacts)
            })
            .sum()
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

    fn place(&self) -> Place {
        Place {
            name: format!(
                "CPU, {} threads, {} lanes of {} bytes",
                rayon::current_num_threads(),
                L::WIDTH,
                size_of::<L::Scalar>()
            ),
            device_bytes: None,
        }
    }

    fn step(&self) -> u64 {
        self.step
    }

    fn capture(&mut self, frame: u32, state: bool) -> Result<(), SimulateError> {
        if std::mem::take(&mut self.broken_since) {
            fragments::update(&mut self.labels, &self.system);
        }
        let moment = Moment {
            step: self.step,
            dt: self.dt,
            system: &self.system,
            labels: &self.labels,
            rest: &self.rest,
            carried: &record::carried(&self.system),
            contact: self.contact_totals(),
        };
        let snapshot = record::snapshot(&moment, frame, std::mem::take(&mut self.breaks));
        let state = state.then(|| {
            State::pack(
                frame,
                (self.step, self.dt),
                &self.system,
                &self.load,
                &self.contacts.springs(),
                &self.labels,
            )
        });
        self.captures.push_back(Capture { snapshot, state });
        Ok(())
    }

    fn deliver(&mut self) -> Result<Capture, SimulateError> {
        Ok(self.captures.pop_front().expect("a capture is outstanding"))
    }

    fn restore(&mut self, state: &State) -> Result<(), StateError> {
        state.unpack(&mut self.system, &mut self.load, &mut self.labels)?;
        (self.step, self.dt) = (state.step, state.dt);
        self.parameters.dt = Scalar::from_f64(state.dt);
        self.half = false;
        self.broken_since = false;
        self.breaks = Breaks::default();
        self.captures.clear();
        self.obstacles = obstacles(&self.colliders, self.step as f64 * self.dt);
        self.contacts = Contacts::new(&self.system, &self.obstacles);
        match self.contacts.restore_springs(&state.springs()?) {
            0 => Ok(()),
            lost => Err(StateError::LostContacts { lost }),
        }
    }
}
