//! `cullet run`, which runs those stages of a pipeline file that are not up to date, and the commands of the
//! single stages.

use super::arguments::{
    ExportArguments, FramesArguments, PackArguments, PipelineStage, RunArguments,
    SimulateArguments, default_store,
};
use super::error::WrongUse;
use super::progress::ProgressReporter;
use super::ranks::Launch;
use super::stage_inputs::StageInputs;
use super::stages::refuse_foreign_folder;
use super::{branch, interrupt, stages, stress};
use crate::simulate::{Options, Start};
use crate::spec::{self, ResolvedPipeline};
use crate::store::{Lock, LockMode, Manifest, Store};
use crate::units;

/// A run of the stages of a pipeline file.
struct PipelineRun<'a> {
    store: Store,
    lock: Option<Lock>,
    arguments: &'a RunArguments,
    resolved: &'a ResolvedPipeline,
    start: Start,
    report: &'a ProgressReporter,
    /// Number of stages that ran.
    done: usize,
}

/// `cullet run`: runs the stages of a pipeline file.
pub fn run(arguments: &RunArguments, report: &ProgressReporter) -> anyhow::Result<()> {
    let first = arguments.from.unwrap_or(PipelineStage::Pack);
    if arguments.to < first {
        return Err(WrongUse("the stage of --to comes before that of --from".into()).into());
    }
    let resolved = spec::read(&arguments.pipeline, &arguments.set)?;
    let runs = |stage: PipelineStage| first <= stage && stage <= arguments.to;
    stages::refuse_missing_columns(
        &resolved.pipeline,
        runs(PipelineStage::Reconstruct),
        runs(PipelineStage::Preview),
    )?;
    let mut out = match &arguments.out {
        Some(out) => out.clone(),
        None => default_store(&arguments.pipeline)?,
    };
    let mut start = start_from(arguments.resume, arguments.state);
    if let Some(new) = &arguments.branch {
        start = Start::State(branch::begin(&out, new, start, Some(&resolved))?);
        out.clone_from(new);
    }
    refuse_foreign_folder(&out)?;
    let store = Store::at(&out);
    let lock = match store.path("store.json").is_file() {
        true => Some(store.lock(LockMode::Exclusive, "run")?),
        false => None,
    };
    let mut shot = PipelineRun {
        store,
        lock,
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

impl PipelineRun<'_> {
    fn is_selected(&self, stage: PipelineStage) -> bool {
        self.arguments.from.is_none_or(|from| from <= stage) && stage <= self.arguments.to
    }

    /// Whether a stage must run; if it is up to date or runs again, that is reported.
    fn needs_run(
        &mut self,
        stage: PipelineStage,
        inputs: &StageInputs,
        files: &[String],
    ) -> anyhow::Result<bool> {
        if !self.is_selected(stage) {
            return Ok(false);
        }
        let forced = self.arguments.force || self.arguments.from.is_some();
        if !forced && self.store.path("store.json").is_file() {
            let manifest = Manifest::read(&self.store)?;
            match inputs.outdated(&self.store, &manifest, files) {
                None => {
                    self.report.note(&format!("{:<12} up to date", inputs.name));
                    return Ok(false);
                }
                Some(why) if manifest.stages.contains_key(&inputs.name) => {
                    self.report
                        .note(&format!("{:<12} again: {why}", inputs.name));
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
        // A continued simulation keeps its packing.
        if !self.is_selected(PipelineStage::Pack) || (self.start != Start::Packing && packed) {
            Store::open(self.store.root())?;
            return stages::refuse_other_packing(&self.store, self.resolved);
        }
        let inputs = StageInputs::pack(&self.resolved.pipeline, &self.resolved.folder);
        if self.needs_run(PipelineStage::Pack, &inputs, &[])? {
            let lock = self.lock.take();
            let hold = || Ok(lock.map_or_else(|| self.store.lock(LockMode::Exclusive, "run"), Ok)?);
            let lock = stages::pack(self.resolved, &self.store, hold, self.report)?;
            self.lock = Some(lock);
        }
        Ok(())
    }

    fn simulate(&mut self) -> anyhow::Result<()> {
        let (pipeline, root) = (&self.resolved.pipeline, self.store.root().to_owned());
        if pipeline.is_static() {
            return stages::set_pipeline(&self.store, pipeline).map(drop);
        }
        let manifest = Manifest::read(&self.store)?;
        let inputs = StageInputs::simulate(pipeline, &manifest);
        if self.needs_run(
            PipelineStage::Simulate,
            &inputs,
            &stages::simulation_tables(&manifest),
        )? {
            let options = Options {
                backend: None,
                adapter: None,
                start: self.start,
                until: None,
                inherited: manifest.parent.map(|parent| parent.frame),
            };
            return stages::simulate(&root, pipeline, &options, (self.report, None));
        }
        stages::set_pipeline(&self.store, pipeline).map(drop)
    }

    fn stress(&mut self) -> anyhow::Result<()> {
        let pipeline = &self.resolved.pipeline;
        if pipeline.stress.is_none() && !pipeline.is_static() {
            return Ok(());
        }
        let inputs = StageInputs::stress(&Manifest::read(&self.store)?, None);
        if self.needs_run(PipelineStage::Stress, &inputs, &[])? {
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
        let inputs = StageInputs::reconstruct(&Manifest::read(&self.store)?);
        let files = stages::frame_file_names(&self.store, &ALL_FRAMES, "meshes", "rkyv")?;
        match self.needs_run(PipelineStage::Reconstruct, &inputs, &files)? {
            true => stages::reconstruct(&root, &ALL_FRAMES, self.report),
            false => Ok(()),
        }
    }

    fn export(&mut self) -> anyhow::Result<()> {
        let pipeline = &self.resolved.pipeline;
        for &format in &pipeline.export.formats {
            if !pipeline.has_frames() && !crate::export::supports_stress(format) {
                continue;
            }
            let export = ExportArguments {
                store: self.store.root().to_owned(),
                format,
                frames: ALL_FRAMES,
                usd: None,
                compress: None,
                up: None,
                scale: None,
                playback: None,
                shutter: None,
                debris_size: None,
                detail: Default::default(),
                to: None,
            };
            let inputs = stages::export_inputs(&export, &Manifest::read(&self.store)?);
            if self.needs_run(PipelineStage::Export, &inputs, &[])? {
                stages::export(&export, self.report)?;
            }
        }
        Ok(())
    }

    fn preview(&mut self) -> anyhow::Result<()> {
        let root = self.store.root().to_owned();
        let inputs = StageInputs::preview(&Manifest::read(&self.store)?);
        let files = stages::pictures(&self.store, &ALL_FRAMES, &self.resolved.pipeline.preview)?;
        match self.needs_run(PipelineStage::Preview, &inputs, &files)? {
            true => stages::preview(&root, &ALL_FRAMES, self.report),
            false => Ok(()),
        }
    }
}

/// All frames.
const ALL_FRAMES: std::ops::Range<u32> = 0..u32::MAX;

/// Where a simulation starts, by its options.
fn start_from(resume: bool, state: Option<u32>) -> Start {
    match (state, resume) {
        (Some(frame), _) => Start::State(frame),
        (None, true) => Start::Newest,
        (None, false) => Start::Packing,
    }
}

/// `cullet pack`.
pub fn pack(arguments: &PackArguments, report: &ProgressReporter) -> anyhow::Result<()> {
    let resolved = spec::read(&arguments.pipeline, &arguments.set)?;
    refuse_foreign_folder(&arguments.out)?;
    let store = Store::at(&arguments.out);
    let hold = || Ok(store.lock(LockMode::Exclusive, "pack")?);
    stages::pack(&resolved, &store, hold, report).map(drop)
}

/// `cullet simulate`.
pub fn simulate(
    arguments: &SimulateArguments,
    report: &ProgressReporter,
    launch: &Launch,
) -> anyhow::Result<()> {
    if arguments.adapter.is_some() && arguments.backend == Some(spec::Backend::Cpu) {
        let what = "--adapter chooses a graphics adapter, which --backend cpu does not use; leave out one of them";
        return Err(WrongUse(what.into()).into());
    }
    let mut root = arguments.store.clone();
    let mut start = start_from(arguments.resume, arguments.state);
    let until = match &arguments.until {
        Some(text) => Some(
            units::parse(text, units::Dimension::Time)
                .map_err(|error| WrongUse(format!("--until {text:?}: {error}")))?,
        ),
        None => None,
    };
    if let Some(new) = &arguments.branch {
        let frame = launch.ask_first(|| branch::begin(&root, new, start, None))?;
        start = Start::State(frame);
        root.clone_from(new);
    }
    let store = Store::open(&root)?;
    let _lock = match launch.is_first() {
        true => Some(store.lock(LockMode::Exclusive, "simulate")?),
        false => None,
    };
    let (_, manifest) = stages::open(&root)?;
    let Some(pipeline) = manifest.pipeline else {
        let what = format!(
            "{}: store.json contains no pipeline, which simulate needs",
            root.display()
        );
        return Err(WrongUse(what).into());
    };
    if pipeline.is_static() {
        let what = "simulate.method = \"bem\": nothing moves in this pipeline; use `cullet stress`";
        return Err(WrongUse(what.into()).into());
    }
    if until.is_some_and(|until| until > pipeline.time.end) {
        report.note(&format!(
            "--until is later than the end of the pipeline, {} s",
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
    let transport = launch.transport();
    match launch.is_first() {
        true => stages::simulate(&root, &pipeline, &options, (report, transport))?,
        false => stages::simulate_for_first(&store, &pipeline, &options, transport)?,
    }
    // Signals wait until rank 0 has written everything.
    let _until_then = interrupt::graceful();
    launch.meet();
    Ok(())
}

/// `cullet reconstruct`.
pub fn reconstruct(arguments: &FramesArguments, report: &ProgressReporter) -> anyhow::Result<()> {
    let _lock = Store::open(&arguments.store)?.lock(LockMode::Shared, "reconstruct")?;
    stages::reconstruct(&arguments.store, &arguments.frames, report)
}

/// `cullet export`.
pub fn export(arguments: &ExportArguments, report: &ProgressReporter) -> anyhow::Result<()> {
    let _lock = Store::open(&arguments.store)?.lock(LockMode::Shared, "export")?;
    stages::export(arguments, report)
}

/// `cullet preview`.
pub fn preview(arguments: &FramesArguments, report: &ProgressReporter) -> anyhow::Result<()> {
    let _lock = Store::open(&arguments.store)?.lock(LockMode::Shared, "preview")?;
    stages::preview(&arguments.store, &arguments.frames, report)
}
