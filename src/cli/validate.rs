//! `cullet inspect --validate`: lists missing and wrong data of a store.

use std::path::Path;

use serde_json::json;

use crate::simulate::run_state::state::State;
use crate::store::validate::{Finding, validate as check};
use crate::store::{Store, StoreError};

/// Findings are not a failure of the program, but scripts need to know of them: exit code 1.
#[derive(Debug, thiserror::Error)]
#[error("{store}: {count} faults")]
struct InvalidStore {
    store: String,
    count: usize,
}

/// Prints each finding on a line of its own, or that the store is valid.
pub fn validate(path: &Path, as_json: bool) -> anyhow::Result<()> {
    // A fault of the manifest is a finding like others.
    let store = match Store::open(path) {
        Err(error @ StoreError::NotAStore { .. }) => return Err(error.into()),
        _ => Store::at(path),
    };
    let report = check(&store, &|store, number| {
        State::read(store, number).map(drop)
    })?;
    let findings = &report.findings;
    if as_json {
        super::print::print(
            &json!(findings.iter().map(finding_json).collect::<Vec<_>>()).to_string(),
        )?;
    } else if findings.is_empty() {
        super::print::print(&format!(
            "valid: {}",
            super::stages::counted_files(report.files)
        ))?;
    } else {
        let lines: Vec<String> = findings.iter().map(Finding::to_string).collect();
        super::print::print(&lines.join("\n"))?;
    }
    if findings.is_empty() {
        return Ok(());
    }
    Err(InvalidStore {
        store: path.display().to_string(),
        count: findings.len(),
    }
    .into())
}

fn finding_json(finding: &Finding) -> serde_json::Value {
    json!({
        "file": finding.file,
        "column": finding.fault.column,
        "row": finding.fault.row,
        "what": finding.fault.what,
    })
}
