//! `cullet jobs`: stages of a shot as jobs for a render farm.

use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};

use super::arguments::{PipelineStage, frame_range};
use super::error::WrongUse;
use super::print::print;
use super::progress::ProgressReporter;
use super::stages;
use crate::export;
use crate::jobs::{self, FarmJob, FarmManager, FarmStep, FrameChunks};
use crate::spec::{ExportFormat, Pipeline};
use crate::store::{Manifest, Store, atomic};

#[derive(Debug, clap::Args)]
pub struct JobsArguments {
    /// Frame store, in a folder that all machines of the farm see.
    store: PathBuf,
    /// Program that runs the jobs.
    #[arg(long = "for", value_name = "FARM")]
    manager: FarmManager,
    /// Stages in their order: simulate, stress, reconstruct, export, preview. Exports and pictures wait for the stage
    /// before them, and not for each other.
    #[arg(
        long = "stage",
        value_name = "STAGE,...",
        value_delimiter = ',',
        default_value = "reconstruct"
    )]
    stages: Vec<PipelineStage>,
    /// Largest number of frames of a task of reconstruct.
    #[arg(long, value_name = "COUNT", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    chunk: u32,
    /// Frames of reconstruct, export and preview: A..B (without B; either may be left out), A..=B or A-B (with B), or
    /// one frame A.
    #[arg(long, value_name = "RANGE", value_parser = frame_range, default_value = "..")]
    frames: Range<u32>,
    /// Formats of export; default: export.formats of the pipeline.
    #[arg(long = "format", value_name = "FORMAT,...", value_delimiter = ',')]
    formats: Vec<ExportFormat>,
    /// Processor cores of a task; default: what the farm gives it.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    cores: Option<u32>,
    /// The program, as the machines of the farm find it.
    #[arg(long, value_name = "PATH", default_value = "cullet")]
    program: String,
    /// Name of the job; default: that of the store's folder.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Show of OpenCue that the job is booked on.
    #[arg(long, value_name = "NAME", default_value = "testing")]
    show: String,
    /// User of OpenCue whose job it is; default: who is logged in.
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// New file for the job; default: standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Writes the job.
pub fn jobs(arguments: &JobsArguments, report: &ProgressReporter) -> anyhow::Result<()> {
    let (store, manifest) = stages::open(&arguments.store)?;
    refuse_order(&arguments.stages)?;
    let root = std::path::absolute(store.root())?;
    let text = |path: &Path| match path.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(WrongUse(format!(
            "{}: the path is not valid UTF-8",
            path.display()
        ))),
    };
    let name = match (&arguments.name, root.file_name()) {
        (Some(name), _) => name.clone(),
        (None, Some(name)) => text(Path::new(name))?,
        (None, None) => "cullet".to_owned(),
    };
    let formats = formats(arguments, manifest.pipeline.as_ref())?;
    let frames = frames(&store, &manifest, arguments)?;
    let mut steps = Vec::new();
    let mut before = None;
    for &stage in &arguments.stages {
        let mut added = steps_of(stage, &formats);
        let is_part = arguments.frames != (0..u32::MAX);
        for step in &mut added {
            step.waits_for.clone_from(&before);
            if is_part && of_frames(stage) && !step.is_split {
                let range = format!("{}-{}", frames.start(), frames.end());
                step.options.extend(["--frames".to_owned(), range]);
            }
        }
        // Exports and pictures wait for the surfaces, not for each other.
        if stage < PipelineStage::Export {
            before = added.last().map(|step| step.name.clone());
        }
        steps.extend(added);
    }
    let job = FarmJob {
        name,
        program: arguments.program.clone(),
        store: text(&root)?,
        cores: arguments.cores,
        show: arguments.show.clone(),
        user: arguments.user.clone().unwrap_or_else(logged_in),
        frames: FrameChunks {
            frames,
            chunk: arguments.chunk,
        },
        steps,
    };
    jobs::check(&job, arguments.manager).map_err(WrongUse)?;
    if let Some(doubt) = jobs::doubts(&job, arguments.manager) {
        report.note(&doubt);
    }
    let job = jobs::write(&job, arguments.manager);
    let Some(path) = &arguments.out else {
        return print(job.trim_end());
    };
    if path.exists() {
        let what = format!("--out {}: the file exists already", path.display());
        return Err(WrongUse(what).into());
    }
    atomic::write_bytes(path, job.as_bytes())?;
    report.note(&format!("{} written", path.display()));
    Ok(())
}

/// Who is logged in.
fn logged_in() -> String {
    let known = ["USER", "LOGNAME", "USERNAME"].map(|name| std::env::var(name).ok());
    let known = known.into_iter().flatten().find(|name| !name.is_empty());
    known.unwrap_or_else(|| "nobody".to_owned())
}

/// Refuses pack, and stages out of their order.
fn refuse_order(stages: &[PipelineStage]) -> Result<(), WrongUse> {
    if stages.contains(&PipelineStage::Pack) {
        let what = "--stage pack: the store must exist already; run `cullet pack` first";
        return Err(WrongUse(what.to_owned()));
    }
    match stages.is_sorted_by(|one, next| one < next) {
        true => Ok(()),
        false => Err(WrongUse(
            "--stage: each stage once, in the order simulate, stress, reconstruct, export, preview"
                .to_owned(),
        )),
    }
}

/// Formats of the stage export, if that is one of the stages.
fn formats(
    arguments: &JobsArguments,
    pipeline: Option<&Pipeline>,
) -> Result<Vec<ExportFormat>, WrongUse> {
    let exports = arguments.stages.contains(&PipelineStage::Export);
    let formats = match (arguments.formats.is_empty(), pipeline) {
        (false, _) => arguments.formats.clone(),
        (true, Some(pipeline)) => pipeline.export.formats.clone(),
        (true, None) => Vec::new(),
    };
    if exports && formats.is_empty() {
        let what = "--format is missing, and the pipeline has no export.formats";
        return Err(WrongUse(what.to_owned()));
    }
    if let Some(twice) = (1..formats.len()).find(|&at| formats[..at].contains(&formats[at])) {
        let name = export::entry_of(formats[twice]).name;
        return Err(WrongUse(format!("--format: {name} comes twice")));
    }
    if !exports && !arguments.formats.is_empty() {
        let what = "--format is for the stage export; add it to --stage";
        return Err(WrongUse(what.to_owned()));
    }
    Ok(formats)
}

/// The steps of a stage: one, or for the export one for each format.
fn steps_of(stage: PipelineStage, formats: &[ExportFormat]) -> Vec<FarmStep> {
    let step = |command: &str, options: &[&str]| FarmStep {
        name: command.to_owned(),
        command: command.to_owned(),
        options: options.iter().map(|&word| word.to_owned()).collect(),
        is_split: stage == PipelineStage::Reconstruct,
        waits_for: None,
    };
    match stage {
        PipelineStage::Pack => Vec::new(),
        // Without a state this starts at the beginning, so that the first try and the next have one command.
        PipelineStage::Simulate => vec![step("simulate", &["--resume"])],
        PipelineStage::Stress => vec![step("stress", &[])],
        PipelineStage::Reconstruct => vec![step("reconstruct", &[])],
        PipelineStage::Export => formats
            .iter()
            .map(|&format| {
                let format = export::entry_of(format).name;
                FarmStep {
                    name: format!("export_{}", format.replace('-', "_")),
                    ..step("export", &["--format", format])
                }
            })
            .collect(),
        PipelineStage::Preview => vec![step("preview", &[])],
    }
}

/// Whether a stage takes a range of frames.
fn of_frames(stage: PipelineStage) -> bool {
    matches!(
        stage,
        PipelineStage::Reconstruct | PipelineStage::Export | PipelineStage::Preview
    )
}

/// The frames that the range and the shot have in common.
fn frames(
    store: &Store,
    manifest: &Manifest,
    arguments: &JobsArguments,
) -> anyhow::Result<RangeInclusive<u32>> {
    let range = &arguments.frames;
    let simulates = arguments.stages.contains(&PipelineStage::Simulate);
    let (first, last) = match &manifest.pipeline {
        // Frames that do not exist yet.
        Some(pipeline) if simulates => (0, Some(pipeline.time.last_frame())),
        _ => {
            let frames = store.frames(&(0..u32::MAX))?;
            (frames.first().copied().unwrap_or(0), frames.last().copied())
        }
    };
    let first = range.start.max(first);
    let last = last.map(|last| last.min(range.end.saturating_sub(1)));
    match last {
        Some(last) if first <= last => Ok(first..=last),
        // Pictures and exports of stress at rest need no frames.
        _ if manifest.pipeline.as_ref().is_some_and(Pipeline::is_static) => Ok(0..=0),
        _ if !arguments.stages.iter().any(|&stage| of_frames(stage)) => Ok(0..=0),
        _ => {
            let what = format!(
                "{}: the range contains no frame; add simulate to --stage, run `cullet simulate` first, or widen --frames",
                store.root().display()
            );
            Err(WrongUse(what).into())
        }
    }
}
