//! Whether a store keeps to the schema: everything that is missing or wrong, by file, column and row.
//!
//! For stores of other programs before all. Tables are read part by part, files side by side on all threads;
//! what is told does not depend on their number. The rules for single tables stand in [`super::rules`], what
//! holds between files is here.

mod checked;
mod moments;
mod packing;
mod table;

use std::collections::BTreeMap;
use std::path::Path;

use crate::parallel::prelude::*;

use self::checked::{Checked, name_of};
use super::atomic;
use super::error::{Result, StoreError};
use super::folder::Store;
use super::layout;
use super::manifest::Manifest;
use super::rules::Fault;
use super::sums::Sums;
use super::surface::SurfaceFrame;

/// Something missing or wrong in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// File or folder, from the store's own folder on.
    pub file: String,
    /// What is wrong with it and where.
    pub fault: Fault,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.file, self.fault)
    }
}

/// What a validation found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Everything wrong, in order of kinds and numbers of files.
    pub findings: Vec<Finding>,
    /// Files read.
    pub files: usize,
}

/// Checks a store; `read_state` reads the file of that number in `state/`, which only the stage that writes
/// it understands.
///
/// # Errors
/// If a folder cannot be listed; what is wrong with files is in the report.
pub fn validate(
    store: &Store,
    read_state: &(dyn Fn(&Store, u32) -> Result<()> + Sync),
) -> Result<Report> {
    let mut checked = Vec::new();
    let mut manifest = Checked::new("store.json");
    let told = Manifest::read(store);
    if let Err(error) = &told {
        manifest.error(error);
    }
    checked.push(manifest);
    let (pipeline, sums) =
        told.map_or_else(|_| Default::default(), |told| (told.pipeline, told.files));

    let packing = packing::check(store, pipeline.as_ref(), &mut checked)?;
    moments::check(store, &packing, &mut checked)?;
    archives(store, "meshes", &mut checked, &|store, number| {
        let surface = SurfaceFrame::read(store, number)?;
        is_number(
            surface.frame,
            &store.numbered("meshes", number, "rkyv"),
            number,
        )
    })?;
    archives(store, "state", &mut checked, read_state)?;
    sums_hold(store, &sums, &mut checked);
    let files = checked.len();
    misnamed(store, &mut checked)?;

    // One report a file, whatever looked at it.
    let mut findings: Vec<Finding> = Vec::new();
    for Checked { file, faults } in checked {
        let tell = |fault| Finding {
            file: file.clone(),
            fault,
        };
        findings.extend(faults.kept.into_iter().map(tell));
        if faults.more > 0 {
            findings.push(tell(Fault {
                column: None,
                row: None,
                what: format!("and {} more", faults.more),
            }));
        }
    }
    Ok(Report { findings, files })
}

/// Checks the archives in a folder.
fn archives(
    store: &Store,
    kind: &str,
    checked: &mut Vec<Checked>,
    read: &(dyn Fn(&Store, u32) -> Result<()> + Sync),
) -> Result<()> {
    let numbers = store.numbers(kind, "rkyv")?;
    checked.par_extend(numbers.into_par_iter().map(|number| {
        let mut file = Checked::new(name_of(kind, number, "rkyv"));
        if let Err(error) = read(store, number) {
            file.error(&error);
        }
        file
    }));
    Ok(())
}

/// Holds files against the sums in `store.json`, with whatever else there is to say of each.
fn sums_hold(store: &Store, sums: &Sums, checked: &mut Vec<Checked>) {
    let all: Vec<_> = sums.iter().collect();
    let held: Vec<_> = all
        .into_par_iter()
        .filter_map(|(name, sum)| {
            let path = store.path(name);
            let held = match path.is_file() {
                true => sum.check(&path),
                false => Err(StoreError::damaged(&path, "missing; store.json lists it")),
            };
            Some((name, held.err()?))
        })
        .collect();
    for (name, error) in held {
        match checked.iter_mut().find(|file| file.file == *name) {
            Some(file) => file.error(&error),
            None => {
                let mut file = Checked::new(name.clone());
                file.error(&error);
                checked.push(file);
            }
        }
    }
}

/// Refuses an archive of another frame than its name says.
fn is_number(found: u32, path: &Path, number: u32) -> Result<()> {
    if found == number {
        return Ok(());
    }
    let what = format!("holds frame {found}; the file is number {number}");
    Err(StoreError::damaged(path, what))
}

/// Tells files in the folders of numbered ones that no stage would read.
fn misnamed(store: &Store, checked: &mut Vec<Checked>) -> Result<()> {
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
                let mut file = Checked::new(name.clone());
                let wanted = name_of(kind, 12, extension);
                let what = format_args!("is named unlike {wanted}: no stage reads it");
                file.faults.tell(None, None, what);
                others.insert(name, file);
            }
        }
        checked.extend(others.into_values());
    }
    Ok(())
}
