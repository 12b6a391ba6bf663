//! Benchmarks: the limits of this machine, and the performance of cullet compared with them, in one table.
//!
//! `cargo run --release --example bench -- [--json] [--elements 1e4,1e5,1e6] [--threads 1,2] [--only
//! simulate,pack,…] [--stage-elements 1e6]`
//!
//! Every figure is the best of several short runs, with the median next to it; run nothing else meanwhile.
//! `--store DIR --steps N` times the steps of a packed store instead.

mod count;
mod peak;
mod scenes;
mod stages;
mod steps;
mod table;
mod timing;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use cullet::simulate::schedule;
use cullet::store::{Manifest, Store};

use scenes::{Failure, SCENE_KINDS, Scene};
use steps::{Limits, StepCounts};
use table::{Cell, Table};

/// Measures the machine's limits, whole steps of three scenes, and the stages around them.
#[derive(Parser)]
struct Arguments {
    /// Prints JSON instead of tables.
    #[arg(long)]
    json: bool,
    /// Approximate numbers of elements of the scenes.
    #[arg(long, value_delimiter = ',', default_value = "1e4,1e5,1e6", value_parser = elements)]
    elements: Vec<f64>,
    /// Numbers of threads for the steps; default: one, and all available.
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..))]
    threads: Vec<u16>,
    /// Only these parts.
    #[arg(long, value_delimiter = ',', value_enum)]
    only: Vec<Part>,
    /// Approximate number of elements of the largest other stages; surfaces and random packings have a tenth
    /// of it.
    #[arg(long, default_value = "1e6", value_parser = elements)]
    stage_elements: f64,
    /// A packed store whose steps are timed instead.
    #[arg(long, conflicts_with_all = ["elements", "only", "stage_elements"])]
    store: Option<PathBuf>,
    /// Steps of each run on the store.
    #[arg(long, default_value_t = 100, requires = "store", value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,
    /// Number of runs on the store.
    #[arg(long, default_value_t = 5, requires = "store", value_parser = clap::value_parser!(u16).range(1..))]
    runs: u16,
}

/// Parts of the table. The machine's limits are also measured for steps, which are compared with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Peaks of arithmetic and memory bandwidth.
    Machine,
    /// Time steps.
    Simulate,
    /// Packing.
    Pack,
    /// Surface reconstruction.
    Reconstruct,
    /// Exports.
    Export,
    /// Frames, states and packings on disk.
    Store,
}

fn elements(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (64.0..=1e8).contains(&value) => Ok(value),
        _ => Err("expected a number of elements from 64 to 1e8".to_owned()),
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match print(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("bench: {failure}");
            // Only a store named by the user can be at fault.
            ExitCode::from(if arguments.store.is_some() { 2 } else { 1 })
        }
    }
}

fn print(arguments: &Arguments) -> Result<(), Failure> {
    if cfg!(debug_assertions) {
        eprintln!("bench: built with checks, figures mean little; use --release");
    }
    let tables = match &arguments.store {
        Some(folder) => vec![packed_store(folder, arguments)?],
        None => all_tables(arguments)?,
    };
    if arguments.json {
        let pairs = tables
            .iter()
            .map(|table| (table.title.to_owned(), table.json()));
        println!("{}", serde_json::Value::Object(pairs.collect()));
    } else {
        let texts: Vec<String> = tables.iter().map(Table::text).collect();
        println!("{}", texts.join("\n\n"));
    }
    Ok(())
}

/// Reports progress on standard error; the tables are printed at the end.
fn report_progress(what: &str) {
    eprintln!("bench: {what}");
}

fn threads(arguments: &Arguments) -> Vec<usize> {
    if !arguments.threads.is_empty() {
        return arguments.threads.iter().map(|&n| usize::from(n)).collect();
    }
    let mut counts = vec![1, rayon::current_num_threads()];
    counts.dedup();
    counts
}

fn all_tables(arguments: &Arguments) -> Result<Vec<Table>, Failure> {
    let wanted = |part: Part| arguments.only.is_empty() || arguments.only.contains(&part);
    let mut tables = Vec::new();
    if wanted(Part::Machine) || wanted(Part::Simulate) {
        report_progress("limits of the machine");
        let mut machine = Table::new("machine", steps::MACHINE);
        let counts = threads(arguments).into_iter();
        let limits: Vec<Limits> = counts.map(|n| steps::limits(n, &mut machine)).collect();
        let simulated = wanted(Part::Simulate).then(|| simulate(arguments, &limits, &mut machine));
        tables.push(machine);
        tables.extend(simulated.transpose()?);
    }
    let mut around = Table::new("stages", stages::COLUMNS);
    let size = stages::StageSizes::of(arguments.stage_elements);
    if wanted(Part::Pack) {
        report_progress("packing");
        stages::packing(&mut around, size)?;
    }
    if wanted(Part::Reconstruct) || wanted(Part::Export) {
        report_progress("surfaces");
        let parts = (wanted(Part::Reconstruct), wanted(Part::Export));
        stages::surfaces(&mut around, size, parts)?;
    }
    if wanted(Part::Store) {
        report_progress("frames on disk");
        stages::storage(&mut around, size)?;
        stages::frame_cost(&mut around, size)?;
    }
    if !around.rows.is_empty() {
        tables.push(around);
    }
    Ok(tables)
}

fn simulate(arguments: &Arguments, all: &[Limits], machine: &mut Table) -> Result<Table, Failure> {
    let mut table = Table::new("simulate", steps::COLUMNS);
    for kind in SCENE_KINDS {
        let dt = kind.step()?;
        for &elements in &arguments.elements {
            let scene = kind.scene(elements)?;
            let course = StepCounts::of(kind, scene.packing.elements.id.len());
            for limits in all {
                report_progress(&format!(
                    "{} of {elements:e}, {} threads",
                    kind.name(),
                    limits.threads
                ));
                let found = steps::measure(&scene, dt, limits.threads, course)?;
                table.push(steps::row(kind.name(), &scene, limits, course, &found));
                let place = vec![
                    "what steps ran on".into(),
                    limits.threads.into(),
                    Cell::Absent,
                    found.place.into(),
                ];
                if table.rows.len() <= all.len() {
                    machine.push(place);
                }
            }
        }
    }
    Ok(table)
}

/// Times the steps of a packed store.
fn packed_store(folder: &Path, arguments: &Arguments) -> Result<Table, Failure> {
    let store = Store::open(folder)?;
    let manifest = Manifest::read(&store)?;
    let pipeline = manifest.pipeline.ok_or("store.json holds no pipeline")?;
    let packing = store.read_packing()?;
    let dt = schedule(&packing, &pipeline)?.dt;
    let scene = Scene { packing, pipeline };
    let mut table = Table::new("simulate", steps::COLUMNS);
    for count in threads(arguments) {
        let limits = Limits {
            threads: count,
            flops: None,
            triad: None,
        };
        let course = StepCounts {
            warm_up: arguments.steps.div_ceil(10),
            steps: arguments.steps,
            runs: usize::from(arguments.runs),
        };
        let found = steps::measure(&scene, dt, count, course)?;
        let name = folder.display().to_string();
        table.push(steps::row(&name, &scene, &limits, course, &found));
    }
    Ok(table)
}
