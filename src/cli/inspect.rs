//! `cullet inspect`: the main figures of a store.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::summary;
use crate::columns::{Fragments, History, Loads, Named};
use crate::geometry::read;
use crate::spec::FrameGroup;
use crate::store::{Manifest, Packing, Store, StoreError, if_present};

/// Prints figures of a store.
pub fn inspect(path: &Path, as_json: bool) -> anyhow::Result<()> {
    let store = Store::open(path)?;
    let manifest = Manifest::read(&store)?;
    let columns = ["body", "kind", "mass", "r", "x", "y", "z"];
    let packing = store.read_packing_columns(&columns, &["i", "j"])?;
    let (elements, bonds) = (&packing.elements, packing.bonds.i.len());
    let mass: f64 = elements.mass.iter().sum();
    let frames = store.numbers("frames", "parquet")?;
    let mut out = json!({
        "store": store.root(),
        "schema_version": manifest.schema_version,
        "schema_minor": manifest.schema_minor,
        "elements": elements.id.len(),
        "bonds": bonds,
        "mass": mass,
        "bodies": bodies(&store, &manifest, &packing),
        "frames": frames.len(),
        "states": store.numbers("state", "rkyv")?,
        "meshes": store.numbers("meshes", "rkyv")?.len(),
        "stages": manifest.stages,
        "broken_by_mode": broken_by_mode(&store)?,
        "disk": disk_usage(store.root())?,
    });
    // Stores written by other programs may lack these tables.
    let last = frames.last().copied().unwrap_or(0);
    let history = if_present(store.read_history(last))?;
    let fragments = if_present(store.read_fragments(last))?;
    if let Some(history) = history.filter(|history| !history.frame.is_empty()) {
        out["last"] = json!({
            "frame": last,
            "time": history.time[0],
            "step": history.step[0],
            "dt": history.dt[0],
            "energy": {
                "kinetic": history.kinetic[0],
                "rotational": history.rotational[0],
                "gravity": history.gravity[0],
                "bond": history.bond[0],
                "contact": history.contact[0],
            },
            "work": work(&history),
            "broken": history.broken[0],
            "broken_part": f64::from(history.broken[0]) / bonds.max(1) as f64,
            "contacts": history.contacts[0],
            "outside": history.outside[0],
        });
        if let Some(loads) = if_present(store.read_loads(last))? {
            out["last"]["loads"] = load_rows(&loads);
        }
        let mut seconds = 0.0;
        let mut slowest = (0.0, last);
        for &frame in &frames {
            let spent = if_present(store.read_history(frame))?.map(|history| history.seconds);
            let spent = spent
                .and_then(|seconds| seconds.first().copied())
                .unwrap_or(0.0);
            seconds += spent;
            if spent > slowest.0 {
                slowest = (spent, frame);
            }
        }
        out["frame_seconds"] = json!({
            "mean": seconds / frames.len() as f64,
            "most": slowest.0,
            "most_in_frame": slowest.1,
        });
        out["simulate_seconds"] = json!(seconds);
        if seconds > 0.0 {
            let work = elements.id.len() as f64 * history.step[0] as f64;
            out["element_steps_per_second"] = json!(work / seconds);
        }
    }
    if out["last"].is_null() && !frames.is_empty() {
        out["last"] = last_frame_figures(&store, last, bonds)?;
    }
    if let Some(fragments) = fragments.filter(|_| !frames.is_empty()) {
        let mut largest: Vec<f64> = fragments.mass.clone();
        largest.sort_by(|a, b| b.total_cmp(a));
        let total: f64 = fragments.mass.iter().sum();
        let row = &mut out["last"];
        row["fragments"] = json!(fragments.fragment.len());
        row["fragments_of_10_elements"] = json!(count_at_least(&fragments, 10));
        let parts = largest.iter().take(8).map(|m| m / total);
        row["largest_mass_parts"] = json!(parts.collect::<Vec<_>>());
        row["mass_error"] = json!(total / mass - 1.0);
    }
    if as_json {
        return super::print::print(&out.to_string());
    }
    super::print::print(&summary::lines(&out).join("\n"))
}

/// Figures of each body's packing.
fn bodies(store: &Store, manifest: &Manifest, packing: &Packing) -> Value {
    let names = manifest.pipeline.as_ref().map(|shot| &shot.bodies);
    let name = |body: usize| match names.and_then(|bodies| bodies.get(body)) {
        Some(body) => body.name.clone(),
        None => format!("body {body}"),
    };
    // Stores written by other programs may lack skins.
    let skin = |body| read::read(&store.shape_path(body)).ok();
    super::bodies::bodies(packing, name, skin)
}

/// Load on each collider and attachment.
fn load_rows(loads: &Loads) -> Value {
    let rows = (0..loads.name.len()).map(|k| {
        json!({
            "kind": loads.kind[k].name(),
            "name": loads.name[k],
            "force": [loads.fx[k], loads.fy[k], loads.fz[k]],
            "torque": [loads.tx[k], loads.ty[k], loads.tz[k]],
            "moved": [loads.dx[k], loads.dy[k], loads.dz[k]],
            "angle": loads.angle[k],
            "contacts": loads.contacts[k],
        })
    });
    rows.collect()
}

/// Numbers of broken bonds by the strength that was exceeded.
fn broken_by_mode(store: &Store) -> anyhow::Result<Value> {
    let mut counts = BTreeMap::new();
    for frame in store.numbers("breaks", "parquet")? {
        for mode in store.read_breaks(frame)?.mode {
            *counts.entry(mode.name()).or_insert(0u32) += 1;
        }
    }
    Ok(json!(counts))
}

/// Energy dissipated by each cause, if the history holds it.
fn work(history: &History) -> Value {
    let kinds = [
        ("damping", &history.damping),
        ("friction", &history.friction),
        ("breaking", &history.breaking),
        ("sleep", &history.rigidified),
    ];
    let recorded = kinds.iter().filter(|(_, energy)| !energy.is_empty());
    recorded
        .map(|(kind, energy)| ((*kind).to_owned(), json!(energy[0])))
        .collect()
}

/// Numbers of files and bytes on disk, by folder of the store.
fn disk_usage(root: &Path) -> anyhow::Result<Value> {
    let mut kinds: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut folders = vec![(root.to_owned(), None)];
    while let Some((folder, kind)) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type()?.is_dir() {
                folders.push((entry.path(), Some(kind.clone().unwrap_or(name))));
            } else if !name.starts_with('.') {
                let of = kinds.entry(kind.clone().unwrap_or(name)).or_default();
                *of = (of.0 + 1, of.1 + entry.metadata()?.len());
            }
        }
    }
    let (files, bytes) = kinds
        .values()
        .fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
    let by_kind: BTreeMap<_, _> = kinds
        .into_iter()
        .map(|(kind, (files, bytes))| (kind, json!({ "files": files, "bytes": bytes })))
        .collect();
    Ok(json!({ "files": files, "bytes": bytes, "by_kind": by_kind }))
}

/// Figures of a frame from the tables of frames and breaks only.
fn last_frame_figures(store: &Store, last: u32, bonds: usize) -> Result<Value, StoreError> {
    let mut broken = 0;
    for number in store.numbers("breaks", "parquet")? {
        if number <= last {
            broken += store.read_broken(number, bonds)?.len();
        }
    }
    let frame = store.read_frame_with(last, &[])?;
    let mut figures = json!({
        "frame": last,
        "time": frame.time.first(),
        "broken": broken,
        "broken_part": broken as f64 / bonds.max(1) as f64,
    });
    if store.frame_groups(last)?.contains(&FrameGroup::Fragment) {
        let mut labels = frame.fragment;
        labels.sort_unstable();
        labels.dedup();
        figures["fragments"] = json!(labels.len());
    }
    Ok(figures)
}

/// Number of fragments of at least `elements` elements.
fn count_at_least(fragments: &Fragments, elements: u32) -> usize {
    fragments
        .elements
        .iter()
        .filter(|&&n| n >= elements)
        .count()
}
