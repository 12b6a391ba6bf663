//! `cullet inspect`: the figures that a user asks for first.

use std::path::Path;

use serde_json::json;

use crate::columns::Fragments;
use crate::spec::FrameGroup;
use crate::store::{Manifest, Store, StoreError};

/// Prints what is in a store.
pub fn inspect(path: &Path, as_json: bool) -> anyhow::Result<()> {
    let store = Store::open(path)?;
    let manifest = Manifest::read(&store)?;
    let elements = store.read_element_columns(&["mass"])?;
    let bonds = store.bond_count()?;
    let mass: f64 = elements.mass.iter().sum();
    let frames = store.numbers("frames", "parquet")?;
    let mut out = json!({
        "store": store.root(),
        "schema_version": manifest.schema_version,
        "elements": elements.id.len(),
        "bonds": bonds,
        "mass": mass,
        "frames": frames.len(),
        "states": store.numbers("state", "rkyv")?,
        "meshes": store.numbers("meshes", "rkyv")?.len(),
        "stages": manifest.stages,
    });
    // Stores of other programs need not have these two.
    let last = frames.last().copied().unwrap_or(0);
    let history = if_there(store.read_history(last))?;
    let fragments = if_there(store.read_fragments(last))?;
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
            "broken": history.broken[0],
            "broken_part": f64::from(history.broken[0]) / bonds.max(1) as f64,
            "contacts": history.contacts[0],
            "outside": history.outside[0],
        });
        let mut seconds = 0.0;
        for &frame in &frames {
            let history = if_there(store.read_history(frame))?;
            seconds += history
                .and_then(|h| h.seconds.first().copied())
                .unwrap_or(0.0);
        }
        out["simulate_seconds"] = json!(seconds);
        if seconds > 0.0 {
            let work = elements.id.len() as f64 * history.step[0] as f64;
            out["element_steps_per_second"] = json!(work / seconds);
        }
    }
    if let Some(fragments) = fragments {
        let mut largest: Vec<f64> = fragments.mass.clone();
        largest.sort_by(|a, b| b.total_cmp(a));
        let total: f64 = fragments.mass.iter().sum();
        let told = &mut out["last"];
        told["frame"] = json!(last);
        told["fragments"] = json!(fragments.fragment.len());
        told["fragments_of_10_elements"] = json!(count(&fragments, 10));
        let parts = largest.iter().take(8).map(|m| m / total);
        told["largest_mass_parts"] = json!(parts.collect::<Vec<_>>());
        told["mass_error"] = json!(total / mass - 1.0);
    }
    if out["last"].is_null() && !frames.is_empty() {
        out["last"] = seen(&store, last, bonds)?;
    }
    if as_json {
        return super::print(&out.to_string());
    }
    let mut lines = Vec::new();
    list(&out, 0, &mut lines);
    super::print(&lines.join("\n"))
}

/// What frames and breaks alone tell of a frame.
fn seen(store: &Store, last: u32, bonds: usize) -> Result<serde_json::Value, StoreError> {
    let mut broken = 0;
    for number in store.numbers("breaks", "parquet")? {
        if number <= last {
            broken += store.read_broken(number, bonds)?.len();
        }
    }
    let frame = store.read_frame_with(last, &[])?;
    let mut seen = json!({
        "frame": last,
        "time": frame.time.first(),
        "broken": broken,
        "broken_part": broken as f64 / bonds.max(1) as f64,
    });
    if store.frame_groups(last)?.contains(&FrameGroup::Fragment) {
        let mut labels = frame.fragment;
        labels.sort_unstable();
        labels.dedup();
        seen["fragments"] = json!(labels.len());
    }
    Ok(seen)
}

/// A table, or none where its file is not there.
fn if_there<T>(read: crate::store::Result<T>) -> crate::store::Result<Option<T>> {
    match read {
        Ok(table) => Ok(Some(table)),
        Err(StoreError::Missing { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn count(fragments: &Fragments, elements: u32) -> usize {
    fragments
        .elements
        .iter()
        .filter(|&&n| n >= elements)
        .count()
}

fn list(value: &serde_json::Value, depth: usize, lines: &mut Vec<String>) {
    let Some(map) = value.as_object() else {
        return;
    };
    for (key, value) in map {
        let indent = "  ".repeat(depth);
        if value.is_object() {
            lines.push(format!("{indent}{key}"));
            list(value, depth + 1, lines);
        } else {
            lines.push(format!("{indent}{key:<26} {}", plain(value)));
        }
    }
}

fn plain(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(" "),
        serde_json::Value::Number(number) => match number.as_f64() {
            Some(x) if !number.is_u64() && !number.is_i64() => format!("{x:.6}")
                .parse::<f64>()
                .ok()
                .filter(|rounded| *rounded != 0.0 && x.abs() >= 1e-3)
                .map_or_else(|| format!("{x:.4e}"), |rounded| rounded.to_string()),
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}
