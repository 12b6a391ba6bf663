//! Explicit bonded DEM on the CPU: the step loop over lanes of any type, threads over chunks of elements.

mod costs;

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Instant;

use glam::DVec3;
use rayon::prelude::*;

use crate::columns::Breaks;
use crate::math::lanes::Row;
use crate::math::{Lanes, Scalar, Vec3};
use crate::simulate::bonded::bond_pass::{BondPass, Border, Task, with_law};
use crate::simulate::bonded::bond_tasks::{BreakEvent, Carried, Carry, Loads};
use crate::simulate::bonded::breaks::Broken;
use crate::simulate::bonded::hydrostatic::Hydrostatic;
use crate::simulate::bonded::motion_pass::{AdvancePass, StepParameters};
use crate::simulate::bonded::rest::Rest;
use crate::simulate::bonded::system::{Load, System};
use crate::simulate::bonded::work::{Taken, Work};
use crate::simulate::bonded::{fragments, hydrostatic, work};
use crate::simulate::bonded_run::build::Built;
use crate::simulate::contact::lists::Contacts;
use crate::simulate::contact::pass::{ContactPass, ContactTotals, MeasurePass};
use crate::simulate::contact::wall_list::Walls;
use crate::simulate::error::{SimulateError, StateError};
use crate::simulate::method::{Capture, Method, PassCost, Place};
use crate::simulate::methods::explicit::cpu::costs::Costs;
use crate::simulate::run_state::averages::Tally;
use crate::simulate::run_state::snapshot as record;
use crate::simulate::run_state::snapshot::Moment;
use crate::simulate::run_state::state::State;
use crate::simulate::scene::attachments::AttachedForce;
use crate::simulate::scene::clamps::Hold;
use crate::simulate::scene::colliders::{Barrier, Obstacle};
use crate::simulate::scene::reaction_sums::ReactionSums;
use crate::simulate::scene::reactions::{Bearers, Stamp};
use crate::simulate::scene::rigid::RigidBodies;
use crate::simulate::scene::springs;
use crate::simulate::scene::springs::Springs;
use crate::spec::Pipeline;

/// A run on the CPU with lanes of type `L`.
pub struct Cpu<L: Lanes> {
    system: System<L::Scalar>,
    load: Vec<Load<L::Scalar>>,
    borders: Vec<Border<L::Scalar>>,
    /// Room for what a chunk's bonds hand over, one a thread.
    rooms: Vec<Mutex<Handed<L::Scalar>>>,
    contacts: Contacts<L::Scalar>,
    forces: Vec<AttachedForce>,
    springs: Springs,
    bearers: Bearers,
    /// What bearers bear, by chunk.
    sums: Vec<ReactionSums>,
    tally: Tally,
    obstacles: Vec<Obstacle>,
    /// Driven clamps where they are.
    holds: Vec<Hold<L::Scalar>>,
    rigid: RigidBodies,
    parameters: StepParameters<L::Scalar>,
    dt: f64,
    step: u64,
    /// Velocities are at the middle of the last step: its second kick is due.
    half: bool,
    /// Whether any bond has damping.
    damped: bool,
    chunk_breaks: Vec<Vec<BreakEvent>>,
    /// Mean stresses, where they break anything.
    hydrostatic: Option<Hydrostatic>,
    /// What mean stresses follow from, by chunk; empty where they break nothing.
    virials: Vec<Vec<L::Scalar>>,
    /// What damping, friction and breaking took until the last frame, where that is accounted for.
    work: Option<Work>,
    /// What damping and friction took since, by chunk and element; empty where that is not accounted for.
    taken: Vec<Vec<Taken>>,
    breaks: Breaks,
    broken_since: bool,
    labels: Vec<u32>,
    rest: Rest,
    captures: VecDeque<Capture>,
    costs: Costs,
}

type Handed<S> = Vec<Row<S, 8>>;

impl<L: Lanes> Cpu<L> {
    /// A run at rest at time zero.
    pub fn new(built: Built<L::Scalar>, pipeline: &Pipeline, dt: f64) -> Self {
        let obstacles = obstacles(built.bearers.colliders(), 0.0);
        let contacts = Contacts::new(&built.system, &built.surfaces, &obstacles);
        let labels = fragments::first_labels(&fragments::components(&built.system));
        let (padded, chunk) = (built.system.motion.len(), built.system.chunk);
        let sums = ReactionSums::all(&built.bearers, padded, chunk);
        let damped = built
            .system
            .classes
            .iter()
            .any(|class| [class.damping, class.spin_damping] != [Scalar::from_f64(0.0); 2]);
        let rooms = rayon::current_num_threads() + 1;
        let hydrostatic = Hydrostatic::of(pipeline);
        let virial = if hydrostatic.is_some() { chunk } else { 0 };
        let work = pipeline.output.work.then(Work::default);
        let taken = if work.is_some() { chunk } else { 0 };
        let mut cpu = Cpu {
            hydrostatic,
            virials: vec![vec![Scalar::from_f64(0.0); virial]; padded.div_ceil(chunk)],
            work,
            taken: vec![vec![Taken::default(); taken]; padded.div_ceil(chunk)],
            borders: Border::all(&built.system),
            rooms: (0..rooms).map(|_| Mutex::default()).collect(),
            damped,
            system: built.system,
            load: built.load,
            contacts,
            forces: built.forces,
            springs: built.springs,
            sums,
            tally: Tally::new(built.bearers.count()),
            holds: built.bearers.clamps().holds(0.0),
            bearers: built.bearers,
            rigid: built.rigid,
            obstacles,
            parameters: StepParameters {
                dt: Scalar::from_f64(dt),
                gravity: Vec3::from_f64(pipeline.world.gravity),
                drag: Scalar::from_f64(pipeline.simulate.drag),
            },
            dt,
            step: 0,
            half: false,
            chunk_breaks: vec![Vec::new(); padded.div_ceil(chunk)],
            breaks: Breaks::default(),
            broken_since: false,
            labels,
            rest: built.rest,
            captures: VecDeque::new(),
            costs: Costs::default(),
        };
        cpu.start();
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
        self.start();
    }

    /// The loads that the first kick needs; nothing slides or breaks before time runs.
    fn start(&mut self) {
        self.forces(L::Scalar::default());
        self.chunk_breaks.iter_mut().for_each(Vec::clear);
        let now = ReactionSums::take(&self.bearers, &mut self.sums);
        self.tally.start(now);
    }

    /// Ends a step's second kick if it is due (`close`), starts the next (`open`).
    fn motion(&mut self, open: bool) -> Result<(), SimulateError> {
        let clock = Instant::now();
        let (step, close, chunk) = (self.parameters, self.half, self.system.chunk);
        // Where driven clamps have their elements after the step.
        let clamps = self.bearers.clamps();
        let next = match open {
            true => clamps.holds((self.step + 1) as f64 * self.dt),
            false => Vec::new(),
        };
        let rigid_before: Vec<Hold<L::Scalar>> = self.rigid.holds();
        self.rigid.advance(&step, (close, open), &self.load);
        let (rigid, rigid_next) = (&self.rigid, self.rigid.holds());
        let speeds: Vec<_> = self
            .system
            .motion
            .par_chunks_mut(chunk)
            .zip(self.system.tail.par_chunks_mut(chunk))
            .zip(self.load.par_chunks(chunk))
            .enumerate()
            .map(|(at, ((motion, tail), load))| {
                let speeds = L::run(AdvancePass {
                    step,
                    close,
                    open,
                    motion: &mut *motion,
                    tail: &mut *tail,
                    load,
                });
                if open {
                    clamps.place(&next, at * chunk, motion, tail);
                }
                rigid.place(&rigid_next, at * chunk, motion, tail);
                speeds
            })
            .collect();
        self.half = open;
        self.costs.motion.add(clock, rayon::current_num_threads());
        if speeds.iter().any(|s| !s.probe.is_finite()) {
            return Err(self.not_finite());
        }
        if open {
            let fastest = speeds
                .iter()
                .map(|s| s.largest_squared)
                .fold(0.0, f64::max)
                .sqrt();
            let now = obstacles(self.bearers.colliders(), (self.step + 1) as f64 * self.dt);
            let before = std::mem::replace(&mut self.obstacles, now);
            // A key frame within the step may change the speed.
            let driven = self
                .obstacles
                .iter()
                .chain(&before)
                .map(Obstacle::fastest)
                .fold(0.0, f64::max);
            let clamped = self.bearers.clamps().travel(&self.holds, &next);
            let carried = clamped.max(self.rigid.travel(&rigid_before, &rigid_next));
            self.holds = next;
            let distances = ((fastest * self.dt).max(carried), driven * self.dt);
            let clock = Instant::now();
            self.contacts
                .advance(distances, &self.system, &self.obstacles);
            self.costs.lists.add(clock, rayon::current_num_threads());
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

    /// One force pass: bonds, contacts, springs, attached forces.
    fn forces(&mut self, dt: L::Scalar) {
        let system = &self.system;
        let walls = Walls {
            system,
            obstacles: &self.obstacles,
            dt,
            neared: self.contacts.neared(),
        };
        let closed = self.contacts.closed();
        let (rooms, costs, damped) = (&self.rooms, &self.costs, self.damped);
        let (holds, hydrostatic, rest) = (&self.holds, &self.hydrostatic, &self.rest);
        let work = self.work.is_some();
        self.load
            .par_chunks_mut(system.chunk)
            .zip(self.contacts.chunks.par_iter_mut())
            .zip(self.chunk_breaks.par_iter_mut())
            .zip(self.sums.par_iter_mut())
            .zip(self.virials.par_iter_mut())
            .zip(self.taken.par_iter_mut())
            .zip(&self.borders)
            .enumerate()
            .for_each(
                |(chunk, ((((((load, contacts), breaks), sums), virial), taken), border))| {
                    let first = chunk * system.chunk;
                    let clock = Instant::now();
                    let place = (first, &rooms[..]);
                    macro_rules! bonds {
                        ($virial:literal, $work:literal) => {{
                            let task = Loads::<_, $virial, $work> {
                                load: &mut *load,
                                damped,
                                breaks: &mut *breaks,
                                virial: &mut *virial,
                                taken: &mut *taken,
                                dt: dt.to_f64(),
                            };
                            bond_pass::<L, _>(system, border, place, task)
                        }};
                    }
                    match (hydrostatic.is_some(), work) {
                        (false, false) => bonds!(false, false),
                        (false, true) => bonds!(false, true),
                        (true, false) => bonds!(true, false),
                        (true, true) => bonds!(true, true),
                    }
                    if let Some(criterion) = hydrostatic {
                        criterion.look(system, &rest.volume, first, virial, breaks);
                    }
                    let clock = costs.bonds.add(clock, 1);
                    macro_rules! contacts {
                        ($work:literal) => {
                            L::run(ContactPass::<L, $work> {
                                walls,
                                closed,
                                first,
                                contacts,
                                load: &mut *load,
                                sums: &mut *sums,
                                taken: &mut *taken,
                            })
                        };
                    }
                    match (contacts.is_empty(), work) {
                        (true, _) => {}
                        (false, false) => contacts!(false),
                        (false, true) => contacts!(true),
                    }
                    sums.add_held(first, load, holds);
                    costs.contacts.add(clock, 1);
                },
            );
        for (element, force) in self.bearers.pressures(&self.system) {
            add_force(&mut self.load[element as usize], force);
        }
        let pulls = self.springs.pulls(self.step as f64 * self.dt);
        for pull in &pulls {
            add_force(
                &mut self.load[pull.element as usize],
                pull.force(&self.system),
            );
        }
        self.sums[0].add_springs(springs::borne(&pulls, &self.bearers, &self.system));
        for attached in &self.forces {
            for &element in &attached.elements {
                add_force(&mut self.load[element as usize], attached.force);
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
        let clock = Instant::now();
        hydrostatic::settle(&mut events);
        let now = (self.step, self.step as f64 * self.dt);
        for event in events {
            if let Some(work) = &mut self.work {
                work.breaking += self.system.bond_energy(event.entry as usize);
            }
            let broken = Broken::now(&self.system, event, now);
            broken.push(&mut self.breaks);
            let (i, j) = (event.i, event.j);
            let touch = self.system.touch_once_broken(i, j);
            self.system.bonds.unbond(event.entry as usize, touch);
            let other = self.system.bonds.other[event.entry as usize];
            self.borders[other as usize / self.system.chunk].unbond(event.entry);
            // Two held elements cannot answer a force: they are not listed.
            let moves = |k: u32| self.system.inverse_mass[k as usize].to_f64() > 0.0;
            if moves(i) || moves(j) {
                self.contacts.insert_broken(&self.system, i, j, touch);
            }
        }
        self.costs.breaks.add(clock, 1);
    }

    /// What the bonds of every element carry, from where the elements are.
    fn carried(&self) -> Vec<Carried> {
        let system = &self.system;
        let mut carried = vec![Carried::default(); system.count];
        carried
            .par_chunks_mut(system.chunk)
            .zip(&self.borders)
            .enumerate()
            .for_each(|(chunk, (carried, border))| {
                let place = (chunk * system.chunk, &self.rooms[..]);
                bond_pass::<L, _>(system, border, place, Carry { carried });
            });
        carried
    }

    /// What contacts add up to, and how many elements touch each collider.
    fn contact_totals(&self) -> (ContactTotals, Vec<u32>) {
        let walls = Walls {
            system: &self.system,
            obstacles: &self.obstacles,
            dt: Scalar::from_f64(0.0),
            neared: self.contacts.neared(),
        };
        let chunk = self.system.chunk;
        let mut energy = vec![0.0; self.system.motion.len()];
        let none = || (0, vec![0; self.obstacles.len()]);
        let (sides, touching) = energy
            .par_chunks_mut(chunk)
            .zip(&self.contacts.chunks)
            .enumerate()
            .fold(none, |(sides, mut touching), (k, (energy, contacts))| {
                let found = L::run(MeasurePass {
                    walls,
                    first: k * chunk,
                    energy,
                    touching: &mut touching,
                    contacts,
                });
                (sides + found, touching)
            })
            .reduce(none, |(a, mut touching), (b, more)| {
                for (all, more) in touching.iter_mut().zip(more) {
                    *all += more;
                }
                (a + b, touching)
            });
        let totals = ContactTotals {
            energy: energy.iter().sum(),
            sides,
        };
        (totals, touching)
    }

    /// Everything needed to go on from here, with velocities at the end of a step.
    fn pack(&mut self, frame: u32) -> State {
        let mut state = State::pack(
            frame,
            (self.step, self.dt),
            &self.system,
            &self.load,
            &self.contacts.springs(),
            &self.labels,
            self.tally.pack(&self.bearers),
        );
        state.rigid = self.rigid.pack();
        state.work = self.work_done();
        state
    }

    /// What was taken since the start.
    fn work_done(&mut self) -> Option<Work> {
        let total = self.work.as_mut()?;
        work::take(&mut self.taken, total);
        self.work
    }

    /// Velocities brought to the end of the step.
    fn finish(&mut self) -> Result<(), SimulateError> {
        if self.half {
            self.motion(false)?;
        }
        Ok(())
    }
}

fn add_force<S: Scalar>(load: &mut Load<S>, force: DVec3) {
    for (sum, f) in load.0.iter_mut().zip(force.to_array()) {
        *sum = *sum + S::from_f64(f);
    }
}

/// A pass over the bonds of the chunk that begins with `first`.
fn bond_pass<L: Lanes, T: Task<L>>(
    system: &System<L::Scalar>,
    border: &Border<L::Scalar>,
    (first, rooms): (usize, &[Mutex<Handed<L::Scalar>>]),
    task: T,
) {
    let thread = rayon::current_thread_index().map_or(0, |k| k + 1);
    let mut handed = rooms[thread % rooms.len()]
        .lock()
        .expect("no pass panics holding it");
    with_law!(system.law, law => {
        L::run(BondPass {
            law,
            system,
            border,
            first,
            count: system.chunk.min(system.motion.len() - first),
            handed: &mut handed,
            task,
        });
    });
}

fn obstacles(colliders: &[Barrier], t: f64) -> Vec<Obstacle> {
    colliders.iter().map(|c| c.at(t)).collect()
}

impl<L: Lanes> Method for Cpu<L> {
    fn advance(&mut self, steps: u64) -> Result<(), SimulateError> {
        let mut before = Vec::new();
        for left in (0..steps).rev() {
            self.motion(true)?;
            self.step += 1;
            if left == 0 {
                before = ReactionSums::take(&self.bearers, &mut self.sums);
            }
            self.forces(self.parameters.dt);
            self.break_bonds();
        }
        if steps > 0 {
            let now = ReactionSums::take(&self.bearers, &mut self.sums);
            self.tally.add(steps, &before, now);
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

    fn costs(&self) -> Vec<PassCost> {
        let (elements, scalar) = (
            self.system.motion.len() as u64,
            size_of::<L::Scalar>() as u64,
        );
        let (motion, load) = (20 * scalar * elements, 8 * scalar * elements);
        let borders: u64 = self.borders.iter().map(Border::bytes).sum();
        // Motion is read and written, loads read; bonds read motion and write loads, of which they read what does not change.
        let bytes = [
            2 * motion + load,
            self.system.bonds.bytes() + borders + motion + 2 * load,
            self.contacts.bytes(),
            0,
            0,
        ];
        self.costs.passes(bytes)
    }

    fn step(&self) -> u64 {
        self.step
    }

    fn capture(&mut self, frame: u32, state: bool) -> Result<(), SimulateError> {
        if std::mem::take(&mut self.broken_since) {
            fragments::update(&mut self.labels, &self.system);
        }
        let breaks = std::mem::take(&mut self.breaks);
        let (contact, touching) = self.contact_totals();
        let work = self.work_done();
        let mean = self.tally.take();
        let stamp = Stamp {
            frame,
            step: self.step,
            dt: self.dt,
        };
        let loads = self.bearers.table(stamp, mean, &touching, &self.system);
        // What the bonds carry is gone from memory before a state comes into it.
        let snapshot = {
            let moment = Moment {
                step: self.step,
                dt: self.dt,
                system: &self.system,
                labels: &self.labels,
                rest: &self.rest,
                carried: &self.carried(),
                contact,
                work,
                effort: None,
            };
            record::snapshot(&moment, frame, breaks, loads)
        };
        let state = state.then(|| self.pack(frame));
        self.captures.push_back(Capture { snapshot, state });
        Ok(())
    }

    fn state_apart(&mut self, frame: u32) -> Option<State> {
        Some(self.pack(frame))
    }

    fn has_state_apart(&self) -> bool {
        true
    }

    fn deliver(&mut self) -> Result<Capture, SimulateError> {
        Ok(self.captures.pop_front().expect("a capture is outstanding"))
    }

    fn restore(&mut self, state: &State) -> Result<(), StateError> {
        state.unpack(&mut self.system, &mut self.load, &mut self.labels)?;
        (self.step, self.dt) = (state.step, state.dt);
        self.parameters.dt = Scalar::from_f64(state.dt);
        self.borders = Border::all(&self.system);
        self.half = false;
        self.broken_since = false;
        self.breaks = Breaks::default();
        self.captures.clear();
        self.tally.unpack(&self.bearers, &state.borne);
        self.rigid.unpack(&state.rigid)?;
        // Where what came before was not accounted for, nothing can be told from the start on.
        self.work = self.work.and(state.work);
        let time = self.step as f64 * self.dt;
        self.obstacles = obstacles(self.bearers.colliders(), time);
        self.holds = self.bearers.clamps().holds(time);
        self.contacts = self.contacts.anew(&self.system, &self.obstacles);
        match self.contacts.restore_springs(&state.springs()?) {
            0 => Ok(()),
            lost => Err(StateError::LostContacts { lost }),
        }
    }
}
