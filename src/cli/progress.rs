//! Progress of stages: a bar with the time left on a terminal, plain lines elsewhere, JSON on request.

use std::cell::RefCell;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::print::print;

/// How the user wants progress to be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ProgressForm {
    /// A bar on a terminal, else lines.
    Auto,
    /// `Progress: 25%` on standard output as well, for Deadline and other farm managers.
    Percent,
    /// `openjd_progress: 25.0` and `openjd_status: …` on standard output as well, for Open Job Description.
    #[value(name = "openjd")]
    OpenJd,
}

/// Form in which progress is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReportForm {
    Quiet,
    Json,
    Bar,
    Lines,
}

/// Reports the progress of a run of the program.
#[derive(Clone, Copy, Debug)]
pub struct ProgressReporter {
    form: ReportForm,
    farm: ProgressForm,
}

/// Least time between plain lines.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

impl ProgressReporter {
    /// Chooses the form by the flags, and by whether standard error is a terminal.
    pub fn new(quiet: bool, json: bool, farm: ProgressForm) -> Self {
        let is_terminal = farm == ProgressForm::Auto && std::io::stderr().is_terminal();
        let form = match (quiet, json) {
            (true, _) => ReportForm::Quiet,
            (_, true) => ReportForm::Json,
            _ if is_terminal => ReportForm::Bar,
            _ => ReportForm::Lines,
        };
        ProgressReporter { form, farm }
    }

    /// Begins a stage of `total` units of work.
    pub fn stage(&self, name: &str, total: u64) -> StageReport {
        let bar = match self.form {
            ReportForm::Bar => {
                let bar = ProgressBar::new(total);
                let style = "{prefix:<11} [{bar:20}] {pos}/{len} {msg}, {eta} left";
                if let Ok(style) = ProgressStyle::with_template(style) {
                    bar.set_style(style.progress_chars("=> "));
                }
                bar.set_prefix(name.to_owned());
                bar.enable_steady_tick(Duration::from_millis(200));
                bar
            }
            _ => ProgressBar::hidden(),
        };
        StageReport {
            form: self.form,
            farm: self.farm,
            name: name.to_owned(),
            bar,
            started: Instant::now(),
            state: RefCell::new(LineState::default()),
        }
    }

    /// Prints a line of its own.
    pub fn note(&self, text: &str) {
        match self.form {
            ReportForm::Quiet => {}
            ReportForm::Json => eprintln!("{}", serde_json::json!({ "note": text })),
            ReportForm::Bar | ReportForm::Lines => eprintln!("{text}"),
        }
    }
}

#[derive(Default)]
struct LineState {
    printed: Option<Instant>,
    first: Option<u64>,
    /// Tenths of a percent that were reported to a farm manager last.
    reported: Option<u64>,
}

/// Reports the progress of one stage.
pub struct StageReport {
    form: ReportForm,
    farm: ProgressForm,
    name: String,
    bar: ProgressBar,
    started: Instant,
    state: RefCell<LineState>,
}

impl StageReport {
    /// Reports `done` of `total` units of work; `message` says what is counted.
    pub fn update(&self, done: u64, total: u64, message: &str) {
        self.bar.set_length(total);
        self.bar.set_position(done);
        self.bar.set_message(message.to_owned());
        let mut line = self.state.borrow_mut();
        let first = *line.first.get_or_insert(done);
        self.report_to_farm(done, total, message, &mut line);
        let due = line.printed.is_none_or(|at| at.elapsed() >= LINE_INTERVAL) || done == total;
        match self.form {
            ReportForm::Quiet | ReportForm::Bar => return,
            ReportForm::Json => eprintln!(
                "{}",
                serde_json::json!({ "stage": self.name, "done": done, "total": total, "message": message })
            ),
            ReportForm::Lines if due => {
                let elapsed = self.started.elapsed().as_secs_f64();
                let left = if done > first {
                    elapsed / (done - first) as f64 * (total - done) as f64
                } else {
                    0.0
                };
                eprintln!(
                    "{:<12} {done}/{total} {message}  {elapsed:.0} s elapsed, {left:.0} s left",
                    self.name
                );
            }
            ReportForm::Lines => return,
        }
        line.printed = Some(Instant::now());
    }

    /// Prints what farm managers look for, if they are asked for and the number has changed.
    fn report_to_farm(&self, done: u64, total: u64, message: &str, line: &mut LineState) {
        let tenths = (1000 * done).checked_div(total).unwrap_or(1000).min(1000);
        let (whole, tenth) = (tenths / 10, tenths % 10);
        let text = match self.farm {
            ProgressForm::Auto => return,
            ProgressForm::Percent
                if line.reported.is_some_and(|reported| reported / 10 == whole) =>
            {
                return;
            }
            ProgressForm::Percent => format!("Progress: {whole}%"),
            ProgressForm::OpenJd if line.reported == Some(tenths) => return,
            ProgressForm::OpenJd => {
                let name = &self.name;
                format!(
                    "openjd_progress: {whole}.{tenth}\nopenjd_status: {name} {done}/{total} {message}"
                )
            }
        };
        line.reported = Some(tenths);
        // A farm manager that no longer listens does not stop the work.
        let _ = print(&text);
    }

    /// Lists the files that the stage wrote, for programs: the other forms only count them.
    pub fn files(&self, files: &[PathBuf]) {
        if self.form == ReportForm::Json {
            eprintln!(
                "{}",
                serde_json::json!({ "stage": self.name, "files": files })
            );
        }
    }

    /// Reports the end of the stage. Returns its duration, s.
    pub fn finish(self, message: &str) -> f64 {
        self.bar.finish_and_clear();
        let seconds = self.started.elapsed().as_secs_f64();
        match self.form {
            ReportForm::Quiet => {}
            ReportForm::Json => eprintln!(
                "{}",
                serde_json::json!({ "stage": self.name, "seconds": seconds, "result": message })
            ),
            ReportForm::Bar | ReportForm::Lines => {
                eprintln!("{:<12} {message}  ({seconds:.1} s)", self.name)
            }
        }
        seconds
    }
}
