//! One implicit step: solved, and done again in halves where it must be.

use super::{Implicit, baselines, bonds};

use glam::DVec3;

use super::newton::{Scene, Solved};
use super::rub::Rubbing;
use super::start::{Start, places};

use crate::columns::{Convergence, Table};
use crate::laws::energy::EnergyLaw;
use crate::simulate::bonded::bond_tasks::BreakEvent;
use crate::simulate::bonded::system::System;
use crate::simulate::contact::chunk::COLLIDER;
use crate::simulate::error::SimulateError;
use crate::simulate::scene::clamps::Hold;
use crate::simulate::scene::colliders::Obstacle;
use crate::simulate::scene::reaction_sums::ReactionSums;
use crate::simulate::scene::reactions::{Bearers, Wrench};
use crate::simulate::scene::springs;
use crate::simulate::scene::springs::Pull;

/// Iterations after which a step that can be halved is: two halves take fewer than one step that does not get on.
const PATIENCE: u32 = 16;
/// Iterations up to which steps that were halved are tried twice as long.
const EASY: u32 = 3;

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
    /// Brings held elements to where they are at a time; constant clamps drift on by `h`.
    fn hold(&mut self, start: &Start, time: f64, h: f64) -> Vec<Hold<f64>> {
        for held in self.run.bearers.held() {
            let i = held.element as usize;
            let drifted = start.position[i] + self.run.system.velocity(i) * h;
            self.run.system.set_position(i, drifted);
        }
        let clamps = self.run.bearers.clamps();
        let holds = clamps.holds(time);
        clamps.place(
            &holds,
            0,
            &mut self.run.system.motion,
            &mut self.run.system.tail,
        );
        holds
    }

    /// One step of length `h` that begins at time `from`; what bearers bear in it is added to `borne`, times `h`.
    fn advance_by(
        &mut self,
        (from, h): (f64, f64),
        last: bool,
        borne: &mut [Wrench],
    ) -> Result<Stepped, SimulateError> {
        let midpoint = self.scheme.midpoint;
        let solved_step = if midpoint { 0.5 * h } else { h };
        let start = Start::new(
            &self.run.system,
            &self.run.load,
            self.run.contacts.springs(),
            self.pushes.expected(),
            (solved_step, self.drag),
        );
        let time = from + solved_step;
        let holds = self.hold(&start, time, solved_step);
        let obstacles = self.run.obstacles(time);
        self.run
            .contacts
            .rebuild_walls(&self.run.system, &obstacles);
        let around = Around {
            before: self.run.obstacles(from),
            obstacles,
            pulls: self.run.springs.pulls(time),
        };
        if self.compared == Some(self.run.step + 1) && self.convergence.rows() == 0 {
            self.convergence = self.compare(&start, &around);
        }
        let Some(easy) = self.settle(&start, &around, (time, from + h), last)? else {
            return Ok(self.again(&start));
        };
        let bore = borne.to_vec();
        self.bear(&start, &around, &holds, h, borne);
        let middle = places(&self.run.system);
        let push = start.finish(&mut self.run.system, midpoint);
        self.pushes.note(push);
        if midpoint {
            self.hold(&start, from + h, h);
            let walls = [&around.obstacles[..], &self.run.obstacles(from + h)];
            if !self.newton.is_free(&self.run.system, &middle, walls) {
                borne.copy_from_slice(&bore);
                return match last {
                    false => Ok(self.again(&start)),
                    true => Err(self.passed(from + h)),
                };
            }
        }
        self.newton.touch.remember(&mut self.run.contacts);
        let rubbing = Rubbing {
            start: &start,
            obstacles: &around.obstacles,
            holds: &holds,
            bearers: &self.run.bearers,
            h,
        };
        rubbing.rub(&self.newton.touch.touching, &mut self.run.system, borne);
        Ok(Stepped::Done { easy })
    }

    /// Solves the step that is looked at at `time` and ends at `end`, again as long as bonds break in it.
    /// Whether nothing broke and few iterations were enough; none where it is to be done again in halves,
    /// which the `last` one cannot.
    fn settle(
        &mut self,
        start: &Start,
        around: &Around,
        (time, end): (f64, f64),
        last: bool,
    ) -> Result<Option<bool>, SimulateError> {
        let most = self.simulate.implicit.iterations;
        let patience = if last { most } else { most.min(PATIENCE) };
        let (mut broke, mut easy) = (false, true);
        loop {
            let most = if broke { most } else { patience };
            let solved = self.solve(start, around, (broke, most));
            easy &= solved.iterations <= EASY;
            if !solved.converged {
                return match last {
                    false => Ok(None),
                    true if solved.passed => Err(self.passed(end)),
                    true if !solved.residual.is_finite() => Err(self.not_finite(start, end)),
                    true => Err(SimulateError::NotConverged {
                        step: self.run.step,
                        time: end,
                        iterations: solved.iterations,
                        residual: solved.residual,
                        tolerance: self.simulate.implicit.tolerance,
                    }),
                };
            }
            let events = self.overloaded();
            if events.is_empty() {
                return Ok(Some(easy && !broke));
            }
            // What breaks lets waves go that only short steps see.
            if !last && !broke {
                return Ok(None);
            }
            broke = true;
            let at = (self.run.step + 1, time);
            let energy = |system: &System<f64>, entry| system.bond_energy(entry);
            self.run.break_bonds(events, at, energy, |_, _| ());
        }
    }

    /// Bonds that break now: of those beyond their strength the worse half, by how far they are. The others
    /// may be relieved when these are gone, as they are where a crack runs: breaking all at once would
    /// crumble what it unloads.
    fn overloaded(&self) -> Vec<BreakEvent> {
        let (mut events, most) = bonds::broken::<W>(&self.run.system);
        let bonds = &self.run.system.bonds;
        events.retain(|event| {
            let entry = event.entry as usize;
            let used =
                (event.sigma / bonds.sigma_c.get(entry)).max(event.tau / bonds.tau_c.get(entry));
            used >= 1.0 + 0.5 * (most - 1.0)
        });
        if let Some(criterion) = &self.run.hydrostatic {
            let (_, virials) = bonds::carried::<W>(&self.run.system);
            criterion.look(
                &self.run.system,
                &self.run.rest.volume,
                0,
                &virials,
                &mut events,
            );
        }
        events
    }

    /// Brings elements to the end of the step, `again` from where they were brought already, in so many
    /// iterations at most.
    fn solve(&mut self, start: &Start, around: &Around, (again, most): (bool, u32)) -> Solved {
        let scene = around.scene(&self.outer, &self.run.bearers);
        self.newton.solve::<W>(
            &mut self.run.system,
            &mut self.run.contacts,
            start,
            &scene,
            (again, most),
        )
    }

    /// Lets other methods solve what [`solve`](Self::solve) is about to.
    fn compare(&self, start: &Start, around: &Around) -> Convergence {
        let scene = around.scene(&self.outer, &self.run.bearers);
        let at = (&self.run.system, &self.run.contacts);
        baselines::compare::<W>(at, (start, &scene), &self.simulate, self.run.step + 1)
    }

    fn again(&mut self, start: &Start) -> Stepped {
        start.undo(&mut self.run.system);
        if self.run.contacts.follow(&self.run.system, &[]) {
            self.run.contacts.restore_springs(&start.springs);
        }
        Stepped::TooLong
    }

    fn passed(&self, time: f64) -> SimulateError {
        SimulateError::Passed {
            step: self.run.step,
            time,
        }
    }

    fn not_finite(&self, start: &Start, time: f64) -> SimulateError {
        let finite = |i: &usize| {
            let (p, q) = (self.run.system.position(*i), self.run.system.quaternion(*i));
            p.is_finite() && q.dot(q).is_finite()
        };
        let element = (0..start.position.len()).find(|i| !finite(i)).unwrap_or(0);
        SimulateError::NotFinite {
            step: self.run.step,
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
        let scene = around.scene(&self.outer, &self.run.bearers);
        self.newton.loads::<W>(&self.run.system, start, &scene);
        for (row, load) in self.run.load.iter_mut().zip(&self.newton.load) {
            let [fx, fy, fz, mx, my, mz] = *load;
            row.0[..3].copy_from_slice(&[fx, fy, fz]);
            row.0[4..7].copy_from_slice(&[mx, my, mz]);
        }
        let chunk = self.run.system.chunk;
        for pair in &self.newton.touch.touching {
            if pair.j >= COLLIDER {
                let (i, wall) = (pair.i as usize, pair.j - COLLIDER);
                let [fx, fy, fz, mx, my, mz] = pair.load(false);
                let arm =
                    self.run.system.position(i) - around.obstacles[wall as usize].pose.position;
                let (force, torque) = (DVec3::new(-fx, -fy, -fz), DVec3::new(-mx, -my, -mz));
                self.run.sums[i / chunk].add(i % chunk, wall, Wrench::at(arm, force, torque));
            }
        }
        for (k, sums) in self.run.sums.iter_mut().enumerate() {
            let first = k * chunk;
            let end = (first + chunk).min(self.run.load.len());
            sums.add_held(first, &self.run.load[first..end], holds);
        }
        let springs = springs::borne(&around.pulls, &self.run.bearers, &self.run.system);
        self.run.sums[0].add_springs(springs);
        let now = ReactionSums::take(&self.run.bearers, &mut self.run.sums);
        for (sum, now) in borne.iter_mut().zip(now) {
            *sum += now * h;
        }
    }

    /// One step, in halves and halves of halves where it must be; `halved` so often is where it begins and ends.
    pub(super) fn whole_step(&mut self, halved: &mut u32) -> Result<Vec<Wrench>, SimulateError> {
        let most = self.halvings;
        let all = 1u64 << most;
        let begin = self.run.step as f64 * self.run.dt;
        let mut borne = vec![Wrench::default(); self.run.bearers.count()];
        let mut done = 0;
        while done < all {
            // Parts begin at multiples of their length.
            let part = (all >> *halved).min(if done == 0 {
                all
            } else {
                1 << done.trailing_zeros()
            });
            let h = self.run.dt * part as f64 / all as f64;
            let from = begin + self.run.dt * done as f64 / all as f64;
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
        self.run.step += 1;
        Ok(borne)
    }
}
