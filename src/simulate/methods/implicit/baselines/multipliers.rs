//! Free quaternions and a Lagrange multiplier for the length of each (Lu 2025, eq. 37): Newton's method for
//! the stationary point of Φ + Σ λ C.
//!
//! ```text
//! | H    k q | | dz |     | ∇Ψ    |      λ = k r a,  k: mean stiffness of the element, so that a is a length too
//! | k qᵀ  0  | | da | = − | k r C |
//! ```
//! solved by minimal residuals with the blocks of H and the complements of the conditions on the diagonal.
//! How far to go is decided by the slope of Φ + Σ λ C + ½ κ C² with the multipliers found, along which this
//! direction falls.

use super::free::{Blocks, Free, FreeMatrix, Seven};
use super::quadratic::{ITERATIONS, descend, stiffness};
use super::{Bench, Record, Standing};
use crate::laws::energy::EnergyLaw;
use crate::simulate::methods::implicit::bonds::Form;
use crate::simulate::methods::implicit::newton::MOST_GRADIENTS;
use crate::solve::{Operator, Precondition, minimal_residuals, vector};

type Eight = [f64; 8];

/// κ of the line search over r² times the mean stiffness of an element.
const WEIGHT: f64 = 1.0;

pub fn run<W: EnergyLaw>(bench: &mut Bench<W>, record: &mut Record) {
    bench.begin(record);
    let mut free = Free::new(&bench.system);
    let weights = stiffness(bench, WEIGHT);
    let mut standing = Standing::default();
    for iteration in 1..=ITERATIONS {
        let (direction, gradients) = direction(bench, &mut free);
        free.stiffness.clone_from(&weights);
        let gradient = free.gradient(&bench.system, bench.start, &bench.newton.gradient);
        descend(bench, &mut free, &gradient, &direction);
        free.stiffness.fill(0.0);
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
    }
}

/// Newton's direction, and the iterations of the linear solver that it took; the multipliers are brought to
/// their new values.
fn direction<W: EnergyLaw>(bench: &mut Bench<W>, free: &mut Free) -> (Vec<Seven>, u32) {
    let gradient = free.gradient(&bench.system, bench.start, &bench.newton.gradient);
    let mut iterations = 0;
    let mut best = None;
    for form in [Form::Exact, Form::Projected] {
        bench.assemble(form);
        let newton = &bench.newton;
        let matrix = free.matrix(
            (&bench.system, bench.start),
            (&newton.matrix, &newton.gradient),
            form,
        );
        let Some(blocks) = matrix.inverse_diagonal() else {
            continue;
        };
        let side = |i: usize| {
            let k = newton.stiffness[i];
            let q = free.q[i];
            let side = match bench.start.is_held(i) {
                true => [0.0; 4],
                false => [q.v.x, q.v.y, q.v.z, q.w].map(|q| k * q),
            };
            (side, k * bench.system.radius(i))
        };
        let (sides, scales): (Vec<[f64; 4]>, Vec<f64>) = (0..gradient.len()).map(side).unzip();
        let right = |i: usize| {
            let g = &gradient[i];
            let condition = match bench.start.is_held(i) {
                true => 0.0,
                false => scales[i] * free.violation(i),
            };
            [g[0], g[1], g[2], g[3], g[4], g[5], g[6], condition].map(|value| -value)
        };
        let right: Vec<Eight> = (0..gradient.len()).map(right).collect();
        let mut found = vec![[0.0; 8]; right.len()];
        let mut preconditioner = Complements::new(blocks, &sides);
        let limits = (bench.forcing(), MOST_GRADIENTS);
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
        // Along a direction of negative curvature lies no minimum.
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

/// Second derivatives bordered by the conditions.
struct Saddle<'a> {
    matrix: &'a FreeMatrix<'a>,
    /// k q of each element; 0 where it is held.
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

/// Inverses of the blocks of H, and of the complement k² qᵀ H⁻¹ q of each condition.
struct Complements {
    blocks: Blocks,
    inverse: Vec<f64>,
}

impl Complements {
    fn new(blocks: Blocks, sides: &[[f64; 4]]) -> Self {
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
        Complements { blocks, inverse }
    }
}

impl Precondition<8> for Complements {
    fn apply(&mut self, r: &[Eight], z: &mut [Eight]) {
        for (i, (r, z)) in r.iter().zip(z).enumerate() {
            z[..7].copy_from_slice(&self.blocks.apply_at(i, &r[..7]));
            z[7] = self.inverse[i] * r[7];
        }
    }
}
