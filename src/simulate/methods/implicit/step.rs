//! One implicit step, repeated in halves where necessary.

use super::{Implicit, baselines, bonds};

use glam::DVec3;

use super::newton::{Solved, Surroundings};
use super::projected_friction::ProjectedFriction;
use super::start::{StepStart, positions};

use crate::columns::{Convergence, Table};
use crate::laws::energy::EnergyLaw;
use crate::simulate::bonded::bond_tasks::BreakEvent;
use crate::simulate::bonded::system::System;
use crate::simulate::contact::chunk::COLLIDER;
use crate::simulate::error::SimulateError;
use crate::simulate::scene::clamps::RigidPose;
use crate::simulate::scene::colliders::PosedCollider;
use crate::simulate::scene::reaction_sums::ReactionSums;
use crate::simulate::scene::reactions::{Supports, Wrench};
use crate::simulate::scene::springs;
use crate::simulate::scene::springs::SpringPull;

/// Iterations after which a step is halved if possible: two halves take fewer than one step that makes no
/// progress.
const MAX_ITERATIONS_BEFORE_HALVING: u32 = 16;
/// Solutions with ever more damage after which a step is halved. In the shortest step bonds then soften on in the next
/// one.
const MAX_SOFTENINGS: u32 = 16;
/// Iterations up to which the step length is doubled again.
const EASY_ITERATIONS: u32 = 3;

/// Owned data of [`Surroundings`].
struct OwnedSurroundings {
    /// Colliders at the start of the step.
    before: Vec<PosedCollider>,
    /// Colliders at the time of the solution.
    colliders: Vec<PosedCollider>,
    /// Springs at that time.
    pulls: Vec<SpringPull>,
}

impl OwnedSurroundings {
    fn borrow<'a>(
        &'a self,
        constant_forces: &'a [[f64; 3]],
        supports: &'a Supports,
    ) -> Surroundings<'a> {
        Surroundings {
            colliders: &self.colliders,
            before: &self.before,
            pulls: &self.pulls,
            constant_forces,
            supports,
        }
    }
}

/// Whether a step was accepted.
enum StepOutcome {
    /// Accepted. `easy` if nothing broke and few iterations sufficed, so that a longer step may be tried.
    Done { easy: bool },
    /// To be repeated in halves.
    TooLong,
}

impl<W: EnergyLaw> Implicit<W> {
    /// Moves held elements to their positions at a time; constant clamps drift by their velocity times `h`.
    fn place_held(&mut self, start: &StepStart, time: f64, h: f64) -> Vec<RigidPose<f64>> {
        for held in self.run.supports.held() {
            let i = held.element as usize;
            let drifted = start.position[i] + self.run.system.velocity(i) * h;
            self.run.system.set_position(i, drifted);
        }
        let clamps = self.run.supports.clamps();
        let poses = clamps.poses(time);
        clamps.place(
            &poses,
            0,
            &mut self.run.system.motion,
            &mut self.run.system.tail,
        );
        poses
    }

    /// One step of length `h` from time `from`. The impulses on colliders and attachments are added to
    /// `impulses`.
    fn advance_by(
        &mut self,
        (from, h): (f64, f64),
        last: bool,
        impulses: &mut [Wrench],
    ) -> Result<StepOutcome, SimulateError> {
        let midpoint = self.scheme.midpoint;
        let solved_step = if midpoint { 0.5 * h } else { h };
        let start = StepStart::new(
            &self.run.system,
            &self.run.load,
            self.run.contacts.springs(),
            self.accelerations.expected(),
            (solved_step, self.drag),
        );
        let time = from + solved_step;
        let poses = self.place_held(&start, time, solved_step);
        let colliders = self.run.colliders(time);
        self.run
            .contacts
            .rebuild_near_colliders(&self.run.system, &colliders);
        let around = OwnedSurroundings {
            before: self.run.colliders(from),
            colliders,
            pulls: self.run.springs.pulls(time),
        };
        if self.compared_step == Some(self.run.step + 1) && self.convergence.rows() == 0 {
            self.convergence = self.compare(&start, &around);
        }
        let Some(easy) = self.solve_breaking(&start, &around, (time, from + h), last)? else {
            return Ok(self.roll_back(&start));
        };
        let impulses_before = impulses.to_vec();
        self.add_reactions(&start, &around, &poses, h, impulses);
        let middle = positions(&self.run.system);
        let acceleration = start.finish(&mut self.run.system, midpoint);
        self.accelerations.note(acceleration);
        if midpoint {
            self.place_held(&start, from + h, h);
            let walls = [&around.colliders[..], &self.run.colliders(from + h)];
            if !self.newton.is_free(&self.run.system, &middle, walls) {
                impulses.copy_from_slice(&impulses_before);
                return match last {
                    false => Ok(self.roll_back(&start)),
                    true => Err(self.passed(from + h)),
                };
            }
        }
        self.newton
            .contact_set
            .store_springs(&mut self.run.contacts);
        let friction = ProjectedFriction {
            start: &start,
            colliders: &around.colliders,
            poses: &poses,
            supports: &self.run.supports,
            h,
        };
        friction.apply(
            &self.newton.contact_set.active,
            &mut self.run.system,
            impulses,
        );
        Ok(StepOutcome::Done { easy })
    }

    /// Solves the step that ends at `end`, with its equations evaluated at `time`, and solves it again while bonds
    /// soften or break in it. Returns `Some(true)` if no bond softened or broke and few iterations sufficed,
    /// `None` if the caller must halve the step. With `last` the step cannot be halved any more, so failure is an
    /// error.
    fn solve_breaking(
        &mut self,
        start: &StepStart,
        around: &OwnedSurroundings,
        (time, end): (f64, f64),
        last: bool,
    ) -> Result<Option<bool>, SimulateError> {
        let most = self.simulate.implicit.iterations;
        let patience = if last {
            most
        } else {
            most.min(MAX_ITERATIONS_BEFORE_HALVING)
        };
        let (mut broke, mut easy) = (false, true);
        let mut softenings = 0;
        loop {
            let most = if broke { most } else { patience };
            let again = broke || softenings > 0;
            let solved = self.solve(start, around, (again, most));
            easy &= solved.iterations <= EASY_ITERATIONS;
            if !solved.converged {
                return match last {
                    false => Ok(None),
                    true if solved.passed_through => Err(self.passed(end)),
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
            let mut events = self.overloaded();
            if events.is_empty() {
                return Ok(Some(easy && !broke && softenings == 0));
            }
            events.retain(|event| !self.run.system.soften(event));
            if events.is_empty() {
                softenings += 1;
                if softenings > MAX_SOFTENINGS {
                    return Ok(last.then_some(false));
                }
                continue;
            }
            // A break emits waves that only short steps resolve.
            if !last && !broke {
                return Ok(None);
            }
            broke = true;
            let at = (self.run.step + 1, time);
            let energy = |system: &System<f64>, entry| Some(system.bond_energy(entry));
            self.run.break_bonds(events, at, energy, |_, _| ());
        }
    }

    /// Bonds that soften or break now: of the overloaded bonds, those with at least half of the largest excess. The
    /// others may be relieved once these are gone, as along a running crack; breaking all at once would
    /// crumble the unloaded material.
    fn overloaded(&self) -> Vec<BreakEvent> {
        let (mut events, most) = bonds::beyond_strength::<W>(&self.run.system);
        let (system, volume) = (&self.run.system, &self.run.rest.volume);
        let bonds = &system.bonds;
        let mut of_solid = Vec::new();
        let strength = |event: &BreakEvent| {
            let rankine = self.rankine.as_ref();
            rankine.map_or(f64::INFINITY, |one| one.strength(event.entry as usize))
        };
        if let Some(criterion) = &self.rankine {
            criterion.find_all_breaks(system, volume, &mut of_solid);
        }
        let uses = of_solid.iter().map(|event| event.sigma / strength(event));
        let most = uses.fold(most, f64::max);
        let least = 1.0 + 0.5 * (most - 1.0);
        events.retain(|event| {
            let entry = event.entry as usize;
            let used =
                (event.sigma / bonds.sigma_c.get(entry)).max(event.tau / bonds.tau_c.get(entry));
            used / bonds.left(entry).strength >= least
        });
        of_solid.retain(|event| event.sigma / strength(event) >= least);
        if let Some(criterion) = &self.rankine {
            criterion.put_breaking_sigmas(system, volume, &mut events);
        }
        events.append(&mut of_solid);
        if let Some(criterion) = &self.run.hydrostatic {
            let (_, virials) = bonds::carried::<W>(system);
            criterion.find_breaks(system, volume, 0, &virials, &mut events);
        }
        events
    }

    /// Solves for the end of the step in at most `most` iterations, with `again` from the current positions.
    fn solve(
        &mut self,
        start: &StepStart,
        around: &OwnedSurroundings,
        (again, most): (bool, u32),
    ) -> Solved {
        let surroundings = around.borrow(&self.constant_forces, &self.run.supports);
        self.newton.solve::<W>(
            &mut self.run.system,
            &mut self.run.contacts,
            start,
            &surroundings,
            (again, most),
        )
    }

    /// Solves the step with other methods, from the state in which [`solve`](Self::solve) finds it.
    fn compare(&self, start: &StepStart, around: &OwnedSurroundings) -> Convergence {
        let surroundings = around.borrow(&self.constant_forces, &self.run.supports);
        let at = (&self.run.system, &self.run.contacts);
        baselines::compare::<W>(
            at,
            (start, &surroundings),
            &self.simulate,
            self.run.step + 1,
        )
    }

    fn roll_back(&mut self, start: &StepStart) -> StepOutcome {
        start.undo(&mut self.run.system);
        if self.run.contacts.rebuild_if_moved(&self.run.system, &[]) {
            self.run.contacts.restore_springs(&start.springs);
        }
        StepOutcome::TooLong
    }

    fn passed(&self, time: f64) -> SimulateError {
        SimulateError::PassesThrough {
            step: self.run.step,
            time,
        }
    }

    fn not_finite(&self, start: &StepStart, time: f64) -> SimulateError {
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

    /// Stores the current loads and adds the impulses on colliders and attachments.
    fn add_reactions(
        &mut self,
        start: &StepStart,
        around: &OwnedSurroundings,
        poses: &[RigidPose<f64>],
        h: f64,
        impulses: &mut [Wrench],
    ) {
        let surroundings = around.borrow(&self.constant_forces, &self.run.supports);
        self.newton
            .loads::<W>(&self.run.system, start, &surroundings);
        for (row, load) in self.run.load.iter_mut().zip(&self.newton.load) {
            let [fx, fy, fz, mx, my, mz] = *load;
            row.0[..3].copy_from_slice(&[fx, fy, fz]);
            row.0[4..7].copy_from_slice(&[mx, my, mz]);
        }
        let chunk = self.run.system.chunk;
        for pair in &self.newton.contact_set.active {
            if pair.j >= COLLIDER {
                let (i, wall) = (pair.i as usize, pair.j - COLLIDER);
                let [fx, fy, fz, mx, my, mz] = pair.load(false);
                let arm =
                    self.run.system.position(i) - around.colliders[wall as usize].pose.position;
                let (force, torque) = (DVec3::new(-fx, -fy, -fz), DVec3::new(-mx, -my, -mz));
                self.run.sums[i / chunk].add(i % chunk, wall, Wrench::at(arm, force, torque));
            }
        }
        for (k, sums) in self.run.sums.iter_mut().enumerate() {
            let first = k * chunk;
            let end = (first + chunk).min(self.run.load.len());
            sums.add_held(first, &self.run.load[first..end], poses);
        }
        let springs = springs::wrenches(&around.pulls, &self.run.supports, &self.run.system);
        self.run.sums[0].add_springs(springs);
        let now = ReactionSums::take(&self.run.supports, &mut self.run.sums);
        for (sum, now) in impulses.iter_mut().zip(now) {
            *sum += now * h;
        }
    }

    /// One step, halved as often as necessary. `halved` is the number of halvings to begin with; it is
    /// updated.
    pub(super) fn whole_step(&mut self, halved: &mut u32) -> Result<Vec<Wrench>, SimulateError> {
        let most = self.max_halvings;
        let all = 1u64 << most;
        let begin = self.run.step as f64 * self.run.dt;
        let mut impulses = vec![Wrench::default(); self.run.supports.count()];
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
            match self.advance_by((from, h), part == 1, &mut impulses)? {
                StepOutcome::TooLong => *halved = most - part.trailing_zeros() + 1,
                StepOutcome::Done { easy } => {
                    done += part;
                    if easy {
                        *halved = halved.saturating_sub(1);
                    }
                }
            }
        }
        self.run.step += 1;
        Ok(impulses)
    }
}
