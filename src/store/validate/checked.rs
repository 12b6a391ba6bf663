//! A file of the store and what is wrong with it.

use crate::store::error::StoreError;
use crate::store::rules::Faults;

/// Faults of a file that are told one by one.
const TOLD: usize = 20;

/// A file that was checked.
pub struct Checked {
    pub file: String,
    pub faults: Faults,
}

impl Checked {
    pub fn new(file: impl Into<String>) -> Self {
        Checked {
            file: file.into(),
            faults: Faults::new(TOLD),
        }
    }

    /// Takes what reading the file said.
    pub fn error(&mut self, error: &StoreError) {
        let whole = |faults: &mut Faults, what: &dyn std::fmt::Display| {
            faults.tell(None, None, format_args!("{what}"));
        };
        match error {
            StoreError::Damaged { what, .. } | StoreError::Invalid { what, .. } => {
                whole(&mut self.faults, what)
            }
            StoreError::Io { source, .. } => whole(&mut self.faults, source),
            StoreError::Missing { .. } => whole(&mut self.faults, &"missing"),
            other => whole(&mut self.faults, other),
        }
    }
}

/// Name of a numbered file in the store.
pub fn name_of(kind: &str, number: u32, extension: &str) -> String {
    format!("{kind}/{number:06}.{extension}")
}
