//! First-order manifold optimisation (Lu 2025, algorithm 1): descent along geodesics, in the metric of the
//! blocks on the diagonal, with conjugate directions (Polak and Ribière) where these help: steepest descent
//! alone would hardly move a slender body.

use super::{Bench, Record, Standing};
use crate::laws::energy::EnergyLaw;
use crate::simulate::methods::implicit::bonds::Form;
use crate::simulate::methods::implicit::line;
use crate::simulate::methods::implicit::start::displace;
use crate::solve::vector;

/// Iterations at most.
const ITERATIONS: u32 = 3000;
/// Iterations between two looks at the blocks on the diagonal; each begins with the steepest descent.
const RENEWED: u32 = 200;
/// Part of the slope that may be left along a line: conjugate directions ask for more than Newton's.
const LEFT: f64 = 0.1;

pub fn run<W: EnergyLaw>(bench: &mut Bench<W>, record: &mut Record) {
    bench.begin(record);
    let zeros = vec![[0.0; 6]; bench.system.count];
    let (mut steepest, mut before, mut direction) = (zeros.clone(), zeros.clone(), zeros);
    let (mut factor, mut product_before) = (1.0, f64::INFINITY);
    let mut diagonal = None;
    for iteration in 1..=ITERATIONS {
        if (iteration - 1) % RENEWED == 0 {
            bench.assemble(Form::Projected);
            diagonal = bench.newton.matrix.inverse_diagonal().ok();
            product_before = f64::INFINITY;
        }
        let Some(diagonal) = &diagonal else { return };
        std::mem::swap(&mut steepest, &mut before);
        diagonal.times(&bench.newton.gradient, &mut steepest);
        let gradient = &bench.newton.gradient;
        let product = vector::dot(gradient, &steepest);
        let conjugate = (product - vector::dot(gradient, &before)) / product_before;
        vector::scale_and_subtract(&mut direction, conjugate.max(0.0), &steepest);
        let mut slope = vector::dot(gradient, &direction);
        if slope >= 0.0 {
            vector::scale_and_subtract(&mut direction, 0.0, &steepest);
            slope = -product;
        }
        product_before = product;
        let most = line::farthest(&bench.system, &direction);
        let mut at = 0.0;
        factor = line::search(slope, [most.min(factor), most], LEFT, &mut |part| {
            displace(&mut bench.system, &direction, part - at);
            at = part;
            bench.evaluate();
            vector::dot(&bench.newton.gradient, &direction)
        });
        let standing = Standing {
            iteration,
            residual: bench.residual(),
            ..Standing::default()
        };
        record.note(standing);
        if standing.is_last(bench.settings.tolerance) {
            return;
        }
    }
}
