//! The list of faults of a checked pipeline, each at the value that causes it.

use super::super::document::{DocumentNode, SourceTexts, ValueOrigin};
use super::super::error::{Hint, MAX_REPORTED, SpecError, SpecFault};
use super::super::replacements::Replacements;

/// A check of one pipeline: where its values were written, and the faults found so far.
pub(super) struct Check<'a> {
    pub(super) document: &'a DocumentNode,
    pub(super) sources: &'a SourceTexts<'a>,
    pub(super) replaced: &'a Replacements,
    pub(super) errors: Vec<(ValueOrigin, SpecError)>,
}

impl Check<'_> {
    /// Reports a fault of the value at `path`, or of the nearest table above it if the value is absent.
    pub(super) fn fault(&mut self, path: &str, fault: SpecFault) {
        let hidden = match &fault {
            SpecFault::UnknownName { what, .. } => {
                self.replaced.may_hide_names(what) || self.replaced.affects(path)
            }
            SpecFault::DuplicateName(_) | SpecFault::MissingMeshFile(_) => {
                self.replaced.affects(path)
            }
            _ => self.replaced.may_explain(path),
        };
        if hidden {
            return;
        }
        // One more than is reported, to know that there are more.
        if self.errors.len() > MAX_REPORTED {
            return;
        }
        let (at, shown) = self.document.locate(path);
        self.errors.push((at, self.sources.error(at, shown, fault)));
    }

    pub(super) fn invalid(&mut self, path: &str, what: impl Into<String>) {
        self.fault(path, SpecFault::Invalid(what.into()));
    }

    pub(super) fn unique_names<'n>(&mut self, list: &str, names: impl Iterator<Item = &'n String>) {
        let mut seen: Vec<&String> = Vec::new();
        for (index, name) in names.enumerate() {
            let path = format!("{list}.{index}.name");
            if name.trim().is_empty() {
                self.invalid(&path, "a name must not be empty");
            } else if seen.contains(&name) {
                self.fault(&path, SpecFault::DuplicateName(name.clone()));
            }
            seen.push(name);
        }
    }

    pub(super) fn known_name<'n>(
        &mut self,
        path: &str,
        what: &'static str,
        name: &str,
        names: impl Iterator<Item = &'n str>,
    ) {
        let names: Vec<&str> = names.collect();
        if !names.contains(&name) {
            let fault = SpecFault::UnknownName {
                what,
                name: name.to_owned(),
                hint: Hint::new(name, names, &format!("[[{what}]] in this file")),
            };
            self.fault(path, fault);
        }
    }
}
