//! Whole steps a second of explicit bonded DEM on the CPU: an elastic block of hexagonal packing, contacts watched, criteria on.
//!
//! `cargo run --release --example bench_simulate -- [ELEMENTS] [STEPS]`

use std::time::Instant;

use cullet::simulate::{engine, schedule};
use cullet::spec::{self, Backend};

#[path = "bench/block.rs"]
mod block;

fn main() {
    let mut numbers = std::env::args()
        .skip(1)
        .map(|a| a.parse::<f64>().expect("a number"));
    let elements = numbers.next().unwrap_or(100_000.0);
    let edge = elements.cbrt().round() as usize;
    let packing = block::block(edge, 1e9);
    let count = packing.elements.id.len();
    let steps = numbers
        .next()
        .map_or(20_000_000 / count as u64 + 10, |s| s as u64);
    let pipeline = spec::parse(block::PIPELINE, "bench", &[]).expect("a valid pipeline");
    let plan = schedule(&packing, &pipeline).expect("a schedule");
    let dt = 0.4 * plan.critical;
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        let rate = pool.install(|| {
            let mut run = engine(&packing, &pipeline, Backend::Cpu, dt).expect("an engine");
            run.advance(steps / 10 + 1).expect("finite");
            let clock = Instant::now();
            run.advance(steps).expect("finite");
            count as f64 * steps as f64 / clock.elapsed().as_secs_f64()
        });
        println!(
            "{count} elements, {threads} threads: {:.2} M element-steps/s",
            rate / 1e6
        );
    }
}
