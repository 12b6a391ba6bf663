//! The command line: one subcommand a stage, and `run` for all of them.

mod adapters;
mod bodies;
mod branch;
mod check;
mod inspect;
mod interrupt;
mod plot;
mod progress;
mod run;
mod stages;
mod summary;
mod task;
mod validate;

use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::spec::{Backend, ExportFormat, Up};
use crate::units;

/// Breaks things: bonded discrete elements from packing to fragment meshes.
///
/// Each stage reads and writes a frame store and nothing else, so any stage can be rerun, scripted or swapped.
#[derive(Debug, Parser)]
#[command(name = "cullet", version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Print nothing but errors.
    #[arg(long, global = true)]
    quiet: bool,
    /// Print one JSON object a line instead of text.
    #[arg(long, global = true)]
    json: bool,
    /// Threads; default: one a core.
    #[arg(long, global = true, value_name = "N")]
    threads: Option<usize>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run all stages of a pipeline file.
    Run(RunArguments),
    /// Fill the bodies of a pipeline with bonded elements.
    Pack(PackArguments),
    /// Integrate a packed store in time, with fracture.
    Simulate(SimulateArguments),
    /// Rebuild the surfaces of the fragments.
    Reconstruct(FramesArguments),
    /// Export surfaces to renderers.
    Export(ExportArguments),
    /// Draw a PNG per frame and one contact sheet.
    Preview(FramesArguments),
    /// Draw charts as SVG and PNG: energies, breaks, masses of fragments.
    Plot(plot::PlotArguments),
    /// Print what is in a store.
    Inspect {
        /// Frame store.
        store: PathBuf,
        /// Print what is missing or wrong instead, by file, column and row; exit code 1 if anything is.
        #[arg(long)]
        validate: bool,
    },
    /// Resolve a pipeline without running it: counts, time step, steps, memory, disk, time.
    Check {
        /// Pipeline file.
        pipeline: PathBuf,
        /// Override a value: dotted path, entries by name or index.
        #[arg(long = "set", value_name = "KEY=VALUE")]
        set: Vec<String>,
    },
    /// List graphics adapters, their limits, and what each lacks.
    Adapters,
    /// Print a JSON Schema of pipeline files, for editors.
    Schema,
    /// Print shell completions.
    Completions {
        /// Shell.
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, clap::Args)]
struct PackArguments {
    /// Pipeline file.
    pipeline: PathBuf,
    /// Frame store; made if absent.
    #[arg(long)]
    out: PathBuf,
    /// Override a value: dotted path, entries by name or index.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
}

#[derive(Debug, clap::Args)]
struct RunArguments {
    /// Pipeline file.
    pipeline: PathBuf,
    /// Frame store; default: out/NAME in the current folder.
    #[arg(long)]
    out: Option<PathBuf>,
    /// First stage to run; it and those after it run even if nothing changed. Default: each stage that has something to do.
    #[arg(long)]
    from: Option<Stage>,
    /// Last stage to run.
    #[arg(long, default_value = "preview")]
    to: Stage,
    /// Run every stage, whether anything changed or not.
    #[arg(long)]
    force: bool,
    /// Continue a simulation that was stopped; the packing is kept.
    #[arg(long)]
    resume: bool,
    /// Continue from the state of this frame; what lies behind it is removed.
    #[arg(long, value_name = "FRAME")]
    state: Option<u32>,
    /// Continue in a new store, which begins with the state (the newest, or --state) and may follow other physics.
    #[arg(long, value_name = "NEW_DIR")]
    branch: Option<PathBuf>,
    /// Override a value: dotted path, entries by name or index.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
}

#[derive(Debug, clap::Args)]
struct SimulateArguments {
    /// Frame store with a packing.
    store: PathBuf,
    /// Continue from the newest state.
    #[arg(long)]
    resume: bool,
    /// Continue from the state of this frame; what lies behind it is removed.
    #[arg(long, value_name = "FRAME")]
    state: Option<u32>,
    /// Continue in a new store, which begins with the state (the newest, or --state).
    #[arg(long, value_name = "NEW_DIR")]
    branch: Option<PathBuf>,
    /// Where to compute.
    #[arg(long)]
    backend: Option<Backend>,
    /// Part of a graphics adapter's name, as `cullet adapters` lists it; with it the backend is gpu.
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
    /// End with the last whole frame up to this time instead of the pipeline's: with a unit ("20 ms"), or s.
    #[arg(long)]
    until: Option<String>,
}

#[derive(Debug, clap::Args)]
struct FramesArguments {
    /// Frame store.
    store: PathBuf,
    /// Frames A..B (without B; either may be left out), A..=B or A-B (with B), or one frame A.
    #[arg(long, value_parser = frame_range, default_value = "..")]
    frames: Range<u32>,
}

#[derive(Debug, clap::Args)]
struct ExportArguments {
    /// Frame store.
    store: PathBuf,
    /// Format.
    #[arg(long)]
    format: ExportFormat,
    /// Frames A..B (without B; either may be left out), A..=B or A-B (with B), or one frame A.
    #[arg(long, value_parser = frame_range, default_value = "..")]
    frames: Range<u32>,
    /// Up in the files (glTF's is y, VTK's is the shot's); default: export.up, else where the shot's gravity comes from.
    #[arg(long)]
    up: Option<Up>,
    /// Units of the files in a metre, 100 for centimetres (VTK's are metres); default: export.scale.
    #[arg(long, value_parser = scale)]
    scale: Option<f64>,
    /// In USD, fragments below this size at rest are instances of a few shapes: with a unit ("4 mm"), or m; default: export.debris_size.
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    debris_size: Option<f64>,
    /// Target file or folder; default: inside the store.
    #[arg(long)]
    to: Option<PathBuf>,
}

/// The stages in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
enum Stage {
    Pack,
    Simulate,
    Reconstruct,
    Export,
    Preview,
}

fn scale(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(scale) if (1e-6..=1e6).contains(&scale) => Ok(scale),
        _ => Err(format!("{text} is no number from 1e-6 to 1e6")),
    }
}

fn length(text: &str) -> Result<f64, String> {
    match units::parse(text, units::Dimension::Length) {
        Ok(length) if length > 0.0 => Ok(length),
        Ok(_) => Err(format!("{text} is not above 0")),
        Err(error) => Err(error.to_string()),
    }
}

/// How frames are asked for.
const FRAMES: &str = "wanted A..B (without B), A..=B or A-B (with B) or one frame A, for example 0..10, 5.., 0..=9, 0-9 or 9";

fn frame_range(text: &str) -> Result<Range<u32>, String> {
    let number = |part: &str| -> Result<u32, String> {
        let wrong = |_| match part {
            "" => FRAMES.to_owned(),
            _ => format!("{part:?} is no frame number; {FRAMES}"),
        };
        part.parse().map_err(wrong)
    };
    let first = |part: &str| if part.is_empty() { Ok(0) } else { number(part) };
    let (from, last) = if let Some((from, last)) = text.split_once("..=") {
        (first(from)?, number(last)?)
    } else if let Some((from, "")) = text.split_once("..") {
        return Ok(first(from)?..u32::MAX);
    } else if let Some((from, to)) = text.split_once("..") {
        let (from, to) = (first(from)?, number(to)?);
        if from == to {
            return Err(format!(
                "{text} holds no frame: B is left out; {from}..={to} holds one"
            ));
        }
        (from, to.saturating_sub(1))
    } else if let Some((from, last)) = text.split_once('-') {
        (number(from)?, number(last)?)
    } else {
        let frame = number(text)?;
        (frame, frame)
    };
    if last < from {
        return Err(format!("{text} runs backwards"));
    }
    Ok(from..last.saturating_add(1))
}

/// What is wrong with the use of the program rather than with its run: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct WrongUse(String);

/// Ended by the user; a later run continues.
#[derive(Debug, thiserror::Error)]
#[error("interrupted; continue with --resume")]
struct Interrupted;

/// Runs the program.
pub fn main() -> ExitCode {
    // Errors of the command line itself are clap's: message, usage, exit code 2.
    let arguments = Arguments::parse();
    interrupt::install();
    match command(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cullet: {}", chain(&error));
            exit_code(&error)
        }
    }
}

/// The causes on one line; one that its parent has told already is not told again.
fn chain(error: &anyhow::Error) -> String {
    error.chain().fold(String::new(), |mut told, cause| {
        let cause = cause.to_string();
        if !told.contains(&cause) {
            if !told.is_empty() {
                told += ": ";
            }
            told += &cause;
        }
        told
    })
}

/// Whether the user caused this, as its type says; errors that pass others on ask those.
fn caused_by_user(cause: &(dyn std::error::Error + 'static)) -> bool {
    fn says<E: std::error::Error + 'static>(
        cause: &(dyn std::error::Error + 'static),
        caused_by_user: fn(&E) -> bool,
    ) -> bool {
        cause.downcast_ref().is_some_and(caused_by_user)
    }
    // A pipeline file is the user's as a whole.
    cause.is::<WrongUse>()
        || cause.is::<crate::spec::SpecErrors>()
        || says(cause, crate::pack::PackError::caused_by_user)
        || says(cause, crate::simulate::SimulateError::caused_by_user)
        || says(cause, crate::reconstruct::ReconstructError::caused_by_user)
        || says(cause, crate::export::ExportError::caused_by_user)
        || says(cause, crate::preview::PreviewError::caused_by_user)
        || says(cause, crate::plot::PlotError::caused_by_user)
        || says(cause, crate::store::StoreError::caused_by_user)
}

fn exit_code(error: &anyhow::Error) -> ExitCode {
    if error.is::<Interrupted>() {
        return ExitCode::from(interrupt::EXIT_CODE as u8);
    }
    ExitCode::from(if error.chain().any(caused_by_user) {
        2
    } else {
        1
    })
}

/// A line on standard output; a closed pipe is an error here and no failure in [`main`].
fn print(line: &str) -> anyhow::Result<()> {
    writeln!(std::io::stdout().lock(), "{line}")?;
    Ok(())
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

fn command(arguments: &Arguments) -> anyhow::Result<()> {
    if let Some(threads) = arguments.threads {
        if threads == 0 {
            return Err(WrongUse("--threads: 0 given; at least 1 is needed".into()).into());
        }
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global()?;
    }
    let report = progress::Report::new(arguments.quiet, arguments.json);
    match &arguments.command {
        Command::Run(arguments) => run::run(arguments, &report),
        Command::Pack(pack) => run::pack(pack, &report),
        Command::Simulate(simulate) => run::simulate(simulate, &report),
        Command::Reconstruct(frames) => run::reconstruct(frames, &report),
        Command::Export(export) => run::export(export, &report),
        Command::Preview(frames) => run::preview(frames, &report),
        Command::Plot(arguments) => plot::plot(arguments, &report),
        Command::Inspect { store, validate } if *validate => {
            validate::validate(store, arguments.json)
        }
        Command::Inspect { store, .. } => inspect::inspect(store, arguments.json),
        Command::Check { pipeline, set } => check::check(pipeline, set, arguments.json),
        Command::Adapters => adapters::adapters(arguments.json),
        Command::Schema => print(&crate::spec::json_schema()),
        Command::Completions { shell } => {
            let mut command = Arguments::command();
            let mut text = Vec::new();
            clap_complete::generate(*shell, &mut command, "cullet", &mut text);
            print(&String::from_utf8_lossy(&text))
        }
    }
}
