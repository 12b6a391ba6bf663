//! What is in the stores, and whether a simulation is adding to them.

use std::time::UNIX_EPOCH;

use glam::DVec3;
use serde_json::{Value, json};

use super::colliders;
use super::error::ViewError;
use super::quantities;
use super::viewed::{StoreView, ViewedStore};
use crate::spec::Camera;
use crate::store::{Store, if_present};

/// Fragments lighter than this share of the mass do not count for that camera: chips fly far.
const LARGE_SHARE: f64 = 0.01;
/// Number of newest frames whose wall time tells how long the next ones take.
const RECENT: usize = 5;

/// Description of a store. A damaged store has an `error`, and whatever could be read of the rest.
pub fn overview(viewed: &ViewedStore) -> Value {
    let mut out = empty(viewed);
    if let Err(error) = fill(&mut out, viewed) {
        out["error"] = json!(error.to_string());
    }
    out
}

/// Description of a store that is not damaged.
pub fn described(viewed: &ViewedStore) -> Result<Value, ViewError> {
    let mut out = empty(viewed);
    fill(&mut out, viewed)?;
    Ok(out)
}

fn empty(viewed: &ViewedStore) -> Value {
    json!({
        "name": viewed.name(), "stamp": null, "frames": [], "times": [], "surfaces": [], "elements_in": [],
        "elements": 0, "bonds": 0, "bodies": [], "materials": [], "columns": [], "camera": null, "bounds": null,
        "end": null, "colliders": [], "live": { "running": false, "stage": null, "awake": null, "elements": 0,
        "seconds_left": null, "frames_left": null }, "error": null,
    })
}

fn fill(out: &mut Value, viewed: &ViewedStore) -> Result<(), ViewError> {
    let view = viewed.view()?;
    let store = &view.store;
    let (changed, length) = viewed.stamp()?;
    let changed = changed.duration_since(UNIX_EPOCH).unwrap_or_default();
    out["stamp"] = json!(format!("{}-{length}", changed.as_nanos()));
    let elements_in = store.frames(&(0..u32::MAX))?;
    let surfaces = store.numbers("meshes", "rkyv")?;
    let mut frames = [&elements_in[..], &surfaces].concat();
    frames.sort_unstable();
    frames.dedup();
    let times: Result<Vec<f64>, _> = frames.iter().map(|&frame| viewed.time(frame)).collect();
    out["times"] = json!(times?);
    out["frames"] = json!(frames);
    out["surfaces"] = json!(surfaces);
    out["elements_in"] = json!(elements_in);
    out["colliders"] = json!(colliders::list(&view));
    describe_pipeline(out, &view);
    out["live"] = live(viewed, &view, elements_in.last().copied())?;
    let rest = viewed.rest()?;
    out["elements"] = json!(rest.elements.id.len());
    out["live"]["elements"] = json!(rest.elements.id.len());
    out["bonds"] = json!(rest.bonds);
    if let Some(&last) = elements_in.last() {
        out["columns"] = json!(quantities::list(viewed, last)?);
    }
    let Some((low, high)) = rest.bounds else {
        return Ok(());
    };
    out["bounds"] = json!({ "min": low.to_array(), "max": high.to_array() });
    let mut bounds = (low, high);
    if let Some(&last) = elements_in.last() {
        join_large_fragments(&mut bounds, store, last)?;
    }
    out["camera"] = camera(&view, bounds);
    Ok(())
}

fn describe_pipeline(out: &mut Value, view: &StoreView) {
    let Some(pipeline) = &view.pipeline else {
        return;
    };
    let bodies = pipeline.bodies.iter();
    let bodies = bodies.map(|body| json!({ "name": body.name, "material": body.material }));
    out["bodies"] = bodies.collect();
    let materials = pipeline.materials.iter();
    out["materials"] = materials.map(|one| json!({ "name": one.name })).collect();
    out["end"] = json!(pipeline.time.end);
}

/// The stage that holds the store exclusively, and how long a simulation will take.
fn live(viewed: &ViewedStore, view: &StoreView, last: Option<u32>) -> Result<Value, ViewError> {
    let holder = view.store.exclusive_holder();
    let stage = holder.as_deref().map(stage_of);
    let mut out = json!({
        "running": stage.is_some(), "stage": stage, "awake": null, "elements": 0, "seconds_left": null,
        "frames_left": null
    });
    let simulates = matches!(stage, Some("simulate" | "run"));
    let Some(last) = last else {
        return Ok(out);
    };
    let Some(newest) = viewed.history(last)? else {
        return Ok(out);
    };
    out["awake"] = json!(newest.awake.first());
    let Some(pipeline) = view.pipeline.as_ref().filter(|_| simulates) else {
        return Ok(out);
    };
    let time = newest.time.first().copied().unwrap_or_default();
    let left = ((pipeline.time.end - time) * pipeline.time.frames_per_second + 1e-6).floor();
    let left = left.max(0.0);
    out["frames_left"] = json!(left);
    let mut seconds = Vec::new();
    for frame in (0..=last).rev().take(RECENT) {
        let history = viewed.history(frame)?;
        seconds.extend(history.and_then(|history| history.seconds.first().copied()));
    }
    if !seconds.is_empty() {
        let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
        out["seconds_left"] = json!(left * mean);
    }
    Ok(out)
}

/// Camera of the shot's pictures, or one that sees all of this box.
fn camera(view: &StoreView, (low, high): (DVec3, DVec3)) -> Value {
    if let Some(camera) = view.pipeline.as_ref().and_then(|shot| shot.preview.camera) {
        let degrees = camera.fov.to_degrees();
        return json!({ "eye": camera.eye, "target": camera.target, "fov": degrees });
    }
    let target = (low + high) / 2.0;
    let radius = ((high - low).length() / 2.0).max(1e-9);
    let angle = Camera::AUTOMATIC_ANGLE;
    let distance = radius / (angle / 2.0).sin();
    let eye = target + DVec3::from(Camera::AUTOMATIC_DIRECTION).normalize() * distance;
    json!({ "eye": eye.to_array(), "target": target.to_array(), "fov": angle.to_degrees() })
}

/// The stage in a holder's name, `cullet STAGE, process N`.
fn stage_of(holder: &str) -> &str {
    let rest = holder.strip_prefix("cullet ").unwrap_or(holder);
    rest.split(',').next().unwrap_or(rest)
}

/// Extends a box to the large fragments of a frame.
fn join_large_fragments(
    (low, high): &mut (DVec3, DVec3),
    store: &Store,
    frame: u32,
) -> Result<(), ViewError> {
    let Some(table) = if_present(store.read_fragments(frame))? else {
        return Ok(());
    };
    let total: f64 = table.mass.iter().sum();
    for k in 0..table.mass.len() {
        if table.mass[k] >= LARGE_SHARE * total {
            *low = low.min(DVec3::new(table.min_x[k], table.min_y[k], table.min_z[k]));
            *high = high.max(DVec3::new(table.max_x[k], table.max_y[k], table.max_z[k]));
        }
    }
    Ok(())
}
