//! Free quaternions with a quadratic energy of their lengths: the penalty method and the augmented Lagrangian
//! (Lu 2025, eq. 36 and 38).
//!
//! Newton's method as on the manifold: exact second derivatives, projected ones once conjugate gradients find
//! negative curvature; diagonal blocks as preconditioner; a line search by slopes.

use super::free::{FreeQuaternions, Seven};
use super::{ConvergenceRecord, Progress, StepProblem};
use crate::laws::energy::EnergyLaw;
use crate::simulate::methods::implicit::bonds::HessianForm;
use crate::simulate::methods::implicit::line;
use crate::simulate::methods::implicit::newton::MAX_GRADIENT_ITERATIONS;
use crate::solve::{conjugate_gradients, vector};

/// Most Newton iterations.
pub const ITERATIONS: u32 = 200;
/// Initial κ relative to r² times the mean stiffness of an element: for the penalty method, for the augmented
/// Lagrangian.
const WEIGHT: [f64; 2] = [1.0, 0.1];
/// Growth factor of κ while the lengths at the minimum are off.
const GROWTH: f64 = 10.0;
/// Fraction of its error that a length may keep from one minimum of the augmented Lagrangian to the next.
const SHRINK: f64 = 0.25;

/// κ of each element, J, for a weight.
pub fn stiffness<W: EnergyLaw>(problem: &StepProblem<W>, weight: f64) -> Vec<f64> {
    let of = |i: usize| weight * problem.newton.stiffness[i] * problem.system.radius(i).powi(2);
    (0..problem.system.count).map(of).collect()
}

/// Solves a sequence of minimisations with a growing penalty.
pub fn penalty<W: EnergyLaw>(problem: &mut StepProblem<W>, record: &mut ConvergenceRecord) {
    let tolerance = problem.settings.tolerance;
    run(problem, record, WEIGHT[0], &mut |free, left| {
        if left <= tolerance {
            free.stiffness.iter_mut().for_each(|k| *k *= GROWTH);
        }
    });
}

/// Solves a sequence of increasingly exact minimisations with multipliers that take over from the penalty.
pub fn augmented<W: EnergyLaw>(problem: &mut StepProblem<W>, record: &mut ConvergenceRecord) {
    let tolerance = problem.settings.tolerance;
    let (mut before, mut goal) = (f64::INFINITY, tolerance.max(0.1));
    run(problem, record, WEIGHT[1], &mut |free, left| {
        if left > goal {
            return;
        }
        for i in 0..free.q.len() {
            free.multiplier[i] += free.stiffness[i] * free.violation(i);
        }
        let worst = free.worst();
        if worst > SHRINK * before {
            free.stiffness.iter_mut().for_each(|k| *k *= GROWTH);
        }
        before = worst;
        goal = (0.1 * goal).max(tolerance);
    });
}

/// Newton iterations. `adapt` is called after each with the unbalanced forces in seven unknowns.
fn run<W: EnergyLaw>(
    problem: &mut StepProblem<W>,
    record: &mut ConvergenceRecord,
    weight: f64,
    adapt: &mut dyn FnMut(&mut FreeQuaternions, f64),
) {
    problem.begin(record);
    let mut free = FreeQuaternions::new(&problem.system);
    free.stiffness = stiffness(problem, weight);
    let mut progress = Progress::default();
    for iteration in 1..=ITERATIONS {
        let gradient = free.gradient(&problem.system, problem.start, &problem.newton.gradient);
        let (direction, gradients) = direction(problem, &free, &gradient);
        descend(problem, &mut free, &gradient, &direction);
        progress = Progress {
            iteration,
            residual: problem.residual(),
            violation: free.worst(),
            gradients: progress.gradients + u64::from(gradients),
        };
        record.note(progress);
        if progress.is_last(problem.settings.tolerance) {
            return;
        }
        let gradient = free.gradient(&problem.system, problem.start, &problem.newton.gradient);
        let square = |i: usize| gradient[i].iter().map(|g| g * g).sum();
        let left = problem.newton.relative_to_work(
            &problem.system,
            problem.start,
            problem.surroundings,
            square,
        );
        adapt(&mut free, left);
    }
}

/// Newton's direction and the iterations of conjugate gradients.
fn direction<W: EnergyLaw>(
    problem: &mut StepProblem<W>,
    free: &FreeQuaternions,
    gradient: &[Seven],
) -> (Vec<Seven>, u32) {
    let mut found = vec![[0.0; 7]; gradient.len()];
    let mut iterations = 0;
    for form in [HessianForm::Exact, HessianForm::Projected] {
        problem.assemble(form);
        let newton = &problem.newton;
        let matrix = free.matrix(
            (&problem.system, problem.start),
            (&newton.matrix, &newton.gradient),
            form,
        );
        let Some(mut blocks) = matrix.inverse_diagonal() else {
            continue;
        };
        let limits = (problem.forcing(), MAX_GRADIENT_ITERATIONS);
        let solved = conjugate_gradients(&matrix, gradient, &mut found, &mut blocks, limits);
        iterations += solved.iterations;
        if !solved.indefinite {
            break;
        }
    }
    for value in found.as_flattened_mut() {
        *value = -*value;
    }
    (found, iterations)
}

/// Line search along a straight direction by the slopes of Ψ.
pub fn descend<W: EnergyLaw>(
    problem: &mut StepProblem<W>,
    free: &mut FreeQuaternions,
    gradient: &[Seven],
    direction: &[Seven],
) {
    let slope = vector::dot(gradient, direction);
    let most = line::largest_multiple(&problem.system, direction).min(1.0);
    let mut at = 0.0;
    line::search(slope, [most; 2], line::MAX_REMAINING_SLOPE, &mut |part| {
        free.displace(&mut problem.system, direction, part - at);
        at = part;
        problem.evaluate();
        let here = free.gradient(&problem.system, problem.start, &problem.newton.gradient);
        vector::dot(&here, direction)
    });
}
