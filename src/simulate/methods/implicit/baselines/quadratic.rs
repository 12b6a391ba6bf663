//! Free quaternions whose lengths a quadratic energy holds: the penalty method and the augmented Lagrangian
//! (Lu 2025, eq. 36 and 38).
//!
//! Newton's method as on the manifold: second derivatives as they are, without their negative parts once
//! conjugate gradients meet one; blocks on the diagonal as preconditioner; slopes decide how far to go.

use super::free::{Free, Seven};
use super::{Bench, Record, Standing};
use crate::laws::energy::EnergyLaw;
use crate::simulate::methods::implicit::bonds::Form;
use crate::simulate::methods::implicit::line;
use crate::simulate::methods::implicit::newton::MOST_GRADIENTS;
use crate::solve::{conjugate_gradients, vector};

/// Newton iterations at most.
pub const ITERATIONS: u32 = 200;
/// κ over r² times the mean stiffness of an element, to begin with: of the penalty method, of the augmented Lagrangian.
const WEIGHT: [f64; 2] = [1.0, 0.1];
/// Growth of κ where the lengths are not right at the minimum.
const GROWTH: f64 = 10.0;
/// Part of its error that a length may keep from one minimum of the augmented Lagrangian to the next.
const SHRINK: f64 = 0.25;

/// κ of each element, J, for a weight.
pub fn stiffness<W: EnergyLaw>(bench: &Bench<W>, weight: f64) -> Vec<f64> {
    let of = |i: usize| weight * bench.newton.stiffness[i] * bench.system.radius(i).powi(2);
    (0..bench.system.count).map(of).collect()
}

/// A sequence of minima with a penalty that grows.
pub fn penalty<W: EnergyLaw>(bench: &mut Bench<W>, record: &mut Record) {
    let tolerance = bench.settings.tolerance;
    run(bench, record, WEIGHT[0], &mut |free, left| {
        if left <= tolerance {
            free.stiffness.iter_mut().for_each(|k| *k *= GROWTH);
        }
    });
}

/// A sequence of minima, each found more exactly, with multipliers that take over what the penalty holds.
pub fn augmented<W: EnergyLaw>(bench: &mut Bench<W>, record: &mut Record) {
    let tolerance = bench.settings.tolerance;
    let (mut before, mut goal) = (f64::INFINITY, tolerance.max(0.1));
    run(bench, record, WEIGHT[1], &mut |free, left| {
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

/// Newton iterations; `adapt` hears of the forces out of balance in seven unknowns after each.
fn run<W: EnergyLaw>(
    bench: &mut Bench<W>,
    record: &mut Record,
    weight: f64,
    adapt: &mut dyn FnMut(&mut Free, f64),
) {
    bench.begin(record);
    let mut free = Free::new(&bench.system);
    free.stiffness = stiffness(bench, weight);
    let mut standing = Standing::default();
    for iteration in 1..=ITERATIONS {
        let gradient = free.gradient(&bench.system, bench.start, &bench.newton.gradient);
        let (direction, gradients) = direction(bench, &free, &gradient);
        descend(bench, &mut free, &gradient, &direction);
        standing = Standing {
            iteration,
            residual: bench.residual(),
            violation: free.worst(),
            gradients: standing.gradients + u64::from(gradients),
        };
        record.note(standing);
        if standing.is_last(bench.settings.tolerance) {
            return;
        }
        let gradient = free.gradient(&bench.system, bench.start, &bench.newton.gradient);
        let square = |i: usize| gradient[i].iter().map(|g| g * g).sum();
        let left = bench
            .newton
            .over_work(&bench.system, bench.start, bench.scene, square);
        adapt(&mut free, left);
    }
}

/// Newton's direction, and the iterations of conjugate gradients that it took.
fn direction<W: EnergyLaw>(
    bench: &mut Bench<W>,
    free: &Free,
    gradient: &[Seven],
) -> (Vec<Seven>, u32) {
    let mut found = vec![[0.0; 7]; gradient.len()];
    let mut iterations = 0;
    for form in [Form::Exact, Form::Projected] {
        bench.assemble(form);
        let newton = &bench.newton;
        let matrix = free.matrix(
            (&bench.system, bench.start),
            (&newton.matrix, &newton.gradient),
            form,
        );
        let Some(mut blocks) = matrix.inverse_diagonal() else {
            continue;
        };
        let limits = (bench.forcing(), MOST_GRADIENTS);
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

/// Goes along a direction in straight lines, by the slopes of Ψ.
pub fn descend<W: EnergyLaw>(
    bench: &mut Bench<W>,
    free: &mut Free,
    gradient: &[Seven],
    direction: &[Seven],
) {
    let slope = vector::dot(gradient, direction);
    let most = line::farthest(&bench.system, direction).min(1.0);
    let mut at = 0.0;
    line::search(slope, [most; 2], line::LEFT, &mut |part| {
        free.displace(&mut bench.system, direction, part - at);
        at = part;
        bench.evaluate();
        let here = free.gradient(&bench.system, bench.start, &bench.newton.gradient);
        vector::dot(&here, direction)
    });
}
