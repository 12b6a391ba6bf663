//! Time steps of a scene on the CPU: steps per second, the share of each pass, and the fraction of the
//! machine's limits.

use cullet::simulate::PassCost;
use cullet::simulate::{Method, SimulateError, method};
use cullet::spec::Backend;

use super::count;
use super::peak::{self, InstructionSet};
use super::scenes::{Failure, Scene, SceneKind};
use super::table::{Cell, Column, Table, column};
use super::timing::Timing;

/// Columns of the table of time steps.
pub const COLUMNS: &[Column] = &[
    column("scene", "whole steps", 1.0, 0),
    column("elements", "elements", 1.0, 0),
    column("threads", "threads", 1.0, 0),
    column("element_steps_per_second", "M/s best", 1e-6, 2),
    column("element_steps_per_second_median", "median", 1e-6, 2),
    column("element_steps_per_second_mean", "mean", 1e-6, 2),
    column("thread_seconds_per_element_step", "thread-ns each", 1e9, 1),
    column("bonds_per_element", "bonds", 1.0, 2),
    column("contacts_per_element", "contacts", 1.0, 2),
    column("broken", "broken %", 100.0, 2),
    column("flops_per_element_step", "flops", 1.0, 0),
    column("part_of_fma_peak", "of FMA %", 100.0, 1),
    column("bytes_per_element_step", "bytes", 1.0, 0),
    column("part_of_triad", "of triad %", 100.0, 1),
    column("passes", "split", 1.0, 0),
];

/// Columns of the table of the machine's limits.
pub const MACHINE: &[Column] = &[
    column("limit", "limit of the machine", 1.0, 0),
    column("threads", "threads", 1.0, 0),
    column("value", "value", 1e-9, 1),
    column("unit", "unit", 1.0, 0),
];

/// Limits for a number of threads.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Number of threads.
    pub threads: usize,
    /// Single-precision operations per second in the widest lanes; `None` where unknown.
    pub flops: Option<f64>,
    /// Bytes per second of the triad, where measured.
    pub triad: Option<f64>,
}

/// Measures the limits for `threads` threads and adds their rows to the table.
pub fn limits(threads: usize, table: &mut Table) -> Limits {
    let mut row = |name: &str, value: f64, unit: &str| {
        table.push(vec![name.into(), threads.into(), value.into(), unit.into()]);
    };
    let mut flops = None;
    for lanes in InstructionSet::available() {
        let peak = lanes.peak(threads);
        row(&format!("FMA, f32, {}", lanes.name()), peak, "GFLOP/s");
        flops = Some(flops.map_or(peak, |other: f64| other.max(peak)));
    }
    let triad = peak::triad(threads);
    row("triad, 3 arrays of 128 MiB", triad, "GB/s");
    Limits {
        threads,
        flops,
        triad: Some(triad),
    }
}

/// Numbers of steps and runs to time.
#[derive(Clone, Copy, Debug)]
pub struct StepCounts {
    /// Steps before timing starts.
    pub warm_up: u64,
    /// Steps per run.
    pub steps: u64,
    /// Number of runs.
    pub runs: usize,
}

impl StepCounts {
    /// For a scene of `count` elements: runs of some hundredths of a second, of so few steps that scenes of
    /// all sizes are timed in similar states.
    pub fn of(kind: SceneKind, count: usize) -> Self {
        StepCounts {
            warm_up: kind.warm_up(count),
            steps: (600_000 / count as u64).clamp(3, 20),
            runs: if count > 500_000 { 5 } else { 9 },
        }
    }
}

/// Timing of the steps of one run on a pool of threads.
pub struct Measured {
    /// Seconds of the runs.
    pub timing: Timing,
    /// Costs of the passes during the runs.
    pub costs: Vec<PassCost>,
    /// Broken bonds at the end.
    pub broken: u32,
    /// Contacts at the end.
    pub contacts: u32,
    /// Name of the platform that it ran on.
    pub place: String,
}

/// Times steps on `threads` threads.
pub fn measure(
    scene: &Scene,
    dt: f64,
    threads: usize,
    course: StepCounts,
) -> Result<Measured, Failure> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()?;
    Ok(pool.install(|| run(scene, dt, course))?)
}

fn run(scene: &Scene, dt: f64, course: StepCounts) -> Result<Measured, SimulateError> {
    let mut engine: Box<dyn Method> = method(&scene.packing, &scene.pipeline, Backend::Cpu, dt)?;
    engine.advance(course.warm_up)?;
    let before = engine.costs();
    let timing = Timing::runs(course.runs, || engine.advance(course.steps))?;
    let mut costs = engine.costs();
    for (cost, start) in costs.iter_mut().zip(before) {
        cost.seconds -= start.seconds;
    }
    let history = engine.snapshot(0)?.history;
    Ok(Measured {
        timing,
        costs,
        broken: history.broken[0],
        contacts: history.contacts[0],
        place: engine.platform().name,
    })
}

/// The table row of a scene.
pub fn row(
    name: &str,
    scene: &Scene,
    limits: &Limits,
    course: StepCounts,
    found: &Measured,
) -> Vec<Cell> {
    let elements = scene.packing.elements.id.len() as f64;
    let bonds = scene.packing.bonds.id.len() as f64;
    let rate = |seconds: f64| elements * course.steps as f64 / seconds;
    let best = rate(found.timing.best);
    let contacts = f64::from(found.contacts) / elements;
    let broken = f64::from(found.broken) / bonds.max(1.0);
    let whole = (bonds - f64::from(found.broken)) / elements;
    let flops = whole * count::per_bond() as f64
        + contacts * count::per_contact() as f64
        + count::per_element() as f64;
    let bytes = found
        .costs
        .iter()
        .map(|cost| cost.bytes as f64)
        .sum::<f64>()
        / elements;
    let bytes = (bytes > 0.0).then_some(bytes);
    vec![
        name.into(),
        scene.packing.elements.id.len().into(),
        limits.threads.into(),
        best.into(),
        rate(found.timing.median).into(),
        rate(found.timing.mean).into(),
        (limits.threads as f64 / best).into(),
        (bonds / elements).into(),
        contacts.into(),
        broken.into(),
        flops.into(),
        limits.flops.map(|peak| flops * best / peak).into(),
        bytes.into(),
        bytes
            .zip(limits.triad)
            .map(|(bytes, triad)| bytes * best / triad)
            .into(),
        pass_shares(&found.costs).into(),
    ]
}

/// Shares of the passes as text, the largest first.
fn pass_shares(costs: &[PassCost]) -> Option<String> {
    let total: f64 = costs.iter().map(|cost| cost.seconds).sum();
    let mut costs = costs.to_vec();
    costs.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    let parts = costs
        .iter()
        .map(|cost| format!("{} {:.0} %", cost.name, 100.0 * cost.seconds / total));
    (total > 0.0).then(|| parts.collect::<Vec<_>>().join(", "))
}
