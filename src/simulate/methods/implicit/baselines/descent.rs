//! First-order manifold optimisation (Lu 2025, algorithm 1): descent along geodesics in the metric of the
//! diagonal blocks, with conjugate directions (Polak and Ribière) where these help. Steepest descent alone
//! would hardly move a slender body.

use super::{ConvergenceRecord, Progress, StepProblem};
use crate::laws::energy::EnergyLaw;
use crate::simulate::methods::implicit::bonds::HessianForm;
use crate::simulate::methods::implicit::line;
use crate::simulate::methods::implicit::start::displace;
use crate::solve::vector;

/// Most iterations.
const ITERATIONS: u32 = 3000;
/// Iterations between updates of the diagonal blocks; each update restarts with steepest descent.
const RESTART_INTERVAL: u32 = 200;
/// Fraction of the initial slope that may remain at the end of a line search: conjugate directions need a
/// more exact search than Newton's method.
const MAX_REMAINING_SLOPE: f64 = 0.1;

pub fn run<W: EnergyLaw>(problem: &mut StepProblem<W>, record: &mut ConvergenceRecord) {
    problem.begin(record);
    let zeros = vec![[0.0; 6]; problem.system.count];
    let (mut steepest, mut before, mut direction) = (zeros.clone(), zeros.clone(), zeros);
    let (mut factor, mut product_before) = (1.0, f64::INFINITY);
    let mut diagonal = None;
    for iteration in 1..=ITERATIONS {
        if (iteration - 1) % RESTART_INTERVAL == 0 {
            problem.assemble(HessianForm::Projected);
            diagonal = problem.newton.matrix.inverse_diagonal().ok();
            product_before = f64::INFINITY;
        }
        let Some(diagonal) = &diagonal else { return };
        std::mem::swap(&mut steepest, &mut before);
        diagonal.times(&problem.newton.gradient, &mut steepest);
        let gradient = &problem.newton.gradient;
        let product = vector::dot(gradient, &steepest);
        let conjugate = (product - vector::dot(gradient, &before)) / product_before;
        vector::scale_and_subtract(&mut direction, conjugate.max(0.0), &steepest);
        let mut slope = vector::dot(gradient, &direction);
        if slope >= 0.0 {
            vector::scale_and_subtract(&mut direction, 0.0, &steepest);
            slope = -product;
        }
        product_before = product;
        let most = line::largest_multiple(&problem.system, &direction);
        let mut at = 0.0;
        factor = line::search(
            slope,
            [most.min(factor), most],
            MAX_REMAINING_SLOPE,
            &mut |part| {
                displace(&mut problem.system, &direction, part - at);
                at = part;
                problem.evaluate();
                vector::dot(&problem.newton.gradient, &direction)
            },
        );
        let progress = Progress {
            iteration,
            residual: problem.residual(),
            ..Progress::default()
        };
        record.note(progress);
        if progress.is_last(problem.settings.tolerance) {
            return;
        }
    }
}
