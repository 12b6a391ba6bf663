//! The stages, each of which reads a store and adds to it. The caller holds the lock of the store.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use super::arguments::ExportArguments;
use super::detail;
use super::error::{Interrupted, WrongUse};
use super::interrupt;
use super::progress::ProgressReporter;
use super::stage_inputs::StageInputs;

use crate::ranks::Transport;
use crate::simulate::PassCost;
use crate::spec::{self, ElementColour, Export, FrameGroup, Pipeline, ResolvedPipeline, UsdFile};
use crate::store::{FileChecksums, Manifest, Store, in_folder, layout, lock};
use crate::{
    export, pack as packing, preview as previewing, reconstruct as surfaces, simulate as integrate,
    stress as statics,
};

/// Packs the bodies. `hold`, which locks the store, is called once the pipeline cannot be refused any more.
pub fn pack<T>(
    resolved: &ResolvedPipeline,
    store: &Store,
    hold: impl FnOnce() -> anyhow::Result<T>,
    report: &ProgressReporter,
) -> anyhow::Result<T> {
    let stage = report.stage("pack", 1);
    let inputs = StageInputs::pack(&resolved.pipeline, &resolved.folder);
    let mut streamed = packing::stream(&resolved.pipeline, &resolved.folder)?;
    if !resolved.pipeline.is_static() {
        // A pipeline that `simulate` would refuse is refused before anything is removed.
        integrate::validate(&streamed, &resolved.pipeline)?;
        // With `integrator = "auto"` the packing decides on the integrator and so on the law of bonds.
        let (settled, _) = integrate::choose::choose(&streamed, &resolved.pipeline)?;
        streamed.tables.law = settled.simulate.bond_law();
    }
    let lock = hold()?;
    let manifest = Manifest::new(resolved.pipeline.clone());
    if !store.path("store.json").exists() {
        // From here on the folder counts as a store, whatever happens.
        manifest.write(store)?;
    }
    // Files that later stages made from another packing do not fit this one.
    store.replace("packing", &layout::made_after("pack"), |fresh| {
        packing::write_streamed(fresh, &streamed)
    })?;
    manifest.write(store)?;
    let seconds = stage.finish(&counts(&streamed));
    let packed = &streamed.packed;
    for warning in super::notices::size_warnings(&resolved.pipeline, packed) {
        report.note(&warning);
    }
    for notice in super::notices::notices(packed) {
        report.note(&notice);
    }
    let mut files = vec![
        store.path("packing/elements.parquet"),
        store.path("packing/bonds.parquet"),
    ];
    if !packed.packing.cells.cells.id.is_empty() {
        let tables = ["cells", "faces"].map(|name| store.path(format!("packing/{name}.parquet")));
        files.extend(tables);
    }
    files.extend((0..packed.shapes.len()).map(|body| store.shape_path(body)));
    let colliders = packed.packing.colliders.keys();
    files.extend(colliders.map(|&collider| store.collider_path(collider)));
    let sums = store.checksums_of(&files)?;
    let outputs = sums.keys().cloned().collect();
    inputs.finish(store, seconds, sums, outputs)?;
    Ok(lock)
}

/// Counts of a packing, for a line of text.
fn counts(streamed: &packing::Streamed) -> String {
    let packed = &streamed.packed;
    let elements = streamed.tables.element_count();
    let bonds = streamed.tables.bond_count();
    let free: Vec<usize> = packed
        .bodies
        .iter()
        .filter_map(|body| body.free_faces)
        .collect();
    if free.len() < packed.bodies.len() {
        return format!("{elements} elements, {bonds} bonds");
    }
    let free: usize = free.iter().sum();
    format!("{elements} cells, {bonds} faces between them, {free} free faces")
}

/// Opens a store and reads its `store.json`.
pub fn open(path: &Path) -> anyhow::Result<(Store, Manifest)> {
    let store = Store::open(path)?;
    let manifest = Manifest::read(&store)?;
    Ok((store, manifest))
}

/// Makes `pipeline` that of the store, for later stages.
pub fn set_pipeline(store: &Store, pipeline: &Pipeline) -> anyhow::Result<Manifest> {
    let manifest = Manifest::read(store)?;
    if manifest.pipeline.as_ref() == Some(pipeline) {
        return Ok(manifest);
    }
    Ok(Manifest::update(store, |manifest| {
        manifest.pipeline = Some(pipeline.clone());
    })?)
}

/// Refuses output columns that these later stages need and that are left out.
pub fn refuse_missing_columns(
    pipeline: &Pipeline,
    reconstructs: bool,
    previews: bool,
) -> anyhow::Result<()> {
    let of_colour = pipeline.preview.colour.map(ElementColour::group);
    let needs = |group: FrameGroup| {
        if reconstructs && surfaces::REQUIRED_GROUPS.contains(&group) {
            return Some("reconstruct needs; add it there, or end with --to simulate");
        }
        let missed = previews && of_colour == Some(group);
        missed.then_some("preview.colour needs; add it there, or remove preview.colour")
    };
    let mut missing = pipeline.output.missing_groups();
    match missing.find_map(|group| Some((group, needs(group)?))) {
        None => Ok(()),
        Some((group, needed)) => {
            let what = format!(
                "output.columns leaves out {:?}, which {needed}",
                group.name()
            );
            Err(WrongUse(what).into())
        }
    }
}

/// Refuses a folder with other content than a store, as a stage removes old files.
pub fn refuse_foreign_folder(out: &Path) -> anyhow::Result<()> {
    let taken = std::fs::read_dir(out).is_ok_and(|mut entries| {
        entries.any(|entry| entry.is_ok_and(|entry| !lock::is_lock_or_temporary(&entry.path())))
    });
    if out.is_file() || (taken && !out.join("store.json").is_file()) {
        let what = format!(
            "--out {}: the folder contains other files and no frame store; choose an empty or new folder",
            out.display()
        );
        return Err(WrongUse(what).into());
    }
    Ok(())
}

/// Refuses to continue with a packing that was made from other bodies or materials.
pub fn refuse_other_packing(store: &Store, resolved: &ResolvedPipeline) -> anyhow::Result<()> {
    let manifest = Manifest::read(store)?;
    let inputs = StageInputs::pack(&resolved.pipeline, &resolved.folder);
    let changed = inputs.outdated(store, &manifest, &[]);
    match (manifest.stages.contains_key("pack"), changed) {
        (true, Some(changed)) => {
            let what = format!(
                "{}: the packing was made from other bodies, materials or meshes ({changed}); pack again (--from pack, without --resume)",
                store.root().display()
            );
            Err(WrongUse(what).into())
        }
        _ => Ok(()),
    }
}

/// Takes part in a simulation that rank 0 records. What all ranks find, it reports.
pub fn simulate_for_first(
    store: &Store,
    pipeline: &Pipeline,
    options: &integrate::Options,
    transport: Option<Arc<dyn Transport>>,
) -> anyhow::Result<()> {
    let stop = interrupt::graceful();
    match integrate::run_on_ranks(
        store,
        pipeline,
        options,
        transport,
        stop.flag(),
        &mut |_| (),
    ) {
        Ok(_) | Err(integrate::SimulateError::NotFinite { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Simulates the pipeline, which becomes that of the store once the run has been accepted; together with other ranks if
/// there is a transport.
pub fn simulate(
    path: &Path,
    pipeline: &Pipeline,
    options: &integrate::Options,
    (report, transport): (&ProgressReporter, Option<Arc<dyn Transport>>),
) -> anyhow::Result<()> {
    let (store, manifest) = open(path)?;
    let inputs = StageInputs::simulate(&with_options(pipeline, options), &manifest);
    let stage = report.stage("simulate", 1);
    let stop = interrupt::graceful();
    let mut adopted = false;
    let outcome = integrate::run_on_ranks(
        &store,
        pipeline,
        options,
        transport,
        stop.flag(),
        &mut |progress| {
            if !adopted {
                // A first frame means that nothing was refused. If this write fails, the one at the end reports it.
                adopted = set_pipeline(&store, pipeline).is_ok();
            }
            let awake = progress.awake;
            let message = format!(
                "frames: {} broken, {} fragments{}",
                progress.broken,
                progress.fragments,
                awake.map_or_else(String::new, |awake| format!(", {awake} elements awake"))
            );
            stage.update(
                u64::from(progress.frame),
                u64::from(progress.last),
                &message,
            );
        },
    )?;
    let seconds = stage.finish(&format!(
        "frame {}, {} steps on {}",
        outcome.frame, outcome.steps, outcome.place
    ));
    if outcome.steps > 0 && !outcome.costs.is_empty() {
        report.note(&format!(
            "{:<12} {} of the time",
            "",
            PassCost::shares(&outcome.costs)
        ));
    }
    if let Some(traffic) = outcome.traffic.filter(|traffic| traffic.exchanges > 0) {
        report.note(&format!(
            "{:<12} rank 0 sent {} rows, {} bytes an exchange; load was rebalanced {} times",
            "",
            traffic.rows / traffic.exchanges,
            traffic.bytes / traffic.exchanges,
            traffic.rebalances
        ));
    }
    if let Some(damaged) = &outcome.damaged {
        report.note(&format!("an older state was used: {damaged}"));
    }
    let rate = |pipeline: &Pipeline| pipeline.time.frames_per_second;
    let written = manifest.pipeline.as_ref().map_or(rate(pipeline), rate);
    if outcome.steps == 0 && options.start != integrate::Start::Packing && rate(pipeline) != written
    {
        let what = format!(
            "no frame is left to compute after frame {}, so time.frames_per_second = {} would apply to no frame; \
             the frames have {written}: give a later --until, or start again without --resume",
            outcome.frame,
            rate(pipeline)
        );
        return Err(WrongUse(what).into());
    }
    set_pipeline(&store, pipeline)?;
    if outcome.interrupted {
        return Err(Interrupted.into());
    }
    Ok(inputs.finish(&store, seconds, FileChecksums::new(), Vec::new())?)
}

/// Computes the stress in the bodies under the loads of the store's pipeline, or under those that frames recorded.
pub fn stress(
    path: &Path,
    frames: Option<&Range<u32>>,
    report: &ProgressReporter,
) -> anyhow::Result<statics::Findings> {
    let (store, manifest) = open(path)?;
    let Some(pipeline) = &manifest.pipeline else {
        let what = format!(
            "{}: store.json contains no pipeline, which stress needs",
            path.display()
        );
        return Err(WrongUse(what).into());
    };
    let stage = report.stage("stress", pipeline.bodies.len() as u64);
    let inputs = StageInputs::stress(&manifest, frames);
    let findings = statics::run(&store, pipeline, frames, &mut |done, total| {
        stage.update(done as u64, total as u64, "bodies");
    })?;
    let verdicts = findings.verdicts.iter();
    let (triangles, points) = verdicts.fold((0, 0), |(triangles, points), verdict| {
        (triangles + verdict.triangles, points + verdict.points)
    });
    let seconds = stage.finish(&format!("{triangles} triangles, {points} points inside"));
    let shapes = (0..pipeline.bodies.len()).map(|body| store.stress_shape_path(body));
    let numbers = match frames {
        Some(frames) => store.frames(frames)?,
        None => vec![0],
    };
    let tables = numbers
        .into_iter()
        .map(|number| store.numbered("stress", number, "parquet"));
    let mut files: Vec<_> = shapes.chain(tables).collect();
    if findings
        .verdicts
        .iter()
        .any(|verdict| verdict.cracks.is_some())
    {
        files.extend([0, 1].map(|frame| store.numbered("frames", frame, "parquet")));
        files.push(store.numbered("breaks", 1, "parquet"));
    }
    let sums = store.checksums_of(&files)?;
    let outputs = sums.keys().cloned().collect();
    inputs.finish(&store, seconds, sums, outputs)?;
    Ok(findings)
}

/// The pipeline with the options of the command line applied.
pub fn with_options(pipeline: &Pipeline, options: &integrate::Options) -> Pipeline {
    let mut pipeline = pipeline.clone();
    pipeline.time.end = options.until.unwrap_or(pipeline.time.end);
    pipeline.simulate.backend = options.backend.unwrap_or(pipeline.simulate.backend);
    if let Some(adapter) = &options.adapter {
        pipeline.simulate.gpu.adapter = Some(adapter.clone());
        pipeline.simulate.backend = crate::spec::Backend::Gpu;
    }
    pipeline
}

/// Names of the tables of a simulation that `store.json` lists.
pub fn simulation_tables(manifest: &Manifest) -> Vec<String> {
    let names = manifest.files.keys();
    let tables = names.filter(|name| layout::tables().any(|kind| in_folder(name, kind)));
    tables.cloned().collect()
}

/// Names `kind/NNNNNN.extension` of the files of these frames.
pub fn frame_file_names(
    store: &Store,
    range: &Range<u32>,
    kind: &str,
    extension: &str,
) -> anyhow::Result<Vec<String>> {
    let frames = store.frames(range)?;
    let paths = frames
        .iter()
        .map(|&frame| store.numbered(kind, frame, extension));
    Ok(paths.filter_map(|path| store.name_of(&path)).collect())
}

fn sums(store: &Store, names: &[String]) -> anyhow::Result<FileChecksums> {
    let paths: Vec<_> = names.iter().map(|name| store.path(name)).collect();
    Ok(store.checksums_of(&paths)?)
}

/// Reconstructs the surfaces of these frames.
pub fn reconstruct(
    path: &Path,
    frames: &Range<u32>,
    report: &ProgressReporter,
) -> anyhow::Result<()> {
    let (store, manifest) = open(path)?;
    let settings = manifest.pipeline.as_ref().map(|p| p.reconstruct.clone());
    refuse_empty_range(&store, frames)?;
    let stage = report.stage("reconstruct", 1);
    let inputs = StageInputs::reconstruct(&manifest);
    let files = frame_file_names(&store, frames, "meshes", "rkyv")?;
    inputs.begin(&store, "meshes", &files)?;
    surfaces::run(
        &store,
        &settings.unwrap_or_default(),
        frames.clone(),
        &mut |done, total| {
            stage.update(done as u64, total as u64, "frames");
        },
    )?;
    let seconds = stage.finish("surfaces written");
    Ok(inputs.finish(&store, seconds, sums(&store, &files)?, Vec::new())?)
}

/// Numbers of the stress tables in a range.
fn stress_tables(store: &Store, range: &Range<u32>) -> anyhow::Result<Vec<u32>> {
    let mut numbers = store.numbers("stress", "parquet")?;
    numbers.retain(|number| range.contains(number));
    Ok(numbers)
}

/// Refuses a range without frames.
fn refuse_empty_range(store: &Store, range: &Range<u32>) -> anyhow::Result<()> {
    if store.frames(range)?.is_empty() {
        let what = format!(
            "{}: the range contains no frame; run `cullet simulate` first or widen the range",
            store.root().display()
        );
        return Err(WrongUse(what).into());
    }
    Ok(())
}

/// What an export follows.
pub fn export_inputs(arguments: &ExportArguments, manifest: &Manifest) -> StageInputs {
    let settings = manifest
        .pipeline
        .as_ref()
        .map(|p| p.export.clone())
        .unwrap_or_default();
    let mut options = json!({
        "usd": usd_file(arguments, &settings),
        "compress": arguments.compress.unwrap_or(settings.compress),
        "up": arguments.up.or(settings.up),
        "scale": arguments.scale.unwrap_or(settings.scale),
        "playback": arguments.playback.unwrap_or(settings.playback),
        "shutter": arguments.shutter.or(settings.shutter),
        "debris_size": arguments.debris_size.or(settings.debris_size),
        "frames": [arguments.frames.start, arguments.frames.end],
        "to": arguments.to,
    });
    let preview = manifest.pipeline.as_ref().and_then(|p| p.preview.camera);
    // Exports of full surfaces have the inputs that they always had.
    if arguments.format != spec::ExportFormat::UsdElements
        && let Some(inputs) = detail::inputs(&arguments.detail, &settings, preview)
    {
        options["detail"] = inputs;
    }
    StageInputs::export(export::entry_of(arguments.format).name, options, manifest)
}

/// Refuses a kind of USD file that is not the one that the extension of the target says.
fn refuse_other_kind(arguments: &ExportArguments) -> anyhow::Result<()> {
    let said = export::usd_file_of(arguments.to.as_deref());
    if let (Some(usd), Some(said)) = (arguments.usd, said)
        && usd != said
    {
        let (usd, said) = (usd.extension(), said.extension());
        let what = format!("--usd {usd} does not fit --to, whose extension says {said}");
        return Err(WrongUse(what).into());
    }
    Ok(())
}

/// The kind of USD files that an export writes.
fn usd_file(arguments: &ExportArguments, settings: &Export) -> UsdFile {
    let said = export::usd_file_of(arguments.to.as_deref()).or(arguments.usd);
    said.unwrap_or(settings.usd)
}

/// Frames per second of a store without a pipeline: from the times of its first two frames, else that of film.
fn frame_rate(store: &Store, range: &Range<u32>) -> anyhow::Result<f64> {
    let frames = store.frames(range)?;
    let mut times: Vec<f64> = Vec::new();
    for &frame in frames.iter().take(2) {
        let table = store.read_frame_with(frame, &[])?;
        times.extend(table.time.first());
    }
    Ok(match times[..] {
        [first, second] if second > first => 1.0 / (second - first),
        _ => 24.0,
    })
}

/// Exports the store in one format.
pub fn export(arguments: &ExportArguments, report: &ProgressReporter) -> anyhow::Result<()> {
    refuse_other_kind(arguments)?;
    let (store, manifest) = open(&arguments.store)?;
    let pipeline = manifest.pipeline.as_ref();
    let settings = pipeline.map_or_else(Default::default, |pipeline| pipeline.export.clone());
    let options = export::ExportOptions {
        frames: arguments.frames.clone(),
        fps: match pipeline {
            Some(pipeline) => pipeline.time.frames_per_second,
            None => frame_rate(&store, &arguments.frames)?,
        },
        usd: usd_file(arguments, &settings),
        compress: arguments.compress.unwrap_or(settings.compress),
        up: arguments.up.or(settings.up),
        scale: arguments.scale.unwrap_or(settings.scale),
        playback: arguments.playback.unwrap_or(settings.playback),
        shutter: arguments.shutter.or(settings.shutter),
        debris: arguments.debris_size.or(settings.debris_size),
        detail: detail::limits(&arguments.detail, pipeline)?,
        to: arguments.to.as_deref(),
    };
    let inputs = export_inputs(arguments, &manifest);
    let stage = report.stage(&inputs.name, 1);
    // Files of the last export of this format may be overwritten.
    let old = manifest.stages.get(&inputs.name);
    let old = old.map(|record| record.outputs.clone()).unwrap_or_default();
    // A refused export leaves the last one valid.
    let prepared = export::prepare(&store, arguments.format, &options)?;
    inputs.begin(&store, "", &old)?;
    let summary = prepared.write(&mut |done, total| {
        stage.update(done as u64, total as u64, "frames");
    })?;
    // VTK files are always in metres.
    let file_scale = match arguments.format {
        spec::ExportFormat::Vtk => 1.0,
        _ => options.scale,
    };
    let first = summary.files.first().map(|file| file.display().to_string());
    let stiffened = summary.stiffened.map(|stiffened| {
        format!(
            "; {} of {} surfaces bend but are exported as rigid, with an error of up to {:.2e} {}",
            stiffened.surfaces,
            stiffened.total,
            stiffened.largest_error,
            if options.scale == 1.0 { "m" } else { "units" }
        )
    });
    stage.files(&summary.files);
    let seconds = stage.finish(&format!(
        "{} in {}, first {}{}{}{}",
        megabytes(summary.bytes),
        counted_files(summary.files.len()),
        first.unwrap_or_default(),
        stiffened.unwrap_or_default(),
        detail::note(summary.detail, file_scale),
        playback_note(&summary)
    ));
    let sums = store.checksums_of(&summary.files)?;
    let outputs = sums.keys().cloned().collect();
    Ok(inputs.finish(&store, seconds, sums, outputs)?)
}

/// "1 file", "2 files".
pub fn counted_files(count: usize) -> String {
    format!("{count} file{}", if count == 1 { "" } else { "s" })
}

/// Note on how much slower or faster than the event a file is played.
fn playback_note(summary: &export::ExportSummary) -> String {
    match summary.slow_motion {
        Some(times) if times < 1.0 - 1e-9 => {
            format!("; played {:.4} times faster than it happened", 1.0 / times)
        }
        Some(times) if times > 1.0 + 1e-9 => {
            format!("; played {times:.4} times slower than it happened")
        }
        _ => String::new(),
    }
}

/// Draws the pictures of these frames.
pub fn preview(path: &Path, frames: &Range<u32>, report: &ProgressReporter) -> anyhow::Result<()> {
    let (store, manifest) = open(path)?;
    let settings = manifest.pipeline.as_ref().map(|p| p.preview.clone());
    if stress_tables(&store, frames)?.is_empty() {
        refuse_empty_range(&store, frames)?;
    }
    let stage = report.stage("preview", 1);
    let inputs = StageInputs::preview(&manifest);
    let settings = settings.unwrap_or_default();
    let files = pictures(&store, frames, &settings)?;
    inputs.begin(&store, "preview", &files)?;
    let summary = previewing::run(&store, &settings, frames.clone(), &mut |done, total| {
        stage.update(done as u64, total as u64, "frames");
    })?;
    stage.files(&summary.files);
    let seconds = stage.finish(&format!("{} pictures", summary.files.len()));
    Ok(inputs.finish(&store, seconds, sums(&store, &files)?, Vec::new())?)
}

/// Names of the pictures of these frames.
pub fn pictures(
    store: &Store,
    frames: &Range<u32>,
    preview: &spec::Preview,
) -> anyhow::Result<Vec<String>> {
    let mut files = frame_file_names(store, frames, "preview", "png")?;
    let tables = stress_tables(store, frames)?;
    if !files.is_empty() || tables.is_empty() {
        files.push("preview/contact_sheet.png".to_owned());
    }
    for table in tables {
        files.extend(previewing::stress_picture_paths(table, preview));
    }
    Ok(files)
}

/// A size in bytes as text, in MB.
pub fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
