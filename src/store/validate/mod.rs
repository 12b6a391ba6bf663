//! Validates a store against the schema: reports everything that is missing or wrong, by file, column and row.
//!
//! Meant mainly for stores of other programs. Tables are read part by part, files in parallel on all threads;
//! the report does not depend on their number. Rules for single tables are in [`super::rules`], relations
//! between files are checked here.

mod checked_file;
mod frame_tables;
mod packing;
mod sleep;
mod table;

use std::collections::BTreeMap;
use std::path::Path;

use crate::parallel::prelude::*;

use self::checked_file::{CheckedFile, name_of};
use super::atomic;
use super::error::{Result, StoreError};
use super::folder::Store;
use super::layout;
use super::manifest::Manifest;
use super::rules::SchemaFault;
use super::sums::FileChecksums;
use super::surface::SurfaceFrame;

/// Something missing or wrong in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// File or folder, relative to the store's folder.
    pub file: String,
    /// What is wrong, and in which column and row.
    pub fault: SchemaFault,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.file, self.fault)
    }
}

/// Result of a validation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValidationReport {
    /// All findings, ordered by kind and number of the files.
    pub findings: Vec<Finding>,
    /// Number of files read.
    pub files: usize,
}

/// Checks a store. `read_state` reads the file of this number in `state/`: only the stage that writes states can read
/// them.
///
/// # Errors
/// If a folder cannot be listed. Faults of files are in the report.
pub fn validate(
    store: &Store,
    read_state: &(dyn Fn(&Store, u32) -> Result<()> + Sync),
) -> Result<ValidationReport> {
    let mut checked = Vec::new();
    let mut manifest = CheckedFile::new("store.json");
    let read = Manifest::read(store);
    if let Err(error) = &read {
        manifest.error(error);
    }
    checked.push(manifest);
    let (pipeline, sums) =
        read.map_or_else(|_| Default::default(), |read| (read.pipeline, read.files));

    let packing = packing::check(store, pipeline.as_ref(), &mut checked)?;
    frame_tables::check(store, &packing, &mut checked)?;
    sleep::check(store, &mut checked)?;
    check_archives(store, "meshes", &mut checked, &|store, number| {
        let surface = SurfaceFrame::read(store, number)?;
        check_frame_number(
            surface.frame,
            &store.numbered("meshes", number, "rkyv"),
            number,
        )
    })?;
    check_archives(store, "state", &mut checked, read_state)?;
    check_sums(store, &sums, &mut checked);
    let files = checked.len();
    report_misnamed_files(store, &mut checked)?;

    // Findings are grouped by file.
    let mut findings: Vec<Finding> = Vec::new();
    for CheckedFile { file, faults } in checked {
        let finding = |fault| Finding {
            file: file.clone(),
            fault,
        };
        findings.extend(faults.kept.into_iter().map(finding));
        if faults.more > 0 {
            findings.push(finding(SchemaFault {
                column: None,
                row: None,
                what: format!("and {} more", faults.more),
            }));
        }
    }
    Ok(ValidationReport { findings, files })
}

/// Checks the archives in a folder.
fn check_archives(
    store: &Store,
    kind: &str,
    checked: &mut Vec<CheckedFile>,
    read: &(dyn Fn(&Store, u32) -> Result<()> + Sync),
) -> Result<()> {
    let numbers = store.numbers(kind, "rkyv")?;
    checked.par_extend(numbers.into_par_iter().map(|number| {
        let mut file = CheckedFile::new(name_of(kind, number, "rkyv"));
        if let Err(error) = read(store, number) {
            file.error(&error);
        }
        file
    }));
    Ok(())
}

/// Compares files with their checksums in `store.json`; adds faults to the entries in `checked`.
fn check_sums(store: &Store, sums: &FileChecksums, checked: &mut Vec<CheckedFile>) {
    let all: Vec<_> = sums.iter().collect();
    let failed: Vec<_> = all
        .into_par_iter()
        .filter_map(|(name, sum)| {
            let path = store.path(name);
            let checked = match path.is_file() {
                true => sum.check(&path),
                false => Err(StoreError::damaged(&path, "missing; store.json lists it")),
            };
            Some((name, checked.err()?))
        })
        .collect();
    for (name, error) in failed {
        match checked.iter_mut().find(|file| file.file == *name) {
            Some(file) => file.error(&error),
            None => {
                let mut file = CheckedFile::new(name.clone());
                file.error(&error);
                checked.push(file);
            }
        }
    }
}

/// Fails if the frame number in an archive differs from the number in its name.
fn check_frame_number(found: u32, path: &Path, number: u32) -> Result<()> {
    if found == number {
        return Ok(());
    }
    let what = format!("holds frame {found}; the file is number {number}");
    Err(StoreError::damaged(path, what))
}

/// Reports files in the folders of numbered files whose names no stage would read.
fn report_misnamed_files(store: &Store, checked: &mut Vec<CheckedFile>) -> Result<()> {
    for (kind, extension) in layout::numbered() {
        let folder = store.path(kind);
        if !folder.is_dir() {
            continue;
        }
        let known: Vec<String> = store
            .numbers(kind, extension)?
            .into_iter()
            .map(|number| name_of(kind, number, extension))
            .collect();
        let mut others = BTreeMap::new();
        for entry in std::fs::read_dir(&folder).map_err(StoreError::io(&folder))? {
            let path = entry.map_err(StoreError::io(&folder))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let name = format!("{kind}/{name}");
            if path.is_file() && !atomic::is_temporary(&path) && !known.contains(&name) {
                let mut file = CheckedFile::new(name.clone());
                let example = name_of(kind, 12, extension);
                let what = format_args!("is not named like {example}: no stage reads it");
                file.faults.add(None, None, what);
                others.insert(name, file);
            }
        }
        checked.extend(others.into_values());
    }
    Ok(())
}
