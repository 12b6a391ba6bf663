//! `cullet run`: the stages of a pipeline file in a row, of which those run that have something to do; and
//! each stage as a command of its own.

use std::path::PathBuf;

use super::arguments::{
    ExportArguments, FramesArguments, PackArguments, RunArguments, SimulateArguments, Stage,
};
use super::error::WrongUse;
use super::progress::Report;
use super::stages::refuse_foreign_folder;
use super::task::Task;
use super::{branch, stages, stress};
use crate::simulate::{Options, Start};
use crate::spec::{self, ResolvedPipeline};
use crate::store::{Hold, Lock, Manifest, Store};
use crate::units;

/// A run on its way.
struct Shot<'a> {
    store: Store,
    held: Option<Lock>,
    arguments: &'a RunArguments,
    resolved: &'a ResolvedPipeline,
    start: Start,
    report: &'a Report,
    /// Stages that had something to do.
    done: usize,
}

/// All stages of a pipeline file.
pub fn run(arguments: &RunArguments, report: &Report) -> anyhow::Result<()> {
    let first = arguments.from.unwrap_or(Stage::Pack);
    if arguments.to < first {
        return Err(WrongUse("--to names a stage before --from".into()).into());
    }
    let resolved = spec::read(&arguments.pipeline, &arguments.set)?;
    if first <= Stage::Reconstruct && Stage::Reconstruct <= arguments.to {
        stages::refuse_missing_columns(&resolved.pipeline)?;
    }
    let mut out = arguments.out.clone().unwrap_or_else(|| {
        let name = arguments.pipeline.file_stem().unwrap_or_default();
        PathBuf::from("out").join(name)
    });
    let mut start = begin_at(arguments.resume, arguments.state);
    if let Some(new) = &arguments.branch {
        start = branch::begin(&out, new, start, Some(&resolved))?;
        out.clone_from(new);
    }
    refuse_foreign_folder(&out)?;
    let store = Store::at(&out);
    let held = match store.path("store.json").is_file() {
        true => Some(store.lock(Hold::Alone, "run")?),
        false => None,
    };
    let mut shot = Shot {
        store,
        held,
        arguments,
        resolved: &resolved,
        start,
        report,
        done: 0,
    };
    shot.pack()?;
    shot.simulate()?;
    shot.stress()?;
    shot.reconstruct()?;
    shot.export()?;
    shot.preview()?;
    report.note(&match shot.done {
        0 => format!("nothing to do: {} is up to date", out.display()),
        _ => format!("store: {}", out.display()),
    });
    Ok(())
}

impl Shot<'_> {
    fn wanted(&self, stage: Stage) -> bool {
        self.arguments.from.is_none_or(|from| from <= stage) && stage <= self.arguments.to
    }

    /// Whether a stage has something to do, which the report hears of.
    fn due(&mut self, stage: Stage, task: &Task, files: &[String]) -> anyhow::Result<bool> {
        if !self.wanted(stage) {
            return Ok(false);
        }
        let forced = self.arguments.force || self.arguments.from.is_some();
        if !forced && self.store.path("store.json").is_file() {
            let manifest = Manifest::read(&self.store)?;
            match task.outdated(&self.store, &manifest, files) {
                None => {
                    self.report.note(&format!("{:<12} up to date", task.name));
                    return Ok(false);
                }
                Some(why) if manifest.stages.contains_key(&task.name) => {
                    self.report.note(&format!("{:<12} again: {why}", task.name));
                }
                Some(_) => {}
            }
        }
        self.done += 1;
        Ok(true)
    }

    fn pack(&mut self) -> anyhow::Result<()> {
        let packed = self.store.path("store.json").is_file()
            && Manifest::read(&self.store)?.stages.contains_key("pack");
        // A simulation goes on with the packing that it began with.
        if !self.wanted(Stage::Pack) || (self.start != Start::Anew && packed) {
            Store::open(self.store.root())?;
            return stages::refuse_other_packing(&self.store, self.resolved);
        }
        let task = Task::pack(&self.resolved.pipeline, &self.resolved.folder);
        if self.due(Stage::Pack, &task, &[])? {
            let held = self.held.take();
            let hold = || Ok(held.map_or_else(|| self.store.lock(Hold::Alone, "run"), Ok)?);
            let held = stages::pack(self.resolved, &self.store, hold, self.report)?;
            self.held = Some(held);
        }
        Ok(())
    }

    fn simulate(&mut self) -> anyhow::Result<()> {
        let (pipeline, root) = (&self.resolved.pipeline, self.store.root().to_owned());
        if pipeline.is_static() {
            return stages::adopt(&self.store, pipeline).map(drop);
        }
        let manifest = Manifest::read(&self.store)?;
        let task = Task::simulate(pipeline, &manifest);
        if self.due(Stage::Simulate, &task, &stages::tables(&manifest))? {
            let options = Options {
                backend: None,
                adapter: None,
                start: self.start,
                until: None,
                inherited: manifest.parent.map(|parent| parent.frame),
            };
            return stages::simulate(&root, pipeline, &options, self.report);
        }
        stages::adopt(&self.store, pipeline).map(drop)
    }

    fn stress(&mut self) -> anyhow::Result<()> {
        let pipeline = &self.resolved.pipeline;
        if pipeline.stress.is_none() && !pipeline.is_static() {
            return Ok(());
        }
        let task = Task::stress(&Manifest::read(&self.store)?, None);
        if self.due(Stage::Stress, &task, &[])? {
            let findings = stages::stress(self.store.root(), None, self.report)?;
            for line in stress::lines(&findings) {
                self.report.note(&line);
            }
        }
        Ok(())
    }

    fn reconstruct(&mut self) -> anyhow::Result<()> {
        if !self.resolved.pipeline.has_frames() {
            return Ok(());
        }
        let root = self.store.root().to_owned();
        let task = Task::reconstruct(&Manifest::read(&self.store)?);
        let files = stages::names(&self.store, &ALL, "meshes", "rkyv")?;
        match self.due(Stage::Reconstruct, &task, &files)? {
            true => stages::reconstruct(&root, &ALL, self.report),
            false => Ok(()),
        }
    }

    fn export(&mut self) -> anyhow::Result<()> {
        let pipeline = &self.resolved.pipeline;
        for &format in &pipeline.export.formats {
            if !pipeline.has_frames() && !crate::export::takes_stress(format) {
                continue;
            }
            let export = ExportArguments {
                store: self.store.root().to_owned(),
                format,
                frames: ALL,
                up: None,
                scale: None,
                playback: None,
                shutter: None,
                debris_size: None,
                to: None,
            };
            let task = stages::export_task(&export, &Manifest::read(&self.store)?);
            if self.due(Stage::Export, &task, &[])? {
                stages::export(&export, self.report)?;
            }
        }
        Ok(())
    }

    fn preview(&mut self) -> anyhow::Result<()> {
        let root = self.store.root().to_owned();
        let task = Task::preview(&Manifest::read(&self.store)?);
        let files = stages::pictures(&self.store, &ALL, &self.resolved.pipeline.preview)?;
        match self.due(Stage::Preview, &task, &files)? {
            true => stages::preview(&root, &ALL, self.report),
            false => Ok(()),
        }
    }
}

/// Every frame there is.
const ALL: std::ops::Range<u32> = 0..u32::MAX;

/// Where a simulation is asked to begin.
fn begin_at(resume: bool, state: Option<u32>) -> Start {
    match (state, resume) {
        (Some(frame), _) => Start::State(frame),
        (None, true) => Start::Newest,
        (None, false) => Start::Anew,
    }
}

/// `cullet pack`.
pub fn pack(arguments: &PackArguments, report: &Report) -> anyhow::Result<()> {
    let resolved = spec::read(&arguments.pipeline, &arguments.set)?;
    refuse_foreign_folder(&arguments.out)?;
    let store = Store::at(&arguments.out);
    let hold = || Ok(store.lock(Hold::Alone, "pack")?);
    stages::pack(&resolved, &store, hold, report).map(drop)
}

/// `cullet simulate`.
pub fn simulate(arguments: &SimulateArguments, report: &Report) -> anyhow::Result<()> {
    if arguments.adapter.is_some() && arguments.backend == Some(spec::Backend::Cpu) {
        let what = "--adapter names a graphics adapter and --backend cpu takes none; leave out one of them";
        return Err(WrongUse(what.into()).into());
    }
    let mut root = arguments.store.clone();
    let mut start = begin_at(arguments.resume, arguments.state);
    let until = match &arguments.until {
        Some(text) => Some(
            units::parse(text, units::Dimension::Time)
                .map_err(|error| WrongUse(format!("--until {text:?}: {error}")))?,
        ),
        None => None,
    };
    if let Some(new) = &arguments.branch {
        start = branch::begin(&root, new, start, None)?;
        root.clone_from(new);
    }
    let _held = Store::open(&root)?.lock(Hold::Alone, "simulate")?;
    let (_, manifest) = stages::open(&root)?;
    let Some(pipeline) = manifest.pipeline else {
        let what = format!(
            "{}: store.json holds no pipeline, which simulate needs",
            root.display()
        );
        return Err(WrongUse(what).into());
    };
    if pipeline.is_static() {
        let what = "simulate.method = \"bem\": nothing moves in this pipeline; `cullet stress` computes it";
        return Err(WrongUse(what.into()).into());
    }
    if until.is_some_and(|until| until > pipeline.time.end) {
        report.note(&format!(
            "--until goes beyond the pipeline's end of {} s",
            pipeline.time.end
        ));
    }
    let options = Options {
        backend: arguments.backend,
        adapter: arguments.adapter.clone(),
        start,
        until,
        inherited: manifest.parent.map(|parent| parent.frame),
    };
    stages::simulate(&root, &pipeline, &options, report)
}

/// `cullet reconstruct`.
pub fn reconstruct(arguments: &FramesArguments, report: &Report) -> anyhow::Result<()> {
    let _held = Store::open(&arguments.store)?.lock(Hold::Together, "reconstruct")?;
    stages::reconstruct(&arguments.store, &arguments.frames, report)
}

/// `cullet export`.
pub fn export(arguments: &ExportArguments, report: &Report) -> anyhow::Result<()> {
    let _held = Store::open(&arguments.store)?.lock(Hold::Together, "export")?;
    stages::export(arguments, report)
}

/// `cullet preview`.
pub fn preview(arguments: &FramesArguments, report: &Report) -> anyhow::Result<()> {
    let _held = Store::open(&arguments.store)?.lock(Hold::Together, "preview")?;
    stages::preview(&arguments.store, &arguments.frames, report)
}
