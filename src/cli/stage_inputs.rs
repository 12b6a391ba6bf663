//! Inputs of a stage: the settings and files that its result depends on. `store.json` records them, so that a
//! stage runs again only if they changed.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use serde_json::{Value, json};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::geometry::read;
use crate::pack::Inputs;
use crate::spec::Pipeline;
use crate::store::{FileChecksum, FileChecksums, Manifest, StageRecord, Store, in_folder};

/// Tables that `simulate` writes and later stages read. `history` is not one of them, as it holds wall times.
const TABLES: [&str; 3] = ["frames", "breaks", "fragments"];

/// Inputs of a stage: the settings and the hashes of files that its result depends on.
#[derive(Clone, Debug)]
pub struct StageInputs {
    /// Name of the stage in `store.json`.
    pub name: String,
    settings: Value,
    inputs: BTreeMap<String, String>,
}

impl StageInputs {
    fn new(name: &str, settings: Value) -> Self {
        StageInputs {
            name: name.to_owned(),
            settings,
            inputs: BTreeMap::new(),
        }
    }

    /// Inputs of packing: the settings that it reads, and mesh files.
    pub fn pack(pipeline: &Pipeline, folder: &Path) -> Self {
        let inputs = Inputs::of(pipeline);
        let mut stage = StageInputs::new("pack", json!(inputs));
        for file in inputs.files() {
            // If the file is missing, the stage reports that.
            let bytes = std::fs::read(folder.join(file)).unwrap_or_default();
            let hash = format!("{:016x}", xxh3_64(&bytes));
            stage.inputs.insert(format!("mesh {file}"), hash);
            for part in read::companions(&folder.join(file)) {
                let bytes = std::fs::read(&part).unwrap_or_default();
                let name = part.strip_prefix(folder).unwrap_or(&part).display();
                let hash = format!("{:016x}", xxh3_64(&bytes));
                stage.inputs.insert(format!("mesh {name}"), hash);
            }
        }
        stage
    }

    /// Inputs of the simulation: the pipeline without the settings that only later stages read, and the packing.
    pub fn simulate(pipeline: &Pipeline, manifest: &Manifest) -> Self {
        let mut settings = json!(pipeline);
        if let Some(map) = settings.as_object_mut() {
            for later in ["reconstruct", "export", "preview"] {
                map.remove(later);
            }
        }
        if let Some(map) = settings["simulate"].as_object_mut() {
            map.remove("keep_states");
            map.remove("state_every");
        }
        StageInputs::new("simulate", settings).with(manifest, "packing", &["packing"])
    }

    /// Inputs of boundary elements: loads, materials, settings and the packing; with loads from `frames`, those
    /// frames too.
    pub fn stress(manifest: &Manifest, frames: Option<&Range<u32>>) -> Self {
        let shot = manifest.pipeline.as_ref();
        let settings = json!({
            "stress": shot.map(|p| &p.stress),
            "time": {
                "end": shot.map(|p| p.time.end),
                "frames_per_second": shot.map(|p| p.time.frames_per_second),
            },
            "world": { "gravity": shot.map(|p| p.world.gravity) },
            "material": shot.map(|p| &p.materials),
            "body": shot.map(|p| &p.bodies),
            "attach": shot.map(|p| &p.attachments),
            "frames": frames.map(|frames| [frames.start, frames.end]),
        });
        let stage = StageInputs::new("stress", settings).with(manifest, "packing", &["packing"]);
        match frames {
            Some(_) => stage.with(manifest, "frames", &["frames", "loads"]),
            None => stage,
        }
    }

    /// Inputs of the surfaces: their settings, packing and frames.
    pub fn reconstruct(manifest: &Manifest) -> Self {
        let settings = manifest.pipeline.as_ref().map(|p| &p.reconstruct);
        StageInputs::new("reconstruct", json!({ "reconstruct": settings }))
            .with(manifest, "packing", &["packing"])
            .with(manifest, "frames", &TABLES)
    }

    /// Inputs of an export: its resolved `options`, the settings that names and axes follow from, surfaces and
    /// frames.
    pub fn export(name: &str, options: Value, manifest: &Manifest) -> Self {
        let shot = manifest.pipeline.as_ref();
        let settings = json!({
            "export": options,
            "time": { "frames_per_second": shot.map(|p| p.time.frames_per_second) },
            "world": { "gravity": shot.map(|p| p.world.gravity) },
        });
        StageInputs::new(&format!("export {name}"), settings)
            .with(manifest, "packing", &["packing"])
            .with(manifest, "frames", &TABLES)
            .with(manifest, "surfaces", &["meshes"])
            .with_stress(manifest)
    }

    /// Inputs of the pictures: their settings, colliders, surfaces and frames.
    pub fn preview(manifest: &Manifest) -> Self {
        let shot = manifest.pipeline.as_ref();
        let settings = json!({
            "preview": shot.map(|p| &p.preview),
            "collider": shot.map(|p| &p.colliders),
        });
        StageInputs::new("preview", settings)
            .with(manifest, "packing", &["packing"])
            .with(manifest, "frames", &TABLES)
            .with(manifest, "surfaces", &["meshes"])
            .with_stress(manifest)
    }

    /// Adds a hash of the stress tables, if there are any.
    fn with_stress(self, manifest: &Manifest) -> Self {
        match manifest.files.keys().any(|file| in_folder(file, "stress")) {
            true => self.with(manifest, "stress", &["stress"]),
            false => self,
        }
    }

    /// Adds a hash of the files in these folders.
    fn with(mut self, manifest: &Manifest, name: &str, folders: &[&str]) -> Self {
        let mut hash = Xxh3::new();
        for (file, sum) in &manifest.files {
            if folders.iter().any(|folder| in_folder(file, folder)) {
                hash.update(format!("{file} {sum}\n").as_bytes());
            }
        }
        let hash = format!("{:016x}", hash.digest());
        self.inputs.insert(name.to_owned(), hash);
        self
    }

    /// Why the stage must run again; `None` if its files in the store are up to date. `expected` are the files
    /// that it would write.
    pub fn outdated(
        &self,
        store: &Store,
        manifest: &Manifest,
        expected: &[String],
    ) -> Option<String> {
        let Some(record) = manifest.stages.get(&self.name) else {
            return Some("it has not run yet".to_owned());
        };
        let mut changed = Vec::new();
        changes("", &record.settings, &self.settings, &mut changed);
        let mut names: Vec<_> = record.inputs.keys().chain(self.inputs.keys()).collect();
        names.sort();
        names.dedup();
        let inputs = names.into_iter();
        changed.extend(
            inputs
                .filter(|name| record.inputs.get(*name) != self.inputs.get(*name))
                .cloned(),
        );
        if !changed.is_empty() {
            let more = match changed.len() {
                0..=3 => String::new(),
                count => format!(" and {} more", count - 3),
            };
            changed.truncate(3);
            return Some(format!("{}{more} changed", changed.join(", ")));
        }
        let outputs = record.outputs.iter().chain(expected);
        outputs
            .filter(|name| !is_intact(store, manifest.files.get(*name), name))
            .map(|name| format!("{name} is missing"))
            .next()
    }

    /// Prepares `store.json` for a stage that is about to write these files: removes their checksums and, if the
    /// settings or inputs have changed, those of all files in `folder` and the record of the stage.
    pub fn begin(&self, store: &Store, folder: &str, files: &[String]) -> crate::store::Result<()> {
        let change = |manifest: &mut Manifest| {
            let record = manifest.stages.get(&self.name);
            let same =
                record.is_some_and(|r| r.settings == self.settings && r.inputs == self.inputs);
            if !same {
                manifest.stages.remove(&self.name);
            }
            manifest.files.retain(|name, _| {
                let old = !same && in_folder(name, folder);
                !(old || files.contains(name))
            });
        };
        Manifest::update(store, change).map(drop)
    }

    /// Records that the stage is done.
    pub fn finish(
        self,
        store: &Store,
        seconds: f64,
        mut sums: FileChecksums,
        outputs: Vec<String>,
    ) -> crate::store::Result<()> {
        let record = StageRecord {
            settings: self.settings,
            inputs: self.inputs,
            outputs,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            seconds,
        };
        let change = |manifest: &mut Manifest| {
            manifest.files.append(&mut sums);
            manifest.stages.insert(self.name, record);
        };
        Manifest::update(store, change).map(drop)
    }
}

/// Whether a file is listed and has the listed length.
fn is_intact(store: &Store, sum: Option<&FileChecksum>, name: &str) -> bool {
    sum.is_some_and(|sum| {
        let found = std::fs::metadata(store.path(name));
        found.is_ok_and(|found| found.len() == sum.bytes)
    })
}

/// Appends the dotted paths of the values that differ; entries of lists are given by their names if they have one.
fn changes(path: &str, old: &Value, new: &Value, out: &mut Vec<String>) {
    if old == new {
        return;
    }
    let deeper = |key: &str| match path {
        "" => key.to_owned(),
        _ => format!("{path}.{key}"),
    };
    match (old, new) {
        (Value::Object(a), Value::Object(b)) => {
            let mut keys: Vec<_> = a.keys().chain(b.keys()).collect();
            keys.sort();
            keys.dedup();
            for key in keys {
                changes(&deeper(key), &old[key], &new[key], out);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (at, (a, b)) in a.iter().zip(b).enumerate() {
                let name = b["name"].as_str().map(str::to_owned);
                changes(&deeper(&name.unwrap_or(at.to_string())), a, b, out);
            }
        }
        _ => out.push(path.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_values_are_named() {
        let old = json!({ "time": { "end": 1, "step": 2 }, "material": [{ "name": "gypsum", "young": 3 }], "x": [1] });
        let mut new = old.clone();
        let named = |new: &Value| {
            let mut out = Vec::new();
            changes("", &old, new, &mut out);
            out
        };
        assert!(named(&new).is_empty());
        new["time"]["end"] = json!(5);
        new["material"][0]["young"] = json!(4);
        new["x"] = json!([1, 2]);
        assert_eq!(named(&new), ["material.gypsum.young", "time.end", "x"]);
    }
}
