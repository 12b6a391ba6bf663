//! The stages around time integration: packing, surfaces, exports, frames on disk.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use glam::DVec3;

use cullet::columns::{Frames, Table as _};
use cullet::pack::{self, Packed};
use cullet::simulate::run_state::state::State;
use cullet::simulate::{self, method};
use cullet::spec::{self, Backend, ExportFormat, Pipeline, Playback};
use cullet::store::{Manifest, Packing, Store};
use cullet::{export, reconstruct};

use super::scenes::{Failure, Scene, SceneKind};
use super::table::{Cell, Column, Table, column};
use super::timing::Timing;

/// Columns of stages.
pub const COLUMNS: &[Column] = &[
    column("stage", "stage", 1.0, 0),
    column("elements", "elements", 1.0, 0),
    column("seconds", "s best", 1.0, 3),
    column("seconds_median", "median", 1.0, 3),
    column("elements_per_second", "M elements/s", 1e-6, 2),
    column("bytes_per_second", "MB/s", 1e-6, 1),
    column("note", "note", 1.0, 0),
];

/// Approximate numbers of elements.
#[derive(Clone, Copy)]
pub struct StageSizes {
    /// Of the bunny that is packed and of the block whose frame is written.
    large: u32,
    /// Of the bunny whose surfaces are rebuilt and of the random packing.
    middle: u32,
}

impl StageSizes {
    /// As large as that, and a tenth of it.
    pub fn of(elements: f64) -> Self {
        StageSizes {
            large: elements as u32,
            middle: (elements / 10.0) as u32,
        }
    }
}

fn row(name: &str, elements: usize, timing: Timing, bytes: Option<u64>, note: String) -> Vec<Cell> {
    vec![
        name.into(),
        elements.into(),
        timing.best.into(),
        timing.median.into(),
        (elements as f64 / timing.best).into(),
        bytes.map(|bytes| bytes as f64 / timing.best).into(),
        note.into(),
    ]
}

fn bunny(elements: u32) -> Result<(Packed, Pipeline), Failure> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/pipelines/bunny_drop.toml");
    let set = [format!("body.bunny.packing.elements={elements}")];
    let shot = spec::read(Path::new(file), &set)?;
    Ok((pack::pack(&shot.pipeline, &shot.folder)?, shot.pipeline))
}

/// Edge of the box that 100 thousand elements and a few more fill at random, over the radius.
const RANDOM_EDGE: f64 = 88.0;

/// Random close packing of equal radii in a box.
fn random(elements: u32) -> Result<Packed, Failure> {
    let edge = RANDOM_EDGE * (f64::from(elements) / 1e5).cbrt();
    let text = format!(
        "[time]\nend = 1\nframes_per_second = 1\n[[material]]\nname = \"m\"\ndensity = 1000\nyoung = 1e7\n\
         [[body]]\nname = \"b\"\nmaterial = \"m\"\nshape = {{ type = \"box\", size = [{edge}, {edge}, {edge}] }}\n\
         packing = {{ type = \"random\", radius = 1 }}\n"
    );
    let shot = spec::parse(&text, "random", &[])?;
    Ok(pack::pack(&shot, Path::new("."))?)
}

/// Hexagonal packing inside a mesh, random packing in a box.
pub fn packing(table: &mut Table, size: StageSizes) -> Result<(), Failure> {
    let mut packed = None;
    let timing = Timing::runs(3, || {
        packed = Some(bunny(size.large)?.0.packing);
        Ok::<_, Failure>(())
    })?;
    let packing = packed.unwrap_or_default();
    let note = format!("{} bonds, mesh read and checked", packing.bonds.id.len());
    let elements = packing.elements.id.len();
    table.push(row(
        "pack, hexagonal in the bunny",
        elements,
        timing,
        None,
        note,
    ));
    let mut packed = None;
    let timing = Timing::runs(1, || {
        packed = Some(random(size.middle)?);
        Ok::<_, Failure>(())
    })?;
    let packed = packed.ok_or("nothing was packed")?;
    let e = &packed.packing.elements;
    let centres: Vec<DVec3> = (0..e.id.len())
        .map(|i| DVec3::new(e.x[i], e.y[i], e.z[i]))
        .collect();
    let found = pack::figures(&centres, &e.r, &[], packed.shapes.first());
    let found = found.ok_or("a body without elements")?;
    let bulk = found.bulk.ok_or("a body without a bulk")?;
    let note = format!(
        "{:.2} % full, overlap {:.1e} r, {:.2} contacts",
        100.0 * bulk.filling,
        found.overlap,
        bulk.contacts
    );
    table.push(row("pack, random in a box", e.id.len(), timing, None, note));
    Ok(())
}

/// Surfaces of the bunny, whole and cut in eight, and their exports.
pub fn surfaces(
    table: &mut Table,
    size: StageSizes,
    (reconstruct, exports): (bool, bool),
) -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let store = Store::at(folder.path());
    let (packed, pipeline) = bunny(size.middle)?;
    let elements = packed.packing.elements.id.len();
    pack::write(&store, &packed)?;
    Manifest::new(pipeline.clone()).write(&store)?;
    let mut engine = method(&packed.packing, &pipeline, Backend::Cpu, 1e-7)?;
    let whole = engine.snapshot(0)?.frames;
    let pieces = octants(&packed.packing);
    for number in 0..4 {
        let mut frame = whole.clone();
        frame.frame.fill(number);
        if number > 0 {
            frame.fragment.clone_from(&pieces);
        }
        store.write_numbered("frames", number, &frame)?;
    }
    let time = |frames: std::ops::Range<u32>, runs: usize| {
        Timing::runs(runs, || {
            reconstruct::run(
                &store,
                &pipeline.reconstruct,
                frames.clone(),
                &mut |_, _| (),
            )
            .map(|_| ())
        })
    };
    // The exports need the surfaces whether or not their making is timed.
    let (first, cut, more) = (time(0..1, 2)?, time(1..2, 2)?, time(1..4, 2)?);
    time(0..1, 1)?;
    if reconstruct {
        let bytes = Some(std::fs::metadata(store.numbered("meshes", 1, "rkyv"))?.len());
        let carried = Timing {
            best: (more.best - cut.best) / 2.0,
            median: (more.median - cut.median) / 2.0,
            mean: (more.mean - cut.mean) / 2.0,
        };
        for (name, timing, note) in [
            (
                "reconstruct, first frame",
                first,
                "grid, field and surface made",
            ),
            (
                "reconstruct, cut in eight",
                cut,
                "the same for eight pieces",
            ),
            (
                "reconstruct, further frame",
                carried,
                "nothing new broke: surfaces moved",
            ),
        ] {
            table.push(row(name, elements, timing, bytes, note.to_owned()));
        }
    }
    if exports {
        for (name, format) in [
            ("export USD", ExportFormat::Usd),
            ("export GLB", ExportFormat::Glb),
            ("export OBJ", ExportFormat::Obj),
            ("export PLY", ExportFormat::Ply),
        ] {
            let to = folder.path().join(format!("exported/{name}"));
            let options = export::ExportOptions {
                frames: 1..4,
                fps: 24.0,
                playback: Playback::default(),
                shutter: None,
                usd: Default::default(),
                compress: true,
                up: None,
                scale: 1.0,
                debris: None,
                detail: None,
                to: Some(&to),
            };
            let mut bytes = 0;
            let timing = Timing::runs(3, || {
                let done = export::run(&store, format, &options, &mut |_, _| ())?;
                bytes = done.bytes;
                Ok::<_, export::ExportError>(())
            })?;
            let note = format!("{:.1} MB", bytes as f64 / 1e6);
            table.push(row(name, elements, timing, Some(bytes), note));
        }
    }
    Ok(())
}

/// Fragment labels after cutting elements apart by three planes through the middle: the lowest element id of
/// each octant.
fn octants(packing: &Packing) -> Vec<u32> {
    let e = &packing.elements;
    let middle = [&e.x, &e.y, &e.z].map(|column| column.iter().sum::<f64>() / column.len() as f64);
    let mut lowest = [u32::MAX; 8];
    let eighths: Vec<usize> = (0..e.id.len())
        .map(|i| {
            let beyond = [e.x[i] > middle[0], e.y[i] > middle[1], e.z[i] > middle[2]];
            let eighth = beyond
                .iter()
                .fold(0, |bits, &side| 2 * bits + usize::from(side));
            lowest[eighth] = lowest[eighth].min(e.id[i]);
            eighth
        })
        .collect();
    eighths.into_iter().map(|eighth| lowest[eighth]).collect()
}

/// Frames, states and packings written and read.
pub fn storage(table: &mut Table, size: StageSizes) -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let store = Store::at(folder.path());
    let Scene { packing, pipeline } = SceneKind::Elastic.scene(f64::from(size.large))?;
    let elements = packing.elements.id.len();
    let mut engine = method(
        &packing,
        &pipeline,
        Backend::Cpu,
        SceneKind::Elastic.step()?,
    )?;
    // A few steps, so that the last digits vary as in a run.
    engine.advance(5)?;
    let mut frame = Frames::default();
    let taken = Timing::runs(3, || engine.snapshot(0).map(|taken| frame = taken.frames))?;
    let raw = raw_bytes(&frame);
    let note = "velocities, stresses, fragments, energies".to_owned();
    table.push(row(
        "frame taken from a run",
        elements,
        taken,
        Some(raw),
        note,
    ));

    let written = Timing::runs(3, || store.write_numbered("frames", 0, &frame))?;
    let read = Timing::runs(3, || store.read_frame(0).map(|_| ()))?;
    let size = std::fs::metadata(store.numbered("frames", 0, "parquet"))?.len();
    let per = |bytes: u64| format!("{:.1} bytes an element", bytes as f64 / elements as f64);
    let note = format!("{} of {:.0}", per(size), raw as f64 / elements as f64);
    table.push(row(
        "frame written",
        elements,
        written,
        Some(raw),
        note.clone(),
    ));
    table.push(row("frame read", elements, read, Some(raw), note));

    let mut state = None;
    let taken = Timing::runs(3, || engine.state(0).map(|taken| state = Some(taken)))?;
    let state = state.expect("three were taken");
    let written = Timing::runs(3, || state.write(&store))?;
    let read = Timing::runs(3, || State::read(&store, 0).map(|_| ()))?;
    let size = std::fs::metadata(store.numbered("state", 0, "rkyv"))?.len();
    for (name, timing) in [
        ("state taken, with a frame", taken),
        ("state written", written),
        ("state read", read),
    ] {
        table.push(row(name, elements, timing, Some(size), per(size)));
    }

    let written = Timing::runs(2, || store.write_packing(&packing))?;
    let read = Timing::runs(2, || store.read_packing().map(|_| ()))?;
    let size = std::fs::metadata(store.path("packing/elements.parquet"))?.len()
        + std::fs::metadata(store.path("packing/bonds.parquet"))?.len();
    table.push(row(
        "packing written",
        elements,
        written,
        Some(size),
        per(size),
    ));
    table.push(row("packing read", elements, read, Some(size), per(size)));
    Ok(())
}

/// Steps between frames for measuring the cost of frames.
const STEPS: u64 = 100;
/// Number of frames for that.
const FRAMES: u64 = 30;

/// Compares a run with frames and states with the same steps alone, in turn.
pub fn frame_cost(table: &mut Table, size: StageSizes) -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let store = Store::at(folder.path());
    let Scene {
        packing,
        mut pipeline,
    } = SceneKind::Elastic.scene(f64::from(size.middle))?;
    let dt = SceneKind::Elastic.step()?;
    pipeline.time.step = Some(dt);
    pipeline.time.frames_per_second = 1.0 / (STEPS as f64 * dt);
    pipeline.time.end = (FRAMES * STEPS) as f64 * dt;
    store.write_packing(&packing)?;
    let options = simulate::Options {
        backend: Some(Backend::Cpu),
        adapter: None,
        start: cullet::simulate::Start::Packing,
        inherited: None,
        until: None,
    };
    let (mut alone, mut with) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        let mut engine = method(&packing, &pipeline, Backend::Cpu, dt)?;
        engine.advance(5)?;
        let clock = Instant::now();
        engine.advance(FRAMES * STEPS)?;
        alone.push(clock.elapsed().as_secs_f64());
        drop(engine);
        // From the first frame to the last byte on disk.
        let mut clock = None;
        let go_on = AtomicBool::new(false);
        simulate::run(&store, &pipeline, &options, &go_on, &mut |_| {
            clock.get_or_insert_with(Instant::now);
        })?;
        let clock = clock.expect("there is a first frame");
        with.push(clock.elapsed().as_secs_f64());
    }
    let (alone, with) = (Timing::of(alone), Timing::of(with));
    let note = format!(
        "{:+.1} % over the steps alone (medians {:+.1} %)",
        100.0 * (with.best / alone.best - 1.0),
        100.0 * (with.median / alone.median - 1.0)
    );
    let elements = packing.elements.id.len();
    let name = "3000 steps with 31 frames, 4 states";
    table.push(row(name, elements, with, None, note));
    Ok(())
}

/// StageSizes of the columns of a table in memory, bytes.
fn raw_bytes(frame: &Frames) -> u64 {
    let arrays = frame.to_arrays();
    let buffers = arrays
        .iter()
        .map(|array| array.get_buffer_memory_size() as u64);
    buffers.sum()
}
