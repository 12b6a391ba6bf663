//! The stages as subcommands, and all of them in a row.

use std::ops::Range;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use super::progress::Report;
use super::{
    ExportArguments, FramesArguments, Interrupted, RunArguments, SimulateArguments, Stage,
    WrongUse, interrupt,
};
use crate::spec::{Pipeline, Resolved};
use crate::store::{Manifest, StageRecord, Store};
use crate::{
    export, pack as packing, preview as previewing, reconstruct as surfaces, simulate as integrate,
    spec, units,
};

/// All stages of a pipeline file.
pub fn run(arguments: &RunArguments, report: &Report) -> anyhow::Result<()> {
    if arguments.to < arguments.from {
        return Err(WrongUse("--to names a stage before --from".into()).into());
    }
    let out = match &arguments.out {
        Some(out) => out.clone(),
        None => {
            let name = arguments.pipeline.file_stem().unwrap_or_default();
            PathBuf::from("out").join(name)
        }
    };
    let wanted = |stage: Stage| arguments.from <= stage && stage <= arguments.to;
    let resolved = spec::read(&arguments.pipeline, &arguments.set)?;
    if wanted(Stage::Reconstruct) {
        refuse_missing_columns(&resolved.pipeline)?;
    }
    let kept =
        arguments.resume && Store::open(&out).is_ok_and(|store| store.read_packing().is_ok());
    if wanted(Stage::Pack) && !kept {
        pack(resolved.clone(), &out, report)?;
    } else {
        refuse_other_packing(&out, &resolved.pipeline)?;
    }
    let frames = || FramesArguments {
        store: out.clone(),
        frames: 0..u32::MAX,
    };
    if wanted(Stage::Simulate) {
        let simulation = SimulateArguments {
            store: out.clone(),
            resume: arguments.resume,
            backend: None,
            adapter: None,
            until: None,
        };
        simulate_pipeline(&simulation, Some(&resolved.pipeline), report)?;
    } else {
        adopt(&out, &resolved.pipeline)?;
    }
    if wanted(Stage::Reconstruct) {
        reconstruct(&frames(), report)?;
    }
    if wanted(Stage::Export) {
        for &format in &resolved.pipeline.export.formats {
            export(
                &ExportArguments {
                    store: out.clone(),
                    format,
                    frames: 0..u32::MAX,
                    up: None,
                    scale: None,
                    debris_size: None,
                    to: None,
                },
                report,
            )?;
        }
    }
    if wanted(Stage::Preview) {
        preview(&frames(), report)?;
    }
    report.note(&format!("store: {}", out.display()));
    Ok(())
}

/// Refuses to simulate frames of which no surfaces could be made.
fn refuse_missing_columns(pipeline: &Pipeline) -> anyhow::Result<()> {
    match pipeline.output.left_out().find(|group| surfaces::NEEDS.contains(group)) {
        None => Ok(()),
        Some(group) => Err(WrongUse(format!(
            "output.columns leaves out {:?}, which reconstruct needs; add it there, or end with --to simulate",
            group.name()
        ))
        .into()),
    }
}

/// Refuses to go on with a packing that was made from other bodies or materials.
fn refuse_other_packing(out: &Path, pipeline: &Pipeline) -> anyhow::Result<()> {
    let (_, manifest) = open(out)?;
    let made = manifest.stages.get("pack").map(|record| &record.input_hash);
    if made.is_some() && made != packing_hash(pipeline).as_ref() {
        let what = format!(
            "{}: the packing was made from other bodies or materials; pack again (--from pack, without --resume)",
            out.display()
        );
        return Err(WrongUse(what).into());
    }
    Ok(())
}

/// Later stages follow the file as it is now.
fn adopt(out: &Path, pipeline: &Pipeline) -> anyhow::Result<()> {
    let (store, mut manifest) = open(out)?;
    manifest.pipeline = Some(pipeline.clone());
    manifest.write(&store)?;
    Ok(())
}

/// Refuses a folder with something else in it: a stage that starts anew removes what it finds.
fn refuse_foreign_folder(out: &Path) -> anyhow::Result<()> {
    let taken = std::fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_some());
    if out.is_file() || (taken && Store::open(out).is_err()) {
        let what = format!(
            "--out {}: holds other things and no frame store; choose an empty or new folder",
            out.display()
        );
        return Err(WrongUse(what).into());
    }
    Ok(())
}

/// Hash of what a packing follows from: bodies, the seed, and of the materials what bonds are made of.
fn packing_hash(pipeline: &Pipeline) -> Option<String> {
    let bonds: Vec<_> = pipeline
        .materials
        .iter()
        .map(|m| {
            (
                (
                    &m.name,
                    m.density,
                    m.young,
                    m.poisson,
                    m.shear,
                    m.elasticity,
                ),
                (m.tensile_strength, m.shear_strength, m.weibull_modulus),
            )
        })
        .collect();
    let inputs = (&pipeline.bodies, bonds, pipeline.simulate.seed);
    serde_json::to_vec(&inputs).ok().map(|text| hash(&text))
}

fn hash(text: &[u8]) -> String {
    format!("{:016x}", xxh3_64(text))
}

/// `cullet pack`.
pub fn pack(resolved: Resolved, out: &Path, report: &Report) -> anyhow::Result<()> {
    refuse_foreign_folder(out)?;
    let stage = report.stage("pack", 1);
    let packed = packing::pack(&resolved.pipeline, &resolved.folder)?;
    // Whatever simulate would refuse is refused before anything is removed.
    integrate::Prepared::new(&packed.packing, &resolved.pipeline)?
        .validate(&resolved.pipeline, resolved.pipeline.simulate.backend)?;
    let store = Store::at(out);
    // What later stages made of another packing would not fit this one.
    for kind in [
        "packing",
        "frames",
        "breaks",
        "history",
        "fragments",
        "state",
        "meshes",
        "preview",
        "plots",
    ] {
        store.clear(kind)?;
    }
    packing::write(&store, &packed)?;
    let mut manifest = Manifest::new(resolved.pipeline);
    let elements = packed.packing.elements.id.len();
    let bonds = packed.packing.bonds.id.len();
    let seconds = stage.finish(&format!("{elements} elements, {bonds} bonds"));
    for notice in notices(&packed) {
        report.note(&notice);
    }
    record(&store, &mut manifest, "pack", seconds)
}

/// What a user should know of a packing.
pub fn notices(packed: &packing::Packed) -> Vec<String> {
    let mut out = Vec::new();
    for body in &packed.bodies {
        if body.isolated > 0 {
            out.push(format!(
                "body {:?}: {} elements that touch no other were left out",
                body.name, body.isolated
            ));
        }
        if body.parts > 1 && body.bonds > 0 {
            out.push(format!(
                "body {:?} comes in {} parts: it is thinner than an element somewhere; a smaller radius joins them",
                body.name, body.parts
            ));
        }
    }
    out
}

fn open(path: &Path) -> anyhow::Result<(Store, Manifest)> {
    let store = Store::open(path)?;
    let manifest = Manifest::read(&store)?;
    Ok((store, manifest))
}

fn pipeline_of(store: &Store, manifest: &Manifest) -> anyhow::Result<Pipeline> {
    manifest.pipeline.clone().ok_or_else(|| {
        WrongUse(format!(
            "{}: store.json holds no pipeline, which simulate needs",
            store.root().display()
        ))
        .into()
    })
}

/// `cullet simulate`.
pub fn simulate(arguments: &SimulateArguments, report: &Report) -> anyhow::Result<()> {
    simulate_pipeline(arguments, None, report)
}

/// Simulates the store's pipeline, or `changed`, which the store takes over once the run is accepted.
fn simulate_pipeline(
    arguments: &SimulateArguments,
    changed: Option<&Pipeline>,
    report: &Report,
) -> anyhow::Result<()> {
    let (store, mut manifest) = open(&arguments.store)?;
    let pipeline = match changed {
        Some(pipeline) => pipeline.clone(),
        None => pipeline_of(&store, &manifest)?,
    };
    let until = match &arguments.until {
        Some(text) => Some(
            units::parse(text, units::Dimension::Time)
                .map_err(|error| WrongUse(format!("--until {text:?}: {error}")))?,
        ),
        None => None,
    };
    if until.is_some_and(|until| until > pipeline.time.end) {
        report.note(&format!(
            "--until goes beyond the pipeline's end of {} s",
            pipeline.time.end
        ));
    }
    let options = integrate::Options {
        backend: arguments.backend,
        adapter: arguments.adapter.clone(),
        resume: arguments.resume,
        until,
    };
    let stage = report.stage("simulate", 1);
    let stop = interrupt::graceful();
    let mut adopted = changed.is_none();
    let outcome = integrate::run(&store, &pipeline, &options, stop.flag(), &mut |progress| {
        if !adopted {
            // A first frame means that nothing was refused. If this write fails, the one at the end tells.
            adopted = adopt(store.root(), &pipeline).is_ok();
        }
        let message = format!(
            "frames: {} broken, {} fragments",
            progress.broken, progress.fragments
        );
        stage.update(
            u64::from(progress.frame),
            u64::from(progress.last),
            &message,
        );
    })?;
    let seconds = stage.finish(&format!(
        "frame {}, {} steps on {}",
        outcome.frame, outcome.steps, outcome.place
    ));
    manifest.pipeline = Some(pipeline);
    if outcome.interrupted {
        return Err(Interrupted.into());
    }
    record(&store, &mut manifest, "simulate", seconds)
}

/// `cullet reconstruct`.
pub fn reconstruct(arguments: &FramesArguments, report: &Report) -> anyhow::Result<()> {
    let (store, mut manifest) = open(&arguments.store)?;
    let settings = manifest.pipeline.as_ref().map(|p| p.reconstruct.clone());
    let settings = settings.unwrap_or_default();
    some_frames(&store, &arguments.frames)?;
    let stage = report.stage("reconstruct", 1);
    surfaces::run(
        &store,
        &settings,
        arguments.frames.clone(),
        &mut |done, total| {
            stage.update(done as u64, total as u64, "frames");
        },
    )?;
    let seconds = stage.finish("surfaces written");
    record(&store, &mut manifest, "reconstruct", seconds)
}

fn some_frames(store: &Store, range: &Range<u32>) -> anyhow::Result<()> {
    if store.frames(range)?.is_empty() {
        let what = format!(
            "{}: no frame in the range asked for; run `cullet simulate` first or widen the range",
            store.root().display()
        );
        return Err(WrongUse(what).into());
    }
    Ok(())
}

/// `cullet export`.
pub fn export(arguments: &ExportArguments, report: &Report) -> anyhow::Result<()> {
    let (store, mut manifest) = open(&arguments.store)?;
    let pipeline = manifest.pipeline.as_ref();
    let settings = pipeline.map_or_else(Default::default, |pipeline| pipeline.export.clone());
    let options = export::Options {
        frames: arguments.frames.clone(),
        fps: pipeline.map_or(24.0, |p| p.time.frames_per_second),
        up: arguments.up.or(settings.up),
        scale: arguments.scale.unwrap_or(settings.scale),
        debris: arguments.debris_size.or(settings.debris_size),
        to: arguments.to.as_deref(),
    };
    let known = export::FORMATS.iter();
    let name = known
        .filter(|known| known.format == arguments.format)
        .map(|known| format!("export {}", known.name))
        .collect::<String>();
    let stage = report.stage(&name, 1);
    let summary = export::run(&store, arguments.format, &options, &mut |done, total| {
        stage.update(done as u64, total as u64, "frames")
    })?;
    let first = summary.files.first().map(|file| file.display().to_string());
    let stiffened = summary.stiffened.map(|stiffened| {
        format!(
            "; {} of {} surfaces bend and are shown rigid, off by up to {:.2e} {}",
            stiffened.surfaces,
            stiffened.of,
            stiffened.off,
            if options.scale == 1.0 { "m" } else { "units" }
        )
    });
    let seconds = stage.finish(&format!(
        "{} in {} files, first {}{}",
        megabytes(summary.bytes),
        summary.files.len(),
        first.unwrap_or_default(),
        stiffened.unwrap_or_default()
    ));
    record(&store, &mut manifest, &name, seconds)
}

/// `cullet preview`.
pub fn preview(arguments: &FramesArguments, report: &Report) -> anyhow::Result<()> {
    let (store, mut manifest) = open(&arguments.store)?;
    let settings = manifest.pipeline.as_ref().map(|p| p.preview.clone());
    let settings = settings.unwrap_or_default();
    some_frames(&store, &arguments.frames)?;
    let stage = report.stage("preview", 1);
    let summary = previewing::run(
        &store,
        &settings,
        arguments.frames.clone(),
        &mut |done, total| {
            stage.update(done as u64, total as u64, "frames");
        },
    )?;
    let seconds = stage.finish(&format!("{} pictures", summary.files.len()));
    record(&store, &mut manifest, "preview", seconds)
}

/// Bytes for people.
pub fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// Notes in `store.json` that a stage is done.
fn record(store: &Store, manifest: &mut Manifest, stage: &str, seconds: f64) -> anyhow::Result<()> {
    let pipeline = manifest.pipeline.as_ref();
    let inputs = match stage {
        "pack" => pipeline.and_then(packing_hash),
        _ => serde_json::to_vec(&pipeline).ok().map(|text| hash(&text)),
    };
    manifest.stages.insert(
        stage.to_owned(),
        StageRecord {
            input_hash: inputs.unwrap_or_default(),
            program: env!("CARGO_PKG_VERSION").to_owned(),
            seconds,
        },
    );
    manifest.write(store)?;
    Ok(())
}
