//! `store.json`: what the store is and which stage wrote what.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Result, Store, StoreError, atomic};
use crate::spec::Pipeline;

/// Version of the store's layout and columns.
pub const SCHEMA_VERSION: u32 = 1;

/// Record of a stage's last run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageRecord {
    /// Hash of the part of the pipeline that the stage follows: bodies and materials for `pack`, all of it for the others.
    pub input_hash: String,
    /// Version of the program.
    pub program: String,
    /// Wall time, s.
    pub seconds: f64,
}

/// Contents of `store.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// Units of every column that names none.
    pub units: String,
    /// Coordinate system of every position.
    pub coordinates: String,
    /// The pipeline as resolved: scale and overrides applied, SI numbers. Absent in stores of other programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<Pipeline>,
    /// Stages done.
    #[serde(default)]
    pub stages: BTreeMap<String, StageRecord>,
}

impl Manifest {
    /// A manifest without finished stages.
    pub fn new(pipeline: Pipeline) -> Self {
        Manifest {
            schema_version: SCHEMA_VERSION,
            units: "SI".to_owned(),
            coordinates: "right-handed, y up, metres".to_owned(),
            pipeline: Some(pipeline),
            stages: BTreeMap::new(),
        }
    }

    /// Reads `store.json`.
    pub fn read(store: &Store) -> Result<Self> {
        let path = store.path("store.json");
        let text = std::fs::read_to_string(&path).map_err(StoreError::io(&path))?;
        Self::parse(&path, &text)
    }

    fn parse(path: &Path, text: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct Version {
            schema_version: u32,
        }
        let found: Version =
            serde_json::from_str(text).map_err(|error| StoreError::damaged(path, error))?;
        if found.schema_version != SCHEMA_VERSION {
            return Err(StoreError::damaged(
                path,
                format!(
                    "schema version {}; this program reads version {SCHEMA_VERSION}",
                    found.schema_version
                ),
            ));
        }
        serde_json::from_str(text).map_err(|error| StoreError::damaged(path, error))
    }

    /// Writes `store.json`.
    pub fn write(&self, store: &Store) -> Result<()> {
        let path = store.path("store.json");
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| StoreError::damaged(&path, error))?;
        atomic::write_bytes(&path, text.as_bytes())
    }
}
