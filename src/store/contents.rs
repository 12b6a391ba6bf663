//! Contents of a store: lists, replaces and removes files.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::atomic;
use super::error::{Result, StoreError};
use super::folder::{Store, in_folder};
use super::layout::writer_of;
use super::manifest::Manifest;
use super::sums::FileChecksums;

impl Store {
    /// Opens an existing store, which must have a `store.json`. Files are compared with its checksums when
    /// they are read.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self> {
        let mut store = Self::at(root);
        if !store.path("store.json").is_file() {
            return Err(StoreError::NotAStore {
                path: store.root,
                missing: "store.json",
            });
        }
        store.sums = Arc::new(Manifest::read(&store)?.files);
        Ok(store)
    }

    /// Numbers of the files `kind/NNNNNN.extension`, ascending. A file that `store.json` lists and that does
    /// not exist is an error.
    pub fn numbers(&self, kind: &str, extension: &str) -> Result<Vec<u32>> {
        let numbers = self.existing_numbers(kind, extension)?;
        for name in self.sums.keys().filter(|name| in_folder(name, kind)) {
            let path = self.path(name);
            let number = number_of(&path, extension);
            if number.is_some_and(|number| numbers.binary_search(&number).is_err()) {
                let stage = writer_of(kind);
                return Err(StoreError::Gone { path, stage });
            }
        }
        Ok(numbers)
    }

    /// Numbers of the files `kind/NNNNNN.extension` that exist, ascending.
    fn existing_numbers(&self, kind: &str, extension: &str) -> Result<Vec<u32>> {
        let folder = self.root.join(kind);
        if !folder.is_dir() {
            return Ok(Vec::new());
        }
        let mut numbers = Vec::new();
        for entry in std::fs::read_dir(&folder).map_err(StoreError::io(&folder))? {
            let path = entry.map_err(StoreError::io(&folder))?.path();
            // Files with other names would not be found by their number.
            numbers.extend(
                number_of(&path, extension)
                    .filter(|&number| path == self.numbered(kind, number, extension)),
            );
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Numbers of the frames that exist in `range`, ascending.
    pub fn frames(&self, range: &Range<u32>) -> Result<Vec<u32>> {
        let mut frames = self.numbers("frames", "parquet")?;
        frames.retain(|frame| range.contains(frame));
        Ok(frames)
    }

    /// Replaces the folder `kind` by the one that `fill` writes into a temporary store, and removes the
    /// folders `later`, which depend on the old one. If `fill` fails, nothing changes.
    pub fn replace(
        &self,
        kind: &str,
        later: &[&str],
        fill: impl FnOnce(&Store) -> Result<()>,
    ) -> Result<()> {
        let fresh = Store::at(self.path(format!(".{kind}.{}.tmp", std::process::id())));
        let (from, to) = (fresh.path(kind), self.path(kind));
        let replaced = fill(&fresh).and_then(|()| {
            atomic::sync_folder(&from)?;
            self.clear(&[later, &[kind]].concat())?;
            std::fs::rename(&from, &to).map_err(StoreError::io(&to))?;
            atomic::sync_folder(&self.root)
        });
        // Leftover temporary files are never read.
        let _ = std::fs::remove_dir_all(fresh.root);
        replaced
    }

    /// Removes `kind/NNNNNN.extension`.
    pub fn remove_numbered(&self, kind: &str, frame: u32, extension: &str) -> Result<()> {
        let path = self.numbered(kind, frame, extension);
        std::fs::remove_file(&path).map_err(StoreError::io(&path))
    }

    /// Removes the folders `kinds` with all their contents, before a stage starts again.
    pub fn clear(&self, kinds: &[&str]) -> Result<()> {
        self.forget(|name| kinds.iter().any(|kind| in_folder(name, kind)))?;
        for path in kinds.iter().map(|kind| self.path(kind)) {
            if path.exists() {
                std::fs::remove_dir_all(&path).map_err(StoreError::io(&path))?;
            }
        }
        Ok(())
    }

    /// Removes the numbered files in these folders whose number is above `frame`.
    pub fn clear_after(&self, kinds: &[&str], frame: u32) -> Result<()> {
        for kind in kinds {
            let folder = self.path(kind);
            let mut later_files = Vec::new();
            for extension in ["parquet", "rkyv"] {
                let numbers = self.existing_numbers(kind, extension)?.into_iter();
                let numbers = numbers.filter(|&number| number > frame);
                later_files.extend(numbers.map(|number| self.numbered(kind, number, extension)));
            }
            if later_files.is_empty() {
                continue;
            }
            let names: Vec<_> = later_files
                .iter()
                .filter_map(|path| self.name_of(path))
                .collect();
            self.forget(|name| names.iter().any(|gone| gone == name))?;
            for path in later_files {
                std::fs::remove_file(&path).map_err(StoreError::io(&path))?;
            }
            atomic::sync_folder(&folder)?;
        }
        Ok(())
    }

    /// Adds checksums to `store.json`, if it exists.
    pub fn add_checksums(&self, mut sums: FileChecksums) -> Result<()> {
        if self.path("store.json").is_file() && !sums.is_empty() {
            Manifest::update(self, |manifest| manifest.files.append(&mut sums))?;
        }
        Ok(())
    }

    /// Removes the checksums of files that are about to be deleted from `store.json`, and the records of the
    /// stages that wrote them.
    fn forget(&self, gone: impl Fn(&str) -> bool) -> Result<()> {
        if self.path("store.json").is_file() {
            Manifest::update(self, |manifest| manifest.forget(gone))?;
        }
        Ok(())
    }
}

/// The number in a file's name, if it has this extension.
fn number_of(path: &Path, extension: &str) -> Option<u32> {
    path.extension().filter(|found| *found == extension)?;
    path.file_stem()?.to_str()?.parse().ok()
}
