//! Newton's method for the minimum that ends a step (Lu 2025, algorithms 2 and 3), in six unknowns an element.
//!
//! Second derivatives are taken as they are, and bonds are asked for their positive part only once conjugate gradients meet a direction of negative
//! curvature: under compression nearly every bond alone has one, which its neighbours make up for, and projecting all of them costs Newton's
//! method its speed (Longva, Löschner, Fernández-Fernández, Bender: *Pitfalls of projection*, 2023).

use std::time::Instant;

use rayon::prelude::*;

use super::assemble::{fill, pattern};
use super::bonds::{BondRoom, Form};
use super::start::{Guess, Start, displace};
use super::touch::Touch;
use crate::laws::energy::EnergyLaw;
use crate::simulate::contact_pass::Obstacle;
use crate::simulate::contacts::Contacts;
use crate::simulate::engine::PassCost;
use crate::simulate::reactions::Bearers;
use crate::simulate::record::Effort;
use crate::simulate::system::System;
use crate::solve::Six;
use crate::solve::multigrid::Multigrid;
use crate::solve::{BlockMatrix, Found, Precondition, conjugate_gradients, prolong::Place, vector};
use crate::spec::{Implicit, Preconditioner};

/// Iterations of conjugate gradients at most.
const MOST_GRADIENTS: u32 = 3000;
/// A hierarchy is made anew once it takes so many more iterations than when it was new.
const WORN: u32 = 4;
/// An iteration that leaves less of the residual keeps the matrix for the next.
const CHORD: f64 = 0.1;
/// Farthest that a rotation goes in one iteration, rad.
const FARTHEST_TURN: f64 = 1.0;
/// Iterations after which the limits of friction no longer follow what presses.
const FREEZE: u32 = 8;
/// Parts of the first slope that may be left along a line: turned round, and as it was.
const LEFT: [f64; 2] = [0.1, 0.9];
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
}

/// What is around the elements.
pub struct Scene<'a> {
    /// Obstacles at the end of the step.
    pub obstacles: &'a [Obstacle],
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
    gradient: Vec<Six>,
    found: Vec<Six>,
    matrix: BlockMatrix,
    /// Bonds that broke, and pairs that touched, when the pattern was made.
    shape: Option<(usize, Vec<(u32, u32)>)>,
    grids: Option<Grids>,
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

#[derive(Debug)]
struct Grids {
    multigrid: Multigrid,
    /// Iterations that it took when it was new.
    fresh: Option<u32>,
    /// Whether it takes more now.
    worn: bool,
}

impl Newton {
    /// For a system.
    pub fn new(system: &System<f64>, settings: &Implicit, linear: bool) -> Self {
        let count = system.count;
        Newton {
            settings: settings.clone(),
            linear,
            bonds: BondRoom::new(system),
            touch: Touch::default(),
            load: vec![[0.0; 6]; count],
            gradient: vec![[0.0; 6]; count],
            found: vec![[0.0; 6]; count],
            matrix: BlockMatrix::default(),
            shape: None,
            grids: None,
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
    }

    /// Loads on all elements where they are.
    pub fn loads<W: EnergyLaw>(&mut self, system: &System<f64>, start: &Start, scene: &Scene) {
        self.bonds.loads::<W>(system, &mut self.load);
        self.touch.evaluate(system, scene.obstacles, start);
        self.touch.add_loads(&mut self.load);
        for (element, force) in scene.bearers.pressures(system) {
            let load = &mut self.load[element as usize];
            for (load, f) in load.iter_mut().zip(force.to_array()) {
                *load += f;
            }
        }
    }

    /// Derivatives of the energy, N; rotations over the radius. Held elements have none.
    fn gradient<W: EnergyLaw>(&mut self, system: &System<f64>, start: &Start, scene: &Scene) {
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

    /// Brings elements to the end of the step; `again` from where they stand, after bonds broke there.
    pub fn solve<W: EnergyLaw>(
        &mut self,
        system: &mut System<f64>,
        contacts: &mut Contacts<f64>,
        start: &Start,
        scene: &Scene,
        again: bool,
    ) -> Solved {
        self.effort.solves += 1;
        self.touch.thaw();
        if again {
            self.touch.collect(contacts);
            self.gradient::<W>(system, start, scene);
        } else {
            self.guess::<W>(system, contacts, start, scene);
        }
        let mut solved = Solved {
            converged: false,
            residual: f64::INFINITY,
            iterations: 0,
        };
        let mut keep = false;
        let form = match self.linear {
            true => Form::GaussNewton,
            false => Form::Exact,
        };
        let most = match self.linear {
            true => 1,
            false => self.settings.iterations,
        };
        while solved.iterations < most && !solved.converged {
            if solved.iterations == FREEZE {
                keep = false;
                self.touch.freeze();
                self.gradient::<W>(system, start, scene);
            }
            solved.iterations += 1;
            self.effort.newton += 1;
            if !keep {
                self.assemble::<W>(system, start, form);
            }
            self.direction::<W>(system, start, scene, form);
            self.line::<W>(system, contacts, start, scene);
            let before =
                std::mem::replace(&mut solved.residual, self.residual(system, start, scene));
            if !solved.residual.is_finite() {
                break;
            }
            solved.converged = self.linear || solved.residual <= self.settings.tolerance;
            // A matrix that has served so well serves once more.
            keep = solved.residual < CHORD * before
                && self.shape.as_ref() == Some(&self.shape_of(system));
        }
        solved
    }

    /// Begins where elements are, where they would go alone, or where they would go if velocities changed as in the step before: wherever they are
    /// nearest to balance.
    fn guess<W: EnergyLaw>(
        &mut self,
        system: &mut System<f64>,
        contacts: &mut Contacts<f64>,
        start: &Start,
        scene: &Scene,
    ) {
        self.touch.collect(contacts);
        let guesses = [Guess::Still, Guess::Ahead, Guess::Pushed];
        let guesses = &guesses[..if start.is_pushed() { 3 } else { 2 }];
        let mut best = (f64::INFINITY, Guess::Still);
        let mut at = Guess::Still;
        for &guess in guesses {
            self.try_guess::<W>(guess, system, contacts, start, scene);
            at = guess;
            let size = vector::norm(&self.gradient);
            if size < best.0 {
                best = (size, guess);
            }
        }
        if at != best.1 {
            self.try_guess::<W>(best.1, system, contacts, start, scene);
        }
    }

    fn try_guess<W: EnergyLaw>(
        &mut self,
        guess: Guess,
        system: &mut System<f64>,
        contacts: &mut Contacts<f64>,
        start: &Start,
        scene: &Scene,
    ) {
        start.place(system, guess);
        self.follow(system, contacts, start, scene);
        self.gradient::<W>(system, start, scene);
    }

    /// Lists contacts anew where elements may have come within reach of others.
    fn follow(
        &mut self,
        system: &System<f64>,
        contacts: &mut Contacts<f64>,
        start: &Start,
        scene: &Scene,
    ) {
        if contacts.follow(system, scene.obstacles) {
            // A pair that was out of reach on the way keeps what it remembers; one that is now has nothing to remember.
            contacts.restore_springs(&start.springs);
            self.touch.collect(contacts);
        }
    }

    /// Solves for the direction that leads to where the gradient vanishes.
    fn direction<W: EnergyLaw>(
        &mut self,
        system: &System<f64>,
        start: &Start,
        scene: &Scene,
        form: Form,
    ) {
        let mut found = self.gradients(system, start, scene);
        if found.indefinite && form == Form::Exact {
            self.assemble::<W>(system, start, Form::Projected);
            self.grids = None;
            found = self.gradients(system, start, scene);
        }
        self.effort.gradients += u64::from(found.iterations);
        for value in self.found.as_flattened_mut() {
            *value = -*value;
        }
    }

    /// What the pattern of the matrix follows from: bonds that broke, and pairs that touch.
    fn shape_of(&self, system: &System<f64>) -> (usize, Vec<(u32, u32)>) {
        let touching = self.touch.touching.iter().map(|pair| (pair.i, pair.j));
        (system.bonds.touch.len(), touching.collect())
    }

    fn assemble<W: EnergyLaw>(&mut self, system: &System<f64>, start: &Start, form: Form) {
        let clock = Instant::now();
        let shape = self.shape_of(system);
        if self.shape.as_ref() != Some(&shape) {
            self.matrix = pattern(system, start, &self.touch);
            self.shape = Some(shape);
        }
        self.bonds.tangents::<W>(system, form);
        self.spend(1, clock);
        let clock = Instant::now();
        let bonds = (&self.bonds, form);
        fill(&mut self.matrix, system, start, bonds, &self.touch);
        self.spend(2, clock);
    }

    /// Conjugate gradients for A x = g, as exact as eq. 31 of Lu 2025 asks for.
    fn gradients(&mut self, system: &System<f64>, start: &Start, scene: &Scene) -> Found {
        let tolerance = self.tolerance(system, start, scene);
        if self.settings.preconditioner == Preconditioner::Jacobi {
            let Ok(mut diagonal) = self.matrix.inverse_diagonal() else {
                return indefinite();
            };
            return self.run(&mut diagonal, tolerance);
        }
        let clock = Instant::now();
        let renewed = match &mut self.grids {
            Some(grids) if grids.worn => grids.multigrid.renew(&self.matrix).is_ok(),
            Some(_) => true,
            None => false,
        };
        if !renewed {
            let place = |i| Place {
                position: system.position(i),
                length: system.radius(i),
            };
            let places: Vec<Place> = (0..system.count).map(place).collect();
            let Ok(multigrid) = Multigrid::new(&self.matrix, &places) else {
                return indefinite();
            };
            self.grids = Some(Grids {
                multigrid,
                fresh: None,
                worn: false,
            });
        }
        self.spend(3, clock);
        let mut grids = self.grids.take().expect("just made");
        let found = self.run(&mut grids.multigrid, tolerance);
        // Iterations for one decade, so that tolerances may differ.
        let decades = -found.residual.max(1e-300).log10();
        let pace = (f64::from(found.iterations) * 4.0 / decades.max(0.1)).ceil() as u32;
        let fresh = *grids.fresh.get_or_insert(pace);
        grids.worn = pace > fresh + 1;
        if pace <= fresh + WORN && !found.indefinite {
            self.grids = Some(grids);
        }
        found
    }

    fn run(&mut self, precondition: &mut dyn Precondition, tolerance: f64) -> Found {
        let clock = Instant::now();
        let found = conjugate_gradients(
            &self.matrix,
            &self.gradient,
            &mut self.found,
            precondition,
            (tolerance, MOST_GRADIENTS),
        );
        self.spend(4, clock);
        found
    }

    /// min(0.1, √|g|), g made dimensionless by the diagonal: a strain; no finer than the end of the step asks for.
    fn tolerance(&self, system: &System<f64>, start: &Start, scene: &Scene) -> f64 {
        if self.linear {
            return self.settings.gradients_tolerance;
        }
        let of = |i: usize| {
            let size: f64 = self.gradient[i].iter().map(|g| g * g).sum();
            size / (self.stiffness(i) * system.radius(i)).powi(2)
        };
        let all = (0..system.count).into_par_iter().with_min_len(256).map(of);
        let sum: f64 = all.collect::<Vec<_>>().into_iter().sum();
        let strain = (sum / system.count as f64).sqrt();
        let enough = 0.3 * self.settings.tolerance / self.residual(system, start, scene);
        strain
            .sqrt()
            .max(enough)
            .clamp(self.settings.gradients_tolerance, 0.1)
    }

    /// Mean of the diagonal of a row, N/m.
    fn stiffness(&self, i: usize) -> f64 {
        let at = self
            .matrix
            .find(i, i)
            .expect("every row has its own column");
        let block = &self.matrix.value[at];
        (0..6).map(|k| block[k][k]).sum::<f64>() / 6.0
    }

    /// Forces out of balance over those at work: inertia, outer forces, and a small part of what bonds carry. It changes neither with the number of
    /// elements nor with their stiffness or size.
    fn residual(&self, system: &System<f64>, start: &Start, scene: &Scene) -> f64 {
        let square = |six: &Six| six.iter().map(|v| v * v).sum::<f64>();
        let of = |i: usize| {
            if start.is_held(i) {
                return [0.0; 2];
            }
            let r = system.radius(i);
            let mut inertia = start.inertia(system, i).gradient;
            inertia[3..].iter_mut().for_each(|torque| *torque /= r);
            let outer: f64 = scene.outer[i].iter().map(|f| f * f).sum();
            let carried = CARRIED * CARRIED * self.bonds.carried(system, i)
                + (ROUNDING * self.stiffness(i) * r / self.settings.tolerance).powi(2);
            [
                square(&self.gradient[i]),
                square(&inertia) + outer + carried,
            ]
        };
        let all = (0..system.count).into_par_iter().with_min_len(256).map(of);
        let [left, work] = all
            .collect::<Vec<_>>()
            .into_iter()
            .fold([0.0; 2], |[a, b], [c, d]| [a + c, b + d]);
        (left / work).sqrt()
    }

    /// Goes along the direction, along geodesics of the rotations, until the slope has turned by no more than half.
    fn line<W: EnergyLaw>(
        &mut self,
        system: &mut System<f64>,
        contacts: &mut Contacts<f64>,
        start: &Start,
        scene: &Scene,
    ) {
        let direction = std::mem::take(&mut self.found);
        let slope = vector::dot(&self.gradient, &direction);
        let turn = (0..system.count)
            .map(|i| {
                let [.., a, b, c] = direction[i];
                (a * a + b * b + c * c).sqrt() / system.radius(i)
            })
            .fold(0.0, f64::max);
        let mut factor = if turn > FARTHEST_TURN {
            FARTHEST_TURN / turn
        } else {
            1.0
        };
        displace(system, &direction, factor);
        self.follow(system, contacts, start, scene);
        self.gradient::<W>(system, start, scene);
        if !self.linear && slope < 0.0 {
            // Between a place where it still falls and one where it rises lies the least.
            let (mut low, mut high) = ((0.0, slope), None);
            for _ in 0..LINE_STEPS {
                let here = vector::dot(&self.gradient, &direction);
                let falls = here < -LEFT[1] * slope.abs();
                if !falls && here <= LEFT[0] * slope.abs() || falls && high.is_none() {
                    break;
                }
                if falls {
                    low = (factor, here);
                } else {
                    high = Some((factor, here));
                }
                let Some((end, rises)) = high else { break };
                let part = (low.1 / (low.1 - rises)).clamp(0.1, 0.9);
                let next = low.0 + part * (end - low.0);
                displace(system, &direction, next - factor);
                factor = next;
                self.follow(system, contacts, start, scene);
                self.gradient::<W>(system, start, scene);
            }
        }
        self.found = direction;
    }
}

const LINE_STEPS: u32 = 12;

fn indefinite() -> Found {
    Found {
        iterations: 0,
        residual: 1.0,
        indefinite: true,
    }
}
