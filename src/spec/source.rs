//! Reads pipeline files: parse, scale and overrides, check against the schema, check the sense.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::document::{Node, Origin, Sources};
use super::error::{Fault, Place, SpecError, SpecErrors, TOLD};
use super::material::{DEFAULT_POISSON, Elasticity};
use super::pipeline::Pipeline;
use super::{check, conform, overrides};

/// A pipeline, read and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The shot, scale and overrides applied, in SI units.
    pub pipeline: Pipeline,
    /// What its paths start from: the folder of the file.
    pub folder: PathBuf,
}

/// Reads a pipeline file. `sets` are overrides `key=value`: `scale=smoke`, `time.end=5 ms`,
/// `material.gypsum.young=1e9`.
pub fn read(path: &Path, sets: &[String]) -> Result<Resolved, SpecErrors> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|error| whole(&name, Fault::Unreadable(error.to_string())))?;
    // Editors on Windows mark UTF-8 by a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let pipeline = parse_in(text, &name, &folder, sets)?;
    Ok(Resolved { pipeline, folder })
}

/// Reads the text of a pipeline file, which messages call `name`. Its paths start from the working folder.
pub fn parse(text: &str, name: &str, sets: &[String]) -> Result<Pipeline, SpecErrors> {
    parse_in(text, name, Path::new(""), sets)
}

fn parse_in(
    text: &str,
    name: &str,
    folder: &Path,
    sets: &[String],
) -> Result<Pipeline, SpecErrors> {
    let sources = Sources { name, text, sets };
    let mut document = Node::parse(text, &Origin::File).map_err(|faults| {
        let more = faults.len() > TOLD;
        let faults = faults.into_iter().take(TOLD);
        let errors = faults.map(|(at, what)| sources.error(at, "", Fault::Syntax(what)));
        some(errors.collect(), more, name)
    })?;
    let mut errors = overrides::apply(&mut document, &sources);
    let (faults, mended) = conform::conform(&mut document, &sources);
    errors.extend(faults);
    let mut pipeline = Pipeline::deserialize(document.to_json())
        .map_err(|error| whole(name, Fault::Senseless(error.to_string())))?;
    errors.extend(check::check(
        &pipeline, &document, folder, &sources, &mended,
    ));
    or_errors(errors, name)?;
    for material in &mut pipeline.materials {
        if material.elasticity == Elasticity::Material {
            material.poisson.get_or_insert(DEFAULT_POISSON);
        }
    }
    pipeline.pack_what_cracks();
    Ok(pipeline)
}

fn or_errors(mut errors: Vec<(Origin, SpecError)>, name: &str) -> Result<(), SpecErrors> {
    if errors.is_empty() {
        return Ok(());
    }
    errors.sort_by_key(|(at, _)| *at);
    let more = errors.len() > TOLD;
    let told = errors.into_iter().take(TOLD).map(|(_, error)| error);
    Err(some(told.collect(), more, name))
}

/// Errors, with the word that there are `more`.
fn some(mut told: Vec<SpecError>, more: bool, name: &str) -> SpecErrors {
    if more {
        told.extend(whole(name, Fault::More).0);
    }
    SpecErrors(told)
}

fn whole(name: &str, fault: Fault) -> SpecErrors {
    SpecErrors(vec![SpecError {
        place: Place::Whole(name.to_owned()),
        path: String::new(),
        fault,
    }])
}

#[cfg(test)]
mod tests;
