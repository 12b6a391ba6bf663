//! What a user sees while a stage runs: a bar with the time left on a terminal, plain lines elsewhere, JSON on request.

use std::cell::RefCell;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// How a program reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Quiet,
    Json,
    Bar,
    Lines,
}

/// Reporting of a whole program run.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    form: Form,
}

/// Plain lines come at most this often.
const LINE_EVERY: Duration = Duration::from_secs(5);

impl Report {
    /// Chosen by flags and by whether a person is watching.
    pub fn new(quiet: bool, json: bool) -> Self {
        let form = match (quiet, json) {
            (true, _) => Form::Quiet,
            (_, true) => Form::Json,
            _ if std::io::stderr().is_terminal() => Form::Bar,
            _ => Form::Lines,
        };
        Report { form }
    }

    /// A stage of `total` units begins.
    pub fn stage(&self, name: &str, total: u64) -> StageReport {
        let bar = match self.form {
            Form::Bar => {
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
            name: name.to_owned(),
            bar,
            started: Instant::now(),
            state: RefCell::new(Line::default()),
        }
    }

    /// A line of its own.
    pub fn note(&self, text: &str) {
        match self.form {
            Form::Quiet => {}
            Form::Json => eprintln!("{}", serde_json::json!({ "note": text })),
            Form::Bar | Form::Lines => eprintln!("{text}"),
        }
    }
}

#[derive(Default)]
struct Line {
    printed: Option<Instant>,
    first: Option<u64>,
}

/// Reporting of one stage.
pub struct StageReport {
    form: Form,
    name: String,
    bar: ProgressBar,
    started: Instant,
    state: RefCell<Line>,
}

impl StageReport {
    /// `done` of `total` units; `message` says what the numbers mean.
    pub fn update(&self, done: u64, total: u64, message: &str) {
        self.bar.set_length(total);
        self.bar.set_position(done);
        self.bar.set_message(message.to_owned());
        let mut line = self.state.borrow_mut();
        let first = *line.first.get_or_insert(done);
        let due = line.printed.is_none_or(|at| at.elapsed() >= LINE_EVERY) || done == total;
        match self.form {
            Form::Quiet | Form::Bar => return,
            Form::Json => eprintln!(
                "{}",
                serde_json::json!({ "stage": self.name, "done": done, "total": total, "message": message })
            ),
            Form::Lines if due => {
                let gone = self.started.elapsed().as_secs_f64();
                let left = if done > first {
                    gone / (done - first) as f64 * (total - done) as f64
                } else {
                    0.0
                };
                eprintln!(
                    "{:<12} {done}/{total} {message}  {gone:.0} s gone, {left:.0} s left",
                    self.name
                );
            }
            Form::Lines => return,
        }
        line.printed = Some(Instant::now());
    }

    /// The stage is done.
    pub fn finish(self, message: &str) -> f64 {
        self.bar.finish_and_clear();
        let seconds = self.started.elapsed().as_secs_f64();
        match self.form {
            Form::Quiet => {}
            Form::Json => eprintln!(
                "{}",
                serde_json::json!({ "stage": self.name, "seconds": seconds, "result": message })
            ),
            Form::Bar | Form::Lines => eprintln!("{:<12} {message}  ({seconds:.1} s)", self.name),
        }
        seconds
    }
}
