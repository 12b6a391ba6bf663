//! Implicit steps on the CPU, in double precision (Lu 2025; Zhang 2024).
//!
//! A step is the minimum of an energy, found by Newton's method; a midpoint step is an implicit Euler step of half the length and as much again in a
//! straight line, so both have one solver. Where bonds break the step is done again in halves down to the shortest, and when they break in that
//! it is solved again without them until none does, so that neither strengths nor cracks depend on the length of steps. What follows from a state depends on it alone: lists, matrix and hierarchy are made anew where one is
//! written.

mod assemble;
mod baselines;
mod bonds;
mod line;
mod newton;
mod passing;
mod prepare;
mod refuse;
mod rub;
mod start;
mod touch;

pub use prepare::ENTRY;

use std::collections::VecDeque;
use std::marker::PhantomData;

use glam::DVec3;

use newton::{Newton, Scene, Solved};
use rub::Rubbing;
use start::{Pushes, Start, places};

use crate::columns::{Breaks, Convergence, Table};
use crate::laws::energy::EnergyLaw;
use crate::simulate::bonded::bond_tasks::BreakEvent;
use crate::simulate::bonded::breaks::Broken;
use crate::simulate::bonded::hydrostatic::Hydrostatic;
use crate::simulate::bonded::rest::Rest;
use crate::simulate::bonded::system::{Load, System};
use crate::simulate::bonded::{fragments, hydrostatic};
use crate::simulate::bonded_run::build::Built;
use crate::simulate::contact::lists::{COLLIDER, Contacts};
use crate::simulate::error::{SimulateError, StateError};
use crate::simulate::method::{Capture, Method, PassCost, Place};
use crate::simulate::run_state::averages::Tally;
use crate::simulate::run_state::snapshot as record;
use crate::simulate::run_state::snapshot::{Effort, Moment};
use crate::simulate::run_state::state::State;
use crate::simulate::scene::clamps::Hold;
use crate::simulate::scene::colliders::Obstacle;
use crate::simulate::scene::reaction_sums::ReactionSums;
use crate::simulate::scene::reactions::{Bearers, Stamp, Wrench};
use crate::simulate::scene::springs;
use crate::simulate::scene::springs::{Pull, Springs};
use crate::spec::{Integrator, Pipeline, Simulate};

/// Iterations after which a step that can be halved is: two halves take fewer than one step that does not get on.
const PATIENCE: u32 = 16;
/// Iterations up to which steps that were halved are tried twice as long.
const EASY: u32 = 3;

/// A run with bonds of law `W`.
pub struct Implicit<W> {
    system: System<f64>,
    load: Vec<Load<f64>>,
    contacts: Contacts<f64>,
    /// Force on each element that does not depend on where it is, gravity among it, N.
    outer: Vec<[f64; 3]>,
    springs: Springs,
    bearers: Bearers,
    sums: Vec<ReactionSums>,
    tally: Tally,
    newton: Newton,
    integrator: Integrator,
    simulate: Simulate,
    /// Times that a step may be halved.
    halvings: u32,
    drag: f64,
    dt: f64,
    step: u64,
    hydrostatic: Option<Hydrostatic>,
    breaks: Breaks,
    broken_since: bool,
    labels: Vec<u32>,
    rest: Rest,
    captures: VecDeque<Capture>,
    /// Whether nothing is left of earlier steps but the state.
    fresh: bool,
    /// Times that steps are halved now.
    halved: u32,
    /// Step that other methods solve too, counted from 1.
    compared: Option<u64>,
    /// What they did, until a frame takes it.
    convergence: Convergence,
    /// How velocities and spins change.
    pushes: Pushes,
    law: PhantomData<W>,
}

/// What is around the elements in a step.
struct Around {
    /// Colliders where it begins.
    before: Vec<Obstacle>,
    /// Colliders where it is solved.
    obstacles: Vec<Obstacle>,
    /// Springs there.
    pulls: Vec<Pull>,
}

impl Around {
    fn scene<'a>(&'a self, outer: &'a [[f64; 3]], bearers: &'a Bearers) -> Scene<'a> {
        Scene {
            obstacles: &self.obstacles,
            before: &self.before,
            pulls: &self.pulls,
            outer,
            bearers,
        }
    }
}

/// Whether a step stands.
enum Stepped {
    /// It does; whether nothing broke in it and it was found in few iterations, so that a longer one may be tried.
    Done { easy: bool },
    /// It is to be done again in halves.
    TooLong,
}

impl<W: EnergyLaw> Implicit<W> {
    /// A run at rest at time zero.
    /// `critical` is the critical step of explicit ones, s.
    pub fn new(built: Built<f64>, pipeline: &Pipeline, dt: f64, critical: f64) -> Self {
        let obstacles: Vec<Obstacle> = built
            .bearers
            .colliders()
            .iter()
            .map(|c| c.at(0.0))
            .collect();
        let contacts = Contacts::new(&built.system, &built.surfaces, &obstacles);
        let labels = fragments::first_labels(&fragments::components(&built.system));
        let (padded, chunk) = (built.system.motion.len(), built.system.chunk);
        let gravity = pipeline.world.gravity;
        let mut outer: Vec<[f64; 3]> = (0..built.system.count)
            .map(|i| match built.load[i].0[3] {
                0.0 => [0.0; 3],
                inverse => gravity.map(|g| g / inverse),
            })
            .collect();
        for attached in &built.forces {
            for &element in &attached.elements {
                for (sum, f) in outer[element as usize]
                    .iter_mut()
                    .zip(attached.force.to_array())
                {
                    *sum += f;
                }
            }
        }
        let settings = &pipeline.simulate.implicit;
        let integrator = pipeline.simulate.integrator;
        let linear = integrator == Integrator::LinearlyImplicit;
        Implicit {
            newton: Newton::new(&built.system, &pipeline.simulate, linear),
            contacts,
            outer,
            sums: ReactionSums::all(&built.bearers, padded, chunk),
            tally: Tally::new(built.bearers.count()),
            system: built.system,
            load: built.load,
            springs: built.springs,
            bearers: built.bearers,
            integrator,
            halvings: settings.halvings(dt / critical),
            simulate: pipeline.simulate.clone(),
            drag: pipeline.simulate.drag,
            dt,
            step: 0,
            hydrostatic: Hydrostatic::of(pipeline),
            breaks: Breaks::default(),
            broken_since: false,
            labels,
            rest: built.rest,
            captures: VecDeque::new(),
            fresh: true,
            halved: 0,
            compared: pipeline.output.convergence,
            convergence: Convergence::default(),
            pushes: Pushes::default(),
            law: PhantomData,
        }
    }

    /// The columns, for tests.
    pub fn system(&self) -> &System<f64> {
        &self.system
    }

    /// The columns to change before the first step.
    pub fn system_mut(&mut self) -> &mut System<f64> {
        &mut self.system
    }

    /// What Newton's method has done so far.
    pub fn effort(&self) -> Effort {
        self.newton.effort
    }

    /// Energy of all bonds, J.
    pub fn bond_energy(&self) -> f64 {
        bonds::energy::<W>(&self.system)
    }

    fn obstacles(&self, time: f64) -> Vec<Obstacle> {
        let colliders = self.bearers.colliders().iter();
        colliders.map(|collider| collider.at(time)).collect()
    }

    /// Brings held elements to where they are at a time; constant clamps drift on by `h`.
    fn hold(&mut self, start: &Start, time: f64, h: f64) -> Vec<Hold<f64>> {
        for held in self.bearers.held() {
            let i = held.element as usize;
            let drifted = start.position[i] + self.system.velocity(i) * h;
            self.system.set_position(i, drifted);
        }
        let clamps = self.bearers.clamps();
        let holds = clamps.holds(time);
        clamps.place(&holds, 0, &mut self.system.motion, &mut self.system.tail);
        holds
    }

    /// One step of length `h` that begins at time `from`; what bearers bear in it is added to `borne`, times `h`.
    fn advance_by(
        &mut self,
        (from, h): (f64, f64),
        last: bool,
        borne: &mut [Wrench],
    ) -> Result<Stepped, SimulateError> {
        let midpoint = self.integrator == Integrator::Midpoint;
        let solved_step = if midpoint { 0.5 * h } else { h };
        let start = Start::new(
            &self.system,
            &self.load,
            self.contacts.springs(),
            self.pushes.expected(),
            (solved_step, self.drag),
        );
        let time = from + solved_step;
        let holds = self.hold(&start, time, solved_step);
        let obstacles = self.obstacles(time);
        self.contacts.rebuild_walls(&self.system, &obstacles);
        let around = Around {
            before: self.obstacles(from),
            obstacles,
            pulls: self.springs.pulls(time),
        };
        if self.compared == Some(self.step + 1) && self.convergence.rows() == 0 {
            self.convergence = self.compare(&start, &around);
        }
        let most = self.simulate.implicit.iterations;
        let patience = if last { most } else { most.min(PATIENCE) };
        let (mut broke, mut easy) = (false, true);
        loop {
            let most = if broke { most } else { patience };
            let solved = self.solve(&start, &around, (broke, most));
            easy &= solved.iterations <= EASY;
            if !solved.converged {
                return match last {
                    false => Ok(self.again(&start)),
                    true if solved.passed => Err(self.passed(from + h)),
                    true if !solved.residual.is_finite() => Err(self.not_finite(&start, from + h)),
                    true => Err(SimulateError::NotConverged {
                        step: self.step,
                        time: from + h,
                        iterations: solved.iterations,
                        residual: solved.residual,
                        tolerance: self.simulate.implicit.tolerance,
                    }),
                };
            }
            let events = self.overloaded();
            if events.is_empty() {
                break;
            }
            // What breaks lets waves go that only short steps see.
            if !last && !broke {
                return Ok(self.again(&start));
            }
            broke = true;
            self.break_bonds(events, time);
        }
        let bore = borne.to_vec();
        self.bear(&start, &around, &holds, h, borne);
        let middle = places(&self.system);
        let push = start.finish(&mut self.system, midpoint);
        self.pushes.note(push);
        if midpoint {
            self.hold(&start, from + h, h);
            let walls = [&around.obstacles[..], &self.obstacles(from + h)];
            if !self.newton.is_free(&self.system, &middle, walls) {
                borne.copy_from_slice(&bore);
                return match last {
                    false => Ok(self.again(&start)),
                    true => Err(self.passed(from + h)),
                };
            }
        }
        self.newton.touch.remember(&mut self.contacts);
        let rubbing = Rubbing {
            start: &start,
            obstacles: &around.obstacles,
            holds: &holds,
            bearers: &self.bearers,
            h,
        };
        rubbing.rub(&self.newton.touch.touching, &mut self.system, borne);
        Ok(Stepped::Done {
            easy: easy && !broke,
        })
    }

    /// Bonds that break now: of those beyond their strength the worse half, by how far they are. The others may be relieved when these are gone, as
    /// they are where a crack runs: breaking all at once would crumble what it unloads.
    fn overloaded(&self) -> Vec<BreakEvent> {
        let (mut events, most) = bonds::broken::<W>(&self.system);
        let bonds = &self.system.bonds;
        events.retain(|event| {
            let entry = event.entry as usize;
            let used =
                (event.sigma / bonds.sigma_c.get(entry)).max(event.tau / bonds.tau_c.get(entry));
            used >= 1.0 + 0.5 * (most - 1.0)
        });
        if let Some(criterion) = &self.hydrostatic {
            let (_, virials) = bonds::carried::<W>(&self.system);
            criterion.look(&self.system, &self.rest.volume, 0, &virials, &mut events);
        }
        events
    }

    /// Brings elements to the end of the step, `again` from where they were brought already, in so many iterations at most.
    fn solve(&mut self, start: &Start, around: &Around, (again, most): (bool, u32)) -> Solved {
        let scene = around.scene(&self.outer, &self.bearers);
        self.newton.solve::<W>(
            &mut self.system,
            &mut self.contacts,
            start,
            &scene,
            (again, most),
        )
    }

    /// Lets other methods solve what [`solve`](Self::solve) is about to.
    fn compare(&self, start: &Start, around: &Around) -> Convergence {
        let scene = around.scene(&self.outer, &self.bearers);
        let at = (&self.system, &self.contacts);
        baselines::compare::<W>(at, (start, &scene), &self.simulate, self.step + 1)
    }

    fn again(&mut self, start: &Start) -> Stepped {
        start.undo(&mut self.system);
        if self.contacts.follow(&self.system, &[]) {
            self.contacts.restore_springs(&start.springs);
        }
        Stepped::TooLong
    }

    fn passed(&self, time: f64) -> SimulateError {
        SimulateError::Passed {
            step: self.step,
            time,
        }
    }

    fn not_finite(&self, start: &Start, time: f64) -> SimulateError {
        let finite = |i: &usize| {
            let (p, q) = (self.system.position(*i), self.system.quaternion(*i));
            p.is_finite() && q.dot(q).is_finite()
        };
        let element = (0..start.position.len()).find(|i| !finite(i)).unwrap_or(0);
        SimulateError::NotFinite {
            step: self.step,
            time,
            element: element as u32,
        }
    }

    /// Notes loads as they stand, and what bearers bear.
    fn bear(
        &mut self,
        start: &Start,
        around: &Around,
        holds: &[Hold<f64>],
        h: f64,
        borne: &mut [Wrench],
    ) {
        let scene = around.scene(&self.outer, &self.bearers);
        self.newton.loads::<W>(&self.system, start, &scene);
        for (row, load) in self.load.iter_mut().zip(&self.newton.load) {
            let [fx, fy, fz, mx, my, mz] = *load;
            row.0[..3].copy_from_slice(&[fx, fy, fz]);
            row.0[4..7].copy_from_slice(&[mx, my, mz]);
        }
        let chunk = self.system.chunk;
        for pair in &self.newton.touch.touching {
            if pair.j >= COLLIDER {
                let (i, wall) = (pair.i as usize, pair.j - COLLIDER);
                let [fx, fy, fz, mx, my, mz] = pair.load(false);
                let arm = self.system.position(i) - around.obstacles[wall as usize].pose.position;
                let (force, torque) = (DVec3::new(-fx, -fy, -fz), DVec3::new(-mx, -my, -mz));
                self.sums[i / chunk].add(i % chunk, wall, Wrench::at(arm, force, torque));
            }
        }
        for (k, sums) in self.sums.iter_mut().enumerate() {
            let first = k * chunk;
            let end = (first + chunk).min(self.load.len());
            sums.add_held(first, &self.load[first..end], holds);
        }
        let springs = springs::borne(&around.pulls, &self.bearers, &self.system);
        self.sums[0].add_springs(springs);
        let now = ReactionSums::take(&self.bearers, &mut self.sums);
        for (sum, now) in borne.iter_mut().zip(now) {
            *sum += now * h;
        }
    }

    /// Takes broken bonds out and lets their ends touch.
    fn break_bonds(&mut self, mut events: Vec<BreakEvent>, time: f64) {
        if events.is_empty() {
            return;
        }
        self.broken_since = true;
        hydrostatic::settle(&mut events);
        for event in events {
            Broken::now(&self.system, event, (self.step + 1, time)).push(&mut self.breaks);
            let touch = self.system.touch_once_broken(event.i, event.j);
            self.system.bonds.unbond(event.entry as usize, touch);
            let moves = |k: u32| self.system.inverse_mass[k as usize] > 0.0;
            if moves(event.i) || moves(event.j) {
                self.contacts
                    .insert_broken(&self.system, event.i, event.j, touch);
            }
        }
    }

    /// One step, in halves and halves of halves where it must be; `halved` so often is where it begins and ends.
    fn whole_step(&mut self, halved: &mut u32) -> Result<Vec<Wrench>, SimulateError> {
        let most = self.halvings;
        let all = 1u64 << most;
        let begin = self.step as f64 * self.dt;
        let mut borne = vec![Wrench::default(); self.bearers.count()];
        let mut done = 0;
        while done < all {
            // Parts begin at multiples of their length.
            let part = (all >> *halved).min(if done == 0 {
                all
            } else {
                1 << done.trailing_zeros()
            });
            let h = self.dt * part as f64 / all as f64;
            let from = begin + self.dt * done as f64 / all as f64;
            match self.advance_by((from, h), part == 1, &mut borne)? {
                Stepped::TooLong => *halved = most - part.trailing_zeros() + 1,
                Stepped::Done { easy } => {
                    done += part;
                    if easy {
                        *halved = halved.saturating_sub(1);
                    }
                }
            }
        }
        self.step += 1;
        Ok(borne)
    }

    /// The state; a run that goes on and one that begins with it do so alike.
    fn pack(&mut self, frame: u32) -> State {
        self.fresh = true;
        let mut state = State::pack(
            frame,
            (self.step, self.dt),
            &self.system,
            &self.load,
            &self.contacts.springs(),
            &self.labels,
            self.tally.pack(&self.bearers),
        );
        state.effort = Some(self.newton.effort);
        state
    }
}

impl<W: EnergyLaw> Method for Implicit<W> {
    fn advance(&mut self, steps: u64) -> Result<(), SimulateError> {
        if steps == 0 {
            return Ok(());
        }
        if std::mem::take(&mut self.fresh) {
            let obstacles = self.obstacles(self.step as f64 * self.dt);
            self.contacts.rebuild(&self.system, &obstacles);
            self.newton.forget();
            self.halved = 0;
            self.pushes = Pushes::default();
        }
        let mut halved = self.halved;
        let mut sum = vec![Wrench::default(); self.bearers.count()];
        let mut now = sum.clone();
        for _ in 0..steps {
            now = self.whole_step(&mut halved)?;
            for (sum, now) in sum.iter_mut().zip(&mut now) {
                *now = *now * (1.0 / self.dt);
                *sum += *now;
            }
        }
        self.halved = halved;
        self.tally.add_sum(steps, &sum, now);
        Ok(())
    }

    fn step(&self) -> u64 {
        self.step
    }

    fn place(&self) -> Place {
        Place {
            name: format!("CPU, {} threads, implicit", rayon::current_num_threads()),
            device_bytes: None,
        }
    }

    fn costs(&self) -> Vec<PassCost> {
        self.newton.costs()
    }

    fn capture(&mut self, frame: u32, state: bool) -> Result<(), SimulateError> {
        if std::mem::take(&mut self.broken_since) {
            fragments::update(&mut self.labels, &self.system);
        }
        let breaks = std::mem::take(&mut self.breaks);
        let time = self.step as f64 * self.dt;
        // Springs as they are remembered: no time goes on.
        let start = Start::new(
            &self.system,
            &self.load,
            Vec::new(),
            Vec::new(),
            (self.dt, 0.0),
        );
        self.newton.touch.collect(&self.contacts, &self.system);
        self.newton
            .touch
            .evaluate(&self.system, &self.obstacles(time), &start);
        let (contact, touching) = self.newton.touch.totals(self.bearers.colliders().len());
        let mean = self.tally.take();
        let stamp = Stamp {
            frame,
            step: self.step,
            dt: self.dt,
        };
        let loads = self.bearers.table(stamp, mean, &touching, &self.system);
        let (carried, _) = bonds::carried::<W>(&self.system);
        let moment = Moment {
            step: self.step,
            dt: self.dt,
            system: &self.system,
            labels: &self.labels,
            rest: &self.rest,
            carried: &carried,
            contact,
            work: None,
            effort: Some(self.newton.effort),
        };
        let mut snapshot = record::snapshot(&moment, frame, breaks, loads);
        snapshot.convergence = std::mem::take(&mut self.convergence);
        snapshot.convergence.frame.fill(frame);
        snapshot.convergence.time.fill(time);
        let state = state.then(|| self.pack(frame));
        self.captures.push_back(Capture { snapshot, state });
        Ok(())
    }

    fn deliver(&mut self) -> Result<Capture, SimulateError> {
        Ok(self.captures.pop_front().expect("a capture is outstanding"))
    }

    fn restore(&mut self, state: &State) -> Result<(), StateError> {
        state.unpack(&mut self.system, &mut self.load, &mut self.labels)?;
        (self.step, self.dt) = (state.step, state.dt);
        self.broken_since = false;
        self.breaks = Breaks::default();
        self.convergence = Convergence::default();
        self.captures.clear();
        self.fresh = true;
        self.tally.unpack(&self.bearers, &state.borne);
        self.newton.effort = state.effort.unwrap_or_default();
        let obstacles = self.obstacles(self.step as f64 * self.dt);
        self.contacts = self.contacts.anew(&self.system, &obstacles);
        match self.contacts.restore_springs(&state.springs()?) {
            0 => Ok(()),
            lost => Err(StateError::LostContacts { lost }),
        }
    }
}
