//! `cullet inspect --validate`: what of a store is missing or wrong.

use std::path::Path;

use serde_json::json;

use crate::simulate::state::State;
use crate::store::Store;
use crate::store::validate::{Finding, validate as check};

/// Findings are no failure of the program, but a script must hear of them: exit code 1.
#[derive(Debug, thiserror::Error)]
#[error("{store}: {count} findings")]
struct Invalid {
    store: String,
    count: usize,
}

/// Prints every finding on a line of its own, or that there is none.
pub fn validate(path: &Path, as_json: bool) -> anyhow::Result<()> {
    let store = Store::open(path)?;
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
