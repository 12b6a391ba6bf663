//! A file of the store with its faults.

use crate::store::error::StoreError;
use crate::store::rules::SchemaFaults;

/// Number of faults of a file that are reported one by one; further ones are counted.
const MAX_REPORTED_FAULTS: usize = 20;

/// A file that was checked, with its faults.
pub struct CheckedFile {
    pub file: String,
    pub faults: SchemaFaults,
}

impl CheckedFile {
    pub fn new(file: impl Into<String>) -> Self {
        CheckedFile {
            file: file.into(),
            faults: SchemaFaults::new(MAX_REPORTED_FAULTS),
        }
    }

    /// Adds an error that reading the file returned.
    pub fn error(&mut self, error: &StoreError) {
        let add = |faults: &mut SchemaFaults, what: &dyn std::fmt::Display| {
            faults.add(None, None, format_args!("{what}"));
        };
        match error {
            StoreError::Damaged { what, .. } | StoreError::Invalid { what, .. } => {
                add(&mut self.faults, what)
            }
            StoreError::Io { source, .. } => add(&mut self.faults, source),
            StoreError::Missing { .. } => add(&mut self.faults, &"missing"),
            other => add(&mut self.faults, other),
        }
    }
}

/// Name of a numbered file in the store.
pub fn name_of(kind: &str, number: u32, extension: &str) -> String {
    format!("{kind}/{number:06}.{extension}")
}
