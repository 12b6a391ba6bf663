//! Reads pipeline files: parses them, applies scale and overrides, checks schema and consistency.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::document::{DocumentNode, SourceTexts, ValueOrigin};
use super::error::{MAX_REPORTED, SourceLocation, SpecError, SpecErrors, SpecFault};
use super::material::{DEFAULT_POISSON, Elasticity};
use super::pipeline::Pipeline;
use super::{check, conform, each, overrides};

/// A pipeline, read and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedPipeline {
    /// The shot after scale and overrides, in SI units.
    pub pipeline: Pipeline,
    /// Folder of the file, to which its paths are relative.
    pub folder: PathBuf,
}

/// Whether a path stands for standard input.
pub fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Reads a pipeline file, or from standard input if the path is `-`: paths in it are then relative to the working
/// folder. `sets` are overrides `key=value`: `scale=smoke`, `time.end=5 ms`, `material.gypsum.young=1e9`.
pub fn read(path: &Path, sets: &[String]) -> Result<ResolvedPipeline, SpecErrors> {
    let (name, text) = match is_standard_input(path) {
        true => {
            let text = std::io::read_to_string(std::io::stdin());
            ("standard input".to_owned(), text)
        }
        false => (path.display().to_string(), std::fs::read_to_string(path)),
    };
    let unreadable = |error: std::io::Error| SpecFault::Unreadable(error.to_string());
    let text = text.map_err(|error| whole_file_error(&name, unreadable(error)))?;
    // Some editors on Windows begin UTF-8 files with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let pipeline = parse_in(text, &name, &folder, sets)?;
    Ok(ResolvedPipeline { pipeline, folder })
}

/// Reads the text of a pipeline file; `name` is the file's name in messages. Paths are relative to the working folder.
pub fn parse(text: &str, name: &str, sets: &[String]) -> Result<Pipeline, SpecErrors> {
    parse_in(text, name, Path::new(""), sets)
}

fn parse_in(
    text: &str,
    name: &str,
    folder: &Path,
    sets: &[String],
) -> Result<Pipeline, SpecErrors> {
    let sources = SourceTexts { name, text, sets };
    let mut document = DocumentNode::parse(text, &ValueOrigin::File).map_err(|faults| {
        let more = faults.len() > MAX_REPORTED;
        let faults = faults.into_iter().take(MAX_REPORTED);
        let errors = faults.map(|(at, what)| sources.error(at, "", SpecFault::Syntax(what)));
        reported(errors.collect(), more, name)
    })?;
    let mut errors = overrides::apply(&mut document, &sources);
    errors.extend(each::expand(&mut document, folder, &sources));
    let (faults, replaced) = conform::conform(&mut document, &sources);
    errors.extend(faults);
    let mut pipeline = Pipeline::deserialize(document.to_json())
        .map_err(|error| whole_file_error(name, SpecFault::Invalid(error.to_string())))?;
    errors.extend(check::check(
        &pipeline, &document, folder, &sources, &replaced,
    ));
    refuse_errors(errors, name)?;
    for material in &mut pipeline.materials {
        if material.elasticity == Elasticity::Material {
            material.poisson.get_or_insert(DEFAULT_POISSON);
        }
        material.strength = Some(material.strength());
    }
    pipeline.add_packings_for_cracks();
    Ok(pipeline)
}

/// Fails if there are errors, sorted by origin.
fn refuse_errors(mut errors: Vec<(ValueOrigin, SpecError)>, name: &str) -> Result<(), SpecErrors> {
    if errors.is_empty() {
        return Ok(());
    }
    errors.sort_by_key(|(at, _)| *at);
    let more = errors.len() > MAX_REPORTED;
    let first = errors
        .into_iter()
        .take(MAX_REPORTED)
        .map(|(_, error)| error);
    Err(reported(first.collect(), more, name))
}

/// The errors, with a last one that says whether there are `more`.
fn reported(mut errors: Vec<SpecError>, more: bool, name: &str) -> SpecErrors {
    if more {
        errors.extend(whole_file_error(name, SpecFault::TooManyFaults).0);
    }
    SpecErrors(errors)
}

fn whole_file_error(name: &str, fault: SpecFault) -> SpecErrors {
    SpecErrors(vec![SpecError {
        location: SourceLocation::Whole(name.to_owned()),
        path: String::new(),
        fault,
    }])
}

#[cfg(test)]
mod tests;
