//! The command line: one subcommand per stage, and `run` for all of them.

mod adapters;
mod arguments;
mod bodies;
mod branch;
mod calibrate;
mod check;
mod check_mesh;
mod detail;
mod error;
mod inspect;
mod interrupt;
mod jobs;
mod man;
mod notices;
mod plot;
mod print;
mod progress;
mod ranks;
mod run;
mod stage_inputs;
mod stages;
mod streamed;
mod stress;
mod summary;
mod validate;
mod value;
mod view;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use serde_json::json;

use arguments::{
    ExportArguments, FramesArguments, PackArguments, RunArguments, SimulateArguments,
    StressArguments,
};
use error::{Interrupted, WrongUse};
use print::print;
use ranks::Launch;

use crate::geometry::closing::Region;

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
    /// Print one JSON object per line instead of text.
    #[arg(long, global = true)]
    json: bool,
    /// How progress is printed.
    #[arg(long, global = true, value_name = "FORM", default_value = "auto")]
    progress: progress::ProgressForm,
    /// Number of threads; default: one per core.
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
    /// Compute the stress in bodies under static loads by boundary elements.
    ///
    /// The result says where they would crack, and how close they are to that.
    Stress(StressArguments),
    /// Rebuild the surfaces of the fragments.
    Reconstruct(FramesArguments),
    /// Export surfaces to renderers.
    Export(ExportArguments),
    /// Draw a PNG per frame and one contact sheet.
    Preview(FramesArguments),
    /// Draw charts as SVG and PNG: energies, breaks, masses of fragments.
    Plot(plot::PlotArguments),
    /// Show frames in a browser: elements, surfaces, stress, charts; also of a simulation that still runs.
    View(view::ViewArguments),
    /// Print what is in a store.
    Inspect {
        /// Frame store.
        store: PathBuf,
        /// Print missing and wrong data instead, by file, column and row; exit code 1 if there are any.
        #[arg(long)]
        validate: bool,
    },
    /// Check a pipeline without running it, or a mesh.
    ///
    /// For a pipeline: numbers of elements and steps, time step, memory, disk space and time that it will take,
    /// warnings. For a mesh: what is wrong with it, where, and how it is repaired.
    Check {
        /// Pipeline file; - for standard input.
        #[arg(required_unless_present = "mesh")]
        pipeline: Option<PathBuf>,
        /// Override a value: dotted path, entries by name or index.
        #[arg(long = "set", value_name = "KEY=VALUE")]
        set: Vec<String>,
        /// Check this mesh instead of a pipeline.
        #[arg(long, value_name = "FILE", conflicts_with_all = ["pipeline", "set"])]
        mesh: Option<PathBuf>,
        /// Write the repaired mesh to this PLY file.
        #[arg(long, value_name = "FILE", requires = "mesh")]
        out: Option<PathBuf>,
        /// Edge of the cells by which surfaces are wrapped that stay open, in units of the file; default: a
        /// hundredth of the mesh's size.
        #[arg(long, value_name = "SIZE", requires = "mesh")]
        cell: Option<f64>,
        /// Repair it as `fill = "winding"` does: drop surfaces inside others instead of taking them for cavities.
        #[arg(long, requires = "mesh")]
        winding: bool,
    },
    /// Find the values to enter for a material, by tests of its packing.
    ///
    /// With these values the packing of a body has the moduli, strengths and toughness asked for. Bars are pulled,
    /// prisms crushed and strips torn.
    Calibrate(calibrate::CalibrateArguments),
    /// Write stages of a shot as jobs for a render farm.
    ///
    /// Frames of `reconstruct` are spread over tasks. A task that was killed may run again: the files are the same.
    Jobs(jobs::JobsArguments),
    /// List graphics adapters, their limits, and what each lacks.
    Adapters,
    /// Print a JSON Schema of pipeline files, for editors.
    Schema {
        /// Print a Markdown page of all keys of pipeline files instead.
        #[arg(long, conflicts_with = "columns")]
        keys: bool,
        /// Print a Markdown page of all columns of the frame store instead.
        #[arg(long)]
        columns: bool,
    },
    /// Print shell completions.
    Completions {
        /// Shell.
        shell: clap_complete::Shell,
    },
    /// Write manual pages: cullet.1, and one for each command, such as cullet-run.1.
    Man {
        /// Folder for the pages; created if absent. Pages that are there already are replaced.
        #[arg(long, value_name = "FOLDER")]
        out: PathBuf,
    },
}

/// Runs the program.
pub fn main() -> ExitCode {
    // Errors of the command line itself are clap's: message, usage, exit code 2.
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if ranks::is_first_started() => error.exit(),
        Err(error) => return ExitCode::from(error.exit_code() as u8),
    };
    interrupt::install();
    let launch = match Launch::begin(matches!(arguments.command, Command::Simulate(_))) {
        Ok(launch) => launch,
        Err(error) if ranks::is_first_started() => {
            return report_error(&error, &arguments, &Launch::default());
        }
        Err(error) => return ExitCode::from(exit_code(&error)),
    };
    match command(&arguments, &launch) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => report_error(&error, &arguments, &launch),
    }
}

/// Prints the one message of an error, and ends the other ranks.
fn report_error(error: &anyhow::Error, arguments: &Arguments, launch: &Launch) -> ExitCode {
    launch.wait_for_first();
    let code = exit_code(error);
    match arguments.json {
        true => eprintln!("{}", json!({ "error": chain(error), "exit_code": code })),
        false => eprintln!("cullet: {}", chain(error)),
    }
    launch.end_all(code);
    ExitCode::from(code)
}

/// The causes of an error on one line; a cause that its parent's text already contains is not repeated.
fn chain(error: &anyhow::Error) -> String {
    error.chain().fold(String::new(), |mut text, cause| {
        let cause = cause.to_string();
        if !text.contains(&cause) {
            if !text.is_empty() {
                text += ": ";
            }
            text += &cause;
        }
        text
    })
}

/// Whether the user caused this error, by its type. Errors that wrap others ask those.
fn caused_by_user(cause: &(dyn std::error::Error + 'static)) -> bool {
    fn says<E: std::error::Error + 'static>(
        cause: &(dyn std::error::Error + 'static),
        caused_by_user: fn(&E) -> bool,
    ) -> bool {
        cause.downcast_ref().is_some_and(caused_by_user)
    }
    // All faults of a pipeline file are the user's.
    cause.is::<WrongUse>()
        || cause.is::<crate::spec::SpecErrors>()
        || says(cause, crate::pack::PackError::caused_by_user)
        || says(cause, crate::calibrate::CalibrateError::caused_by_user)
        || says(cause, crate::simulate::SimulateError::caused_by_user)
        || says(cause, crate::stress::StressError::caused_by_user)
        || says(cause, crate::reconstruct::ReconstructError::caused_by_user)
        || says(cause, crate::export::ExportError::caused_by_user)
        || says(cause, crate::preview::PreviewError::caused_by_user)
        || says(cause, crate::plot::PlotError::caused_by_user)
        || says(cause, crate::view::ViewError::caused_by_user)
        || says(cause, crate::store::StoreError::caused_by_user)
}

fn exit_code(error: &anyhow::Error) -> u8 {
    if error.is::<Interrupted>() {
        return interrupt::EXIT_CODE as u8;
    }
    match error.chain().any(caused_by_user) {
        true => 2,
        false => 1,
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

fn command(arguments: &Arguments, launch: &Launch) -> anyhow::Result<()> {
    if let Some(threads) = arguments.threads.or_else(|| launch.threads()) {
        if threads == 0 {
            return Err(WrongUse("--threads must be at least 1".into()).into());
        }
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global()?;
    }
    let quiet = arguments.quiet || !launch.is_first();
    let report = progress::ProgressReporter::new(quiet, arguments.json, arguments.progress);
    match &arguments.command {
        Command::Run(arguments) => run::run(arguments, &report),
        Command::Pack(pack) => run::pack(pack, &report),
        Command::Simulate(simulate) => run::simulate(simulate, &report, launch),
        Command::Stress(stress) => stress::stress(stress, &report, arguments.json),
        Command::Reconstruct(frames) => run::reconstruct(frames, &report),
        Command::Export(export) => run::export(export, &report),
        Command::Preview(frames) => run::preview(frames, &report),
        Command::Plot(arguments) => plot::plot(arguments, &report),
        Command::View(view) => view::view(view, &report, arguments.json),
        Command::Inspect { store, validate } if *validate => {
            validate::validate(store, arguments.json)
        }
        Command::Inspect { store, .. } => inspect::inspect(store, arguments.json),
        Command::Check {
            mesh: Some(mesh),
            out,
            cell,
            winding,
            ..
        } => {
            let region = match winding {
                true => Region::Wound,
                false => Region::Nested,
            };
            check_mesh::check_mesh(mesh, out.as_deref(), (*cell, region), arguments.json)
        }
        Command::Check { pipeline, set, .. } => {
            let pipeline = pipeline.as_ref().expect("clap requires one of both");
            check::check(pipeline, set, arguments.json)
        }
        Command::Calibrate(calibrate) => calibrate::run(calibrate, &report, arguments.json),
        Command::Jobs(jobs) => jobs::jobs(jobs, &report),
        Command::Adapters => adapters::adapters(arguments.json),
        Command::Schema { keys: true, .. } => print(&crate::spec::keys_page()),
        Command::Schema { columns: true, .. } => print(&crate::columns::glossary()),
        Command::Schema { .. } => print(&crate::spec::json_schema()),
        Command::Completions { shell } => {
            let mut command = Arguments::command();
            let mut text = Vec::new();
            clap_complete::generate(*shell, &mut command, "cullet", &mut text);
            print(&String::from_utf8_lossy(&text))
        }
        Command::Man { out } => man::man(Arguments::command(), out, &report),
    }
}
