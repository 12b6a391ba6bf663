//! `cullet inspect --validate`: what of a store is missing or wrong.

use std::path::Path;

use serde_json::json;

use crate::simulate::run_state::state::State;
use crate::store::validate::{Finding, validate as check};
use crate::store::{Store, StoreError};

/// Findings are no failure of the program, but a script must hear of them: exit code 1.
#[derive(Debug, thiserror::Error)]
#[error("{store}: {count} missing or wrong")]
struct Invalid {
    store: String,
    count: usize,
}

/// Prints every finding on a line of its own, or that there is none.
pub fn validate(path: &Path, as_json: bool) -> anyhow::Result<()> {
    // What is wrong with the manifest is a finding like others.
    let store = match Store::open(path) {
        Err(error @ StoreError::NotAStore { .. }) => return Err(error.into()),
        _ => Store::at(path),
    };
    let report = check(&store, &|store, number| {
        State::read(store, number).map(drop)
    })?;
    let findings = &report.findings;
    if as_json {
        super::print(&json!(findings.iter().map(object).collect::<Vec<_>>()).to_string())?;
    } else if findings.is_empty() {
        super::print(&format!("valid: {} files", report.files))?;
    } else {
        let lines: Vec<String> = findings.iter().map(Finding::to_string).collect();
        super::print(&lines.join("\n"))?;
    }
    if findings.is_empty() {
        return Ok(());
    }
    Err(Invalid {
        store: path.display().to_string(),
        count: findings.len(),
    }
    .into())
}

fn object(finding: &Finding) -> serde_json::Value {
    json!({
        "file": finding.file,
        "column": finding.fault.column,
        "row": finding.fault.row,
        "what": finding.fault.what,
    })
}
