//! `store.json`: the pipeline, a record of each finished stage with its inputs and outputs, and the checksums of the
//! store's files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use super::atomic;
use super::error::{Result, StoreError};
use super::folder::Store;
use super::layout::writer_of;
use super::sums::{FileChecksum, FileChecksums};
use super::version::{self, SCHEMA_MINOR, SCHEMA_VERSION};
use crate::spec::Pipeline;

/// Record of a stage's last complete run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StageRecord {
    /// The settings of the pipeline that the stage depends on.
    pub settings: Value,
    /// Hash of each input, by name.
    pub inputs: BTreeMap<String, String>,
    /// Files that it wrote, if their names do not follow from the frame numbers: paths inside the store.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<String>,
    /// Version of the program.
    pub program: String,
    /// Wall time, s.
    pub seconds: f64,
}

/// The store from which another one continued.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parent {
    /// Its folder at that time.
    pub store: PathBuf,
    /// Frame of the state from which this store continued.
    pub frame: u32,
    /// Checksum of that state's file.
    pub state: FileChecksum,
}

/// Contents of `store.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// [`SCHEMA_MINOR`] of the newest writer.
    #[serde(default, skip_serializing)]
    pub schema_minor: u32,
    /// Units of all columns that declare none.
    pub units: String,
    /// Coordinate system of all positions.
    pub coordinates: String,
    /// The store from which this one continued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// The pipeline as resolved: scale and overrides applied, SI numbers. Absent in stores of other programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<Pipeline>,
    /// Record of each finished stage.
    #[serde(default)]
    pub stages: BTreeMap<String, StageRecord>,
    /// Checksums of files; files that are not listed are read unchecked.
    #[serde(default)]
    pub files: FileChecksums,
    /// Keys that this program does not know: it keeps them when it writes the file again.
    #[serde(flatten)]
    pub other: BTreeMap<String, Value>,
}

/// Key of the checksum of `store.json` itself: xxh3-64 of the rest as compact JSON with sorted keys.
const CHECKSUM: &str = "checksum";

/// Key of the minor version.
const MINOR: &str = "schema_minor";

impl Manifest {
    /// A manifest without finished stages.
    pub fn new(pipeline: Pipeline) -> Self {
        Manifest {
            schema_version: SCHEMA_VERSION,
            schema_minor: SCHEMA_MINOR,
            units: "SI".to_owned(),
            coordinates: "right-handed, y up, metres".to_owned(),
            parent: None,
            pipeline: Some(pipeline),
            stages: BTreeMap::new(),
            files: FileChecksums::new(),
            other: BTreeMap::new(),
        }
    }

    /// Reads `store.json`.
    pub fn read(store: &Store) -> Result<Self> {
        let path = store.path("store.json");
        let text = std::fs::read(&path).map_err(StoreError::io(&path))?;
        Self::parse(&path, &text)
    }

    fn parse(path: &Path, text: &[u8]) -> Result<Self> {
        let damaged = |error: &dyn std::fmt::Display| StoreError::damaged(path, error);
        let mut value: Value = serde_json::from_slice(text).map_err(|error| damaged(&error))?;
        let minor = check_version(path, &value)?;
        let recorded = value.as_object_mut().and_then(|map| map.remove(CHECKSUM));
        // Other programs, and people, may omit the checksum.
        if recorded.is_some_and(|recorded| recorded != Value::String(checksum(&value))) {
            let what = "altered since it was written: its checksum differs; \
                        after an intentional change, remove the line \"checksum\"";
            return Err(damaged(&what));
        }
        serde_json::from_value(value).map_err(|error| match minor > SCHEMA_MINOR {
            true => StoreError::invalid(path, newer(&error, minor)),
            false => damaged(&error),
        })
    }

    /// Writes `store.json`.
    pub fn write(&self, store: &Store) -> Result<()> {
        let path = store.path("store.json");
        let text = || {
            // Via text, so that numbers are as a reader will parse them.
            let mut value: Value = serde_json::from_str(&serde_json::to_string(self)?)?;
            if self.schema_minor > 0
                && let Some(map) = value.as_object_mut()
            {
                map.insert(MINOR.to_owned(), Value::from(self.schema_minor));
            }
            let sum = checksum(&value);
            if let Some(map) = value.as_object_mut() {
                map.insert(CHECKSUM.to_owned(), Value::String(sum));
            }
            serde_json::to_string_pretty(&value)
        };
        let text = text().map_err(|error| StoreError::damaged(&path, error))?;
        atomic::write_bytes(&path, text.as_bytes())
    }

    /// Removes the checksums of these files and the records of the stages that wrote them.
    pub fn forget(&mut self, gone: impl Fn(&str) -> bool) {
        let stages = &mut self.stages;
        self.files.retain(|name, _| {
            let gone = gone(name);
            if gone {
                let folder = name.split('/').next().unwrap_or_default();
                let writer = writer_of(folder);
                stages.retain(|stage, _| stage.split(' ').next() != Some(writer));
            }
            !gone
        });
    }

    /// Reads, changes and writes `store.json` under its lock, safe against other processes; returns the new contents.
    pub fn update(store: &Store, change: impl FnOnce(&mut Manifest)) -> Result<Manifest> {
        let _lock = store.lock_manifest()?;
        let mut manifest = Self::read(store)?;
        manifest.schema_minor = std::cmp::max(manifest.schema_minor, SCHEMA_MINOR);
        change(&mut manifest);
        manifest.write(store)?;
        Ok(manifest)
    }
}

/// Checks the major version; returns the minor one.
fn check_version(path: &Path, value: &Value) -> Result<u32> {
    let version = value.get("schema_version");
    let minor = match value.get(MINOR) {
        None => Some(0),
        Some(minor) => minor.as_u64().and_then(|minor| u32::try_from(minor).ok()),
    };
    match (version.and_then(Value::as_u64), minor) {
        (Some(major), Some(minor)) if major == u64::from(SCHEMA_VERSION) => Ok(minor),
        (Some(major), Some(minor)) => {
            let stages = value.get("stages").and_then(Value::as_object);
            let mut stages = stages.into_iter().flat_map(|stages| stages.values());
            let writer = stages.find_map(|stage| stage["program"].as_str());
            let found = match minor {
                0 => major.to_string(),
                _ => format!("{major}.{minor}"),
            };
            Err(StoreError::invalid(path, version::unread(&found, writer)))
        }
        (major, _) => {
            let found = match (major, version) {
                (Some(_), _) => format!("{MINOR} {}, which is not a number", value[MINOR]),
                (None, Some(other)) => format!("schema_version {other}, which is not a number"),
                (None, None) => "no schema_version".to_owned(),
            };
            let what = format!("{found}; this program reads version {SCHEMA_VERSION}");
            Err(StoreError::damaged(path, what))
        }
    }
}

/// Message about a store of a newer minor version whose `store.json` this program cannot read.
fn newer(error: &serde_json::Error, minor: u32) -> String {
    format!(
        "{error}. The store has schema version {SCHEMA_VERSION}.{minor}, this program (cullet {}) knows {SCHEMA_VERSION}.{SCHEMA_MINOR}: \
         use a newer cullet",
        env!("CARGO_PKG_VERSION")
    )
}

fn checksum(value: &Value) -> String {
    // Keys are sorted: serde_json keeps objects in ordered maps.
    format!("{:016x}", xxh3_64(value.to_string().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOT: &str = "[time]\nend = 0.1\nframes_per_second = 24\n[[material]]\nname = \"m\"\ndensity = 1000\nyoung = 1e9\n\
        [[body]]\nname = \"b\"\nmaterial = \"m\"\nshape = { type = \"block\", rows = [2, 1, 1] }\n\
        packing = { type = \"hexagonal\", radius = 0.001 }\n";

    fn written() -> (tempfile::TempDir, Store, Manifest) {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::at(folder.path());
        let mut manifest = Manifest::new(crate::spec::parse(SHOT, "shot", &[]).expect("a shot"));
        let record = StageRecord {
            seconds: 0.1 + 0.2,
            ..StageRecord::default()
        };
        manifest.stages.insert("pack".to_owned(), record);
        manifest.write(&store).expect("written");
        (folder, store, manifest)
    }

    #[test]
    fn every_bit_is_read_back() {
        let (_folder, store, manifest) = written();
        assert_eq!(Manifest::read(&store).expect("read"), manifest);
    }

    #[test]
    fn a_flipped_digit_is_found_and_a_missing_checksum_is_not_asked_for() {
        let (_folder, store, manifest) = written();
        let path = store.path("store.json");
        let text = std::fs::read_to_string(&path).expect("there");
        let altered = text.replace("1000000000.0", "1000000001.0");
        assert_ne!(altered, text);
        std::fs::write(&path, &altered).expect("written");
        let message = Manifest::read(&store).expect_err("altered").to_string();
        assert!(message.contains("store.json: altered"), "{message}");
        let lines = altered
            .lines()
            .filter(|line| !line.contains("\"checksum\""));
        std::fs::write(&path, lines.collect::<Vec<_>>().join("\n")).expect("written");
        let read = Manifest::read(&store).expect("taken as it is");
        let young = |manifest: &Manifest| manifest.pipeline.as_ref().map(|p| p.materials[0].young);
        assert_eq!(young(&read), Some(1_000_000_001.0));
        assert_eq!(young(&manifest), Some(1e9));
    }

    #[test]
    fn other_versions_are_refused() {
        let (_folder, store, _) = written();
        let path = store.path("store.json");
        let cases = [
            (
                "{\"schema_version\": 7}",
                "schema version 7; this program reads version 1",
            ),
            ("{\"schema_version\": \"x\"}", "which is not a number"),
            ("{}", "no schema_version"),
            ("[]", "no schema_version"),
        ];
        for (text, expected) in cases {
            std::fs::write(&path, text).expect("written");
            let message = Manifest::read(&store).expect_err("refused").to_string();
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn changes_from_several_threads_all_arrive() {
        let (_folder, store, _) = written();
        std::thread::scope(|scope| {
            for k in 0..4u64 {
                let store = &store;
                scope.spawn(move || {
                    for l in 0..10u64 {
                        let sum = FileChecksum { bytes: k, hash: l };
                        let name = format!("frames/{k}-{l}");
                        Manifest::update(store, |m| m.files.extend([(name, sum)]))
                            .expect("written");
                    }
                });
            }
        });
        assert_eq!(Manifest::read(&store).expect("read").files.len(), 40);
    }
}
