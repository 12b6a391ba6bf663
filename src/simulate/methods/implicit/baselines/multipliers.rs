//! Free quaternions with a Lagrange multiplier for the length of each (Lu 2025, eq. 37): Newton's method for
//! the stationary point of Φ + Σ λ C.
//!
//! ```text
//! | H    k q | | dz |     | ∇Ψ    |      λ = k r a,  k: mean stiffness of the element, so that a is a length too
//! | k qᵀ  0  | | da | = − | k r C |
//! ```
//! solved by minimal residuals, preconditioned by the blocks of H and the Schur complements of the
//! constraints. The line search follows the slope of Φ + Σ λ C + ½ κ C² with the new multipliers, a function
//! that decreases along this direction.

use super::free::{FreeMatrix, FreeQuaternions, InverseBlocks, Seven};
use super::quadratic::{ITERATIONS, descend, stiffness};
use super::{ConvergenceRecord, Progress, StepProblem};
use crate::laws::energy::EnergyLaw;
use crate::simulate::methods::implicit::bonds::HessianForm;
use crate::simulate::methods::implicit::newton::MAX_GRADIENT_ITERATIONS;
use crate::solve::{Operator, Precondition, minimal_residuals, vector};

type Eight = [f64; 8];

/// Weight κ of the constraint violation in the merit function of the line search, over r² times the mean stiffness
/// of an element (r: its radius).
const CONSTRAINT_WEIGHT: f64 = 1.0;

pub fn run<W: EnergyLaw>(problem: &mut StepProblem<W>, record: &mut ConvergenceRecord) {
    problem.begin(record);
    let mut free = FreeQuaternions::new(&problem.system);
    let weights = stiffness(problem, CONSTRAINT_WEIGHT);
    let mut progress = Progress::default();
    for iteration in 1..=ITERATIONS {
        let (direction, gradients) = direction(problem, &mut free);
        free.stiffness.clone_from(&weights);
        let gradient = free.gradient(&problem.system, problem.start, &problem.newton.gradient);
        descend(problem, &mut free, &gradient, &direction);
        free.stiffness.fill(0.0);
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
    }
}

/// Newton's direction and the iterations of the linear solver. Updates the multipliers.
fn direction<W: EnergyLaw>(
    problem: &mut StepProblem<W>,
    free: &mut FreeQuaternions,
) -> (Vec<Seven>, u32) {
    let gradient = free.gradient(&problem.system, problem.start, &problem.newton.gradient);
    let mut iterations = 0;
    let mut best = None;
    for form in [HessianForm::Exact, HessianForm::Projected] {
        problem.assemble(form);
        let newton = &problem.newton;
        let matrix = free.matrix(
            (&problem.system, problem.start),
            (&newton.matrix, &newton.gradient),
            form,
        );
        let Some(blocks) = matrix.inverse_diagonal() else {
            continue;
        };
        let side = |i: usize| {
            let k = newton.stiffness[i];
            let q = free.q[i];
            let side = match problem.start.is_held(i) {
                true => [0.0; 4],
                false => [q.v.x, q.v.y, q.v.z, q.w].map(|q| k * q),
            };
            (side, k * problem.system.radius(i))
        };
        let (sides, scales): (Vec<[f64; 4]>, Vec<f64>) = (0..gradient.len()).map(side).unzip();
        let right = |i: usize| {
            let g = &gradient[i];
            let condition = match problem.start.is_held(i) {
                true => 0.0,
                false => scales[i] * free.violation(i),
            };
            [g[0], g[1], g[2], g[3], g[4], g[5], g[6], condition].map(|value| -value)
        };
        let right: Vec<Eight> = (0..gradient.len()).map(right).collect();
        let mut found = vec![[0.0; 8]; right.len()];
        let mut preconditioner = SaddlePreconditioner::new(blocks, &sides);
        let limits = (problem.forcing(), MAX_GRADIENT_ITERATIONS);
        let saddle = Saddle {
            matrix: &matrix,
            sides: &sides,
        };
        let solved = minimal_residuals(&saddle, &right, &mut found, &mut preconditioner, limits);
        iterations += solved.iterations;
        let direction: Vec<Seven> = found
            .iter()
            .map(|x| [x[0], x[1], x[2], x[3], x[4], x[5], x[6]])
            .collect();
        let mut image = vec![[0.0; 7]; direction.len()];
        matrix.times(&direction, &mut image);
        let steps: Vec<f64> = found.iter().zip(&scales).map(|(x, s)| x[7] * s).collect();
        let curvature = vector::dot(&direction, &image);
        best = Some((direction, steps));
        // There is no minimum along a direction of negative curvature.
        if curvature > 0.0 {
            break;
        }
    }
    let Some((direction, steps)) = best else {
        return (vec![[0.0; 7]; gradient.len()], iterations);
    };
    for (multiplier, step) in free.multiplier.iter_mut().zip(steps) {
        *multiplier += step;
    }
    (direction, iterations)
}

/// Hessian bordered by the constraints.
struct Saddle<'a> {
    matrix: &'a FreeMatrix<'a>,
    /// k q of each element; 0 if it is held.
    sides: &'a [[f64; 4]],
}

impl Operator<8> for Saddle<'_> {
    fn times(&self, x: &[Eight], y: &mut [Eight]) {
        let seven: Vec<Seven> = x
            .iter()
            .map(|x| [x[0], x[1], x[2], x[3], x[4], x[5], x[6]])
            .collect();
        let mut image = vec![[0.0; 7]; x.len()];
        self.matrix.times(&seven, &mut image);
        for (i, y) in y.iter_mut().enumerate() {
            y[..7].copy_from_slice(&image[i]);
            y[7] = 0.0;
            for (k, side) in self.sides[i].iter().enumerate() {
                y[3 + k] += side * x[i][7];
                y[7] += side * x[i][3 + k];
            }
        }
    }
}

/// Inverses of the blocks of H, and of the Schur complement k² qᵀ H⁻¹ q of each constraint.
struct SaddlePreconditioner {
    blocks: InverseBlocks,
    inverse: Vec<f64>,
}

impl SaddlePreconditioner {
    fn new(blocks: InverseBlocks, sides: &[[f64; 4]]) -> Self {
        let of = |(i, side): (usize, &[f64; 4])| {
            let [a, b, c, d] = *side;
            let column = [0.0, 0.0, 0.0, a, b, c, d];
            let image = blocks.apply_at(i, &column);
            let complement: f64 = column.iter().zip(image).map(|(a, b)| a * b).sum();
            if complement > 0.0 {
                1.0 / complement
            } else {
                1.0
            }
        };
        let inverse = sides.iter().enumerate().map(of).collect();
        SaddlePreconditioner { blocks, inverse }
    }
}

impl Precondition<8> for SaddlePreconditioner {
    fn apply(&mut self, r: &[Eight], z: &mut [Eight]) {
        for (i, (r, z)) in r.iter().zip(z).enumerate() {
            z[..7].copy_from_slice(&self.blocks.apply_at(i, &r[..7]));
            z[7] = self.inverse[i] * r[7];
        }
    }
}
