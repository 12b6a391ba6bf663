//! Newton's method for the minimum that ends a step (Lu 2025, algorithms 2 and 3), in six unknowns an element.
//!
//! Second derivatives are taken as they are, and bonds are asked for their positive part only once conjugate
//! gradients meet a direction of negative curvature: under compression nearly every bond alone has one, which
//! its neighbours make up for, and projecting all of them costs Newton's method its speed (Longva, Löschner,
//! Fernández-Fernández, Bender: *Pitfalls of projection*, 2023).

mod line;
mod linear;

use std::time::Instant;

use crate::parallel::prelude::*;

use super::assemble::{fill, pattern};
use super::bonds::{BondRoom, Form};
use super::start::{Start, places};
use super::touch::Touch;
use crate::laws::energy::EnergyLaw;
use crate::simulate::bonded::system::System;
use crate::simulate::contact::lists::Contacts;
use crate::simulate::method::PassCost;
use crate::simulate::run_state::snapshot::Effort;
use crate::simulate::scene::colliders::Obstacle;
use crate::simulate::scene::reactions::Bearers;
use crate::simulate::scene::springs::Pull;
use crate::solve::{BlockMatrix, Six};
use crate::spec::{Implicit, Simulate};
use linear::{Diagonal, Grids};
pub use linear::{Foreseen, MOST_GRADIENTS};

/// An iteration that leaves less of the residual keeps the matrix for the next.
const CHORD: f64 = 0.1;
/// Part of what bonds carry that counts where nothing else is at work.
const CARRIED: f64 = 1e-3;
/// Part of its own stiffness that an element can be out of balance by in rounding.
const ROUNDING: f64 = 1e-12;

/// How a solution ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solved {
    /// Whether the residual came below the tolerance.
    pub converged: bool,
    /// Forces out of balance over those at work.
    pub residual: f64,
    /// Newton iterations.
    pub iterations: u32,
    /// Whether something came to pass through something else at a barrier, or round it to its other side.
    pub passed: bool,
}

impl Default for Solved {
    fn default() -> Self {
        Solved {
            converged: false,
            residual: f64::INFINITY,
            iterations: 0,
            passed: false,
        }
    }
}

/// What is around the elements.
pub struct Scene<'a> {
    /// Obstacles at the end of the step.
    pub obstacles: &'a [Obstacle],
    /// The same where it begins.
    pub before: &'a [Obstacle],
    /// Springs at the end of the step.
    pub pulls: &'a [Pull],
    /// Force on each element that does not depend on where it is, N.
    pub outer: &'a [[f64; 3]],
    /// What presses.
    pub bearers: &'a Bearers,
}

/// Room and memory of the solver.
#[derive(Debug)]
pub struct Newton {
    settings: Implicit,
    /// One iteration a step.
    linear: bool,
    bonds: BondRoom,
    /// Contacts as they stand.
    pub touch: Touch,
    /// Force and torque on each element.
    pub load: Vec<Six>,
    pub gradient: Vec<Six>,
    found: Vec<Six>,
    pub matrix: BlockMatrix,
    /// Mean of the diagonal of each of its rows, N/m.
    pub stiffness: Vec<f64>,
    /// Bonds that broke, and pairs that touched, when the pattern was made.
    shape: Option<(usize, Vec<(u32, u32)>)>,
    grids: Option<Grids>,
    alone: Diagonal,
    /// Part of what was out of balance that the first iteration left in the last step; zero where that is not known.
    left: f64,
    /// Work done since the start.
    pub effort: Effort,
    /// Seconds that its parts took.
    spent: [f64; PARTS.len()],
}

/// What an iteration consists of.
const PARTS: [&str; 5] = [
    "gradient",
    "tangents",
    "matrix",
    "hierarchy",
    "conjugate gradients",
];

impl Newton {
    /// For a system.
    pub fn new(system: &System<f64>, simulate: &Simulate, linear: bool) -> Self {
        let count = system.count;
        Newton {
            settings: simulate.implicit.clone(),
            linear,
            bonds: BondRoom::new(system),
            touch: Touch::new(simulate),
            load: vec![[0.0; 6]; count],
            gradient: vec![[0.0; 6]; count],
            found: vec![[0.0; 6]; count],
            matrix: BlockMatrix::default(),
            stiffness: vec![0.0; count],
            shape: None,
            grids: None,
            alone: Diagonal::Untried,
            left: 0.0,
            effort: Effort::default(),
            spent: [0.0; PARTS.len()],
        }
    }

    /// What its parts have cost.
    pub fn costs(&self) -> Vec<PassCost> {
        let cost = |(name, seconds): (&'static str, f64)| PassCost {
            name,
            seconds: seconds * rayon::current_num_threads() as f64,
            bytes: 0,
        };
        PARTS.into_iter().zip(self.spent).map(cost).collect()
    }

    /// Notes the time since `clock` for a part.
    fn spend(&mut self, part: usize, clock: Instant) {
        self.spent[part] += clock.elapsed().as_secs_f64();
    }

    /// Forgets what earlier steps left, so that what follows depends on the state alone.
    pub fn forget(&mut self) {
        self.shape = None;
        self.grids = None;
        self.alone = Diagonal::Untried;
        self.left = 0.0;
    }

    /// Loads on all elements where they are.
    pub fn loads<W: EnergyLaw>(&mut self, system: &System<f64>, start: &Start, scene: &Scene) {
        self.bonds.loads::<W>(system, start, &mut self.load);
        self.touch.evaluate(system, scene.obstacles, start);
        self.touch.add_loads(&mut self.load);
        for (element, force) in scene.bearers.pressures(system) {
            let load = &mut self.load[element as usize];
            for (load, f) in load.iter_mut().zip(force.to_array()) {
                *load += f;
            }
        }
        for pull in scene.pulls {
            let load = &mut self.load[pull.element as usize];
            for (load, f) in load.iter_mut().zip(pull.force(system).to_array()) {
                *load += f;
            }
        }
    }

    /// Derivatives of the energy, N; rotations over the radius. Held elements have none.
    pub fn gradient<W: EnergyLaw>(&mut self, system: &System<f64>, start: &Start, scene: &Scene) {
        let clock = Instant::now();
        self.loads::<W>(system, start, scene);
        let load = &self.load;
        self.gradient
            .par_iter_mut()
            .with_min_len(256)
            .enumerate()
            .for_each(|(i, g)| {
                if start.is_held(i) {
                    *g = [0.0; 6];
                    return;
                }
                let inertia = start.inertia(system, i).gradient;
                let r = system.radius(i);
                for k in 0..3 {
                    g[k] = inertia[k] - load[i][k] - scene.outer[i][k];
                    g[3 + k] = (inertia[3 + k] - load[i][3 + k]) / r;
                }
            });
        self.spend(0, clock);
    }

    /// Brings elements to the end of the step, in so many iterations at most; `again` from where they stand,
    /// after bonds broke there.
    pub fn solve<W: EnergyLaw>(
        &mut self,
        system: &mut System<f64>,
        contacts: &mut Contacts<f64>,
        start: &Start,
        scene: &Scene,
        (again, most): (bool, u32),
    ) -> Solved {
        self.effort.solves += 1;
        self.touch.collect(contacts, system);
        if again {
            self.gradient::<W>(system, start, scene);
        } else {
            let walls = [scene.before, scene.obstacles];
            if !self.is_free(system, &start.position, walls) {
                return Solved {
                    passed: true,
                    ..Solved::default()
                };
            }
            self.guess::<W>(system, contacts, start, scene);
        }
        let mut solved = self.iterate::<W>(system, contacts, (start, scene), most, &mut |_, _| {});
        if self.touch.is_barrier() && solved.converged {
            // A long step may end with less energy behind what it should come back from.
            let walls = [scene.before, scene.obstacles];
            let to = places(system);
            let way = self.way(system, (&start.position, &to), walls);
            solved.passed = !way.is_straight();
            solved.converged = !solved.passed;
        }
        solved
    }

    /// Brings elements from where they stand, where the gradient is known, to the end of the step, in so many
    /// iterations at most. `note` hears of every one, and how many of conjugate gradients there were since
    /// the start.
    pub fn iterate<W: EnergyLaw>(
        &mut self,
        system: &mut System<f64>,
        contacts: &mut Contacts<f64>,
        (start, scene): (&Start, &Scene),
        most: u32,
        note: &mut dyn FnMut(Solved, u64),
    ) -> Solved {
        let mut solved = Solved::default();
        let mut foreseen = Foreseen {
            residual: self.residual(system, start, scene),
            left: self.left,
        };
        let mut keep = false;
        let form = match self.linear {
            true => Form::GaussNewton,
            false => Form::Exact,
        };
        let most = if self.linear { 1 } else { most };
        while solved.iterations < most && !solved.converged {
            solved.iterations += 1;
            let sliding = self.touch.sliding();
            self.effort.newton += 1;
            if !keep {
                self.assemble::<W>(system, start, scene, form);
            }
            self.direction::<W>(system, start, scene, form, foreseen);
            let whole = self.line::<W>(system, contacts, start, scene);
            let before = foreseen.residual;
            solved.residual = self.residual(system, start, scene);
            if solved.iterations == 1 {
                self.left = solved.residual / before;
            }
            foreseen = Foreseen {
                residual: solved.residual,
                left: 0.0,
            };
            if !solved.residual.is_finite() {
                break;
            }
            solved.converged = match self.linear {
                true => whole,
                false => solved.residual <= self.settings.tolerance,
            };
            note(solved, self.effort.gradients);
            // A matrix that has served so well serves once more.
            keep = solved.residual < CHORD * before
                && self.shape.as_ref() == Some(&self.shape_of(system))
                && self.touch.sliding() == sliding;
        }
        solved
    }

    /// What the pattern of the matrix follows from: bonds that broke, and pairs that touch.
    fn shape_of(&self, system: &System<f64>) -> (usize, Vec<(u32, u32)>) {
        let touching = self.touch.touching.iter().map(|pair| (pair.i, pair.j));
        (system.bonds.touch.len(), touching.collect())
    }

    pub fn assemble<W: EnergyLaw>(
        &mut self,
        system: &System<f64>,
        start: &Start,
        scene: &Scene,
        form: Form,
    ) {
        let clock = Instant::now();
        let shape = self.shape_of(system);
        if self.shape.as_ref() != Some(&shape) {
            pattern(&mut self.matrix, system, start, &self.touch);
            self.shape = Some(shape);
        }
        self.bonds.tangents::<W>(system, start.step, form);
        self.spend(1, clock);
        let clock = Instant::now();
        let bonds = (&self.bonds, form);
        fill(&mut self.matrix, system, start, bonds, &self.touch);
        for pull in scene.pulls {
            let i = pull.element as usize;
            let at = self.matrix.find(i, i);
            let block = &mut self.matrix.value[at.expect("every row has its own column")];
            (0..3).for_each(|k| block[k][k] += pull.stiffness);
        }
        let matrix = &self.matrix;
        let mean = |i: usize| {
            let block = &matrix.value[matrix.find(i, i).expect("every row has its own column")];
            (0..6).map(|k| block[k][k]).sum::<f64>() / 6.0
        };
        let rows = (0..system.count).into_par_iter().with_min_len(256);
        rows.map(mean).collect_into_vec(&mut self.stiffness);
        self.spend(2, clock);
    }

    /// Forces out of balance over those at work: inertia, outer forces, and a small part of what bonds carry.
    /// It changes neither with the number of elements nor with their stiffness or size.
    pub fn residual(&self, system: &System<f64>, start: &Start, scene: &Scene) -> f64 {
        self.over_work(system, start, scene, |i| square(&self.gradient[i]))
    }

    /// The root of a sum over free elements, of squares of forces, over that of the forces at work.
    pub fn over_work(
        &self,
        system: &System<f64>,
        start: &Start,
        scene: &Scene,
        left: impl Fn(usize) -> f64 + Sync,
    ) -> f64 {
        let of = |i: usize| {
            if start.is_held(i) {
                return [0.0; 2];
            }
            let r = system.radius(i);
            let mut inertia = start.inertia(system, i).gradient;
            inertia[3..].iter_mut().for_each(|torque| *torque /= r);
            let outer = square(&scene.outer[i]);
            let carried = CARRIED * CARRIED * self.bonds.carried(system, i)
                + (ROUNDING * self.stiffness[i] * r / self.settings.tolerance).powi(2);
            [left(i), square(&inertia) + outer + carried]
        };
        let all = (0..system.count).into_par_iter().with_min_len(256).map(of);
        let [left, work] = all
            .collect::<Vec<_>>()
            .into_iter()
            .fold([0.0; 2], |[a, b], [c, d]| [a + c, b + d]);
        (left / work).sqrt()
    }
}

fn square(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum()
}
