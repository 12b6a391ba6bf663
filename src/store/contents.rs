//! What a store holds: which files there are, and how they go.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::atomic;
use super::error::{Result, StoreError};
use super::folder::{Store, in_folder};
use super::layout::writer_of;
use super::manifest::Manifest;
use super::sums::Sums;

impl Store {
    /// An existing store, known by its `store.json`; files are checked against the sums in it when they are read.
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

    /// Numbers of the files `kind/NNNNNN.extension`, ascending. One that `store.json` lists and that is gone
    /// is an error.
    pub fn numbers(&self, kind: &str, extension: &str) -> Result<Vec<u32>> {
        let numbers = self.present(kind, extension)?;
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
    fn present(&self, kind: &str, extension: &str) -> Result<Vec<u32>> {
        let folder = self.root.join(kind);
        if !folder.is_dir() {
            return Ok(Vec::new());
        }
        let mut numbers = Vec::new();
        for entry in std::fs::read_dir(&folder).map_err(StoreError::io(&folder))? {
            let path = entry.map_err(StoreError::io(&folder))?.path();
            // One that is called otherwise would not be found again.
            numbers.extend(
                number_of(&path, extension)
                    .filter(|&number| path == self.numbered(kind, number, extension)),
            );
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Frames that exist, ascending, restricted to `range`.
    pub fn frames(&self, range: &Range<u32>) -> Result<Vec<u32>> {
        let mut frames = self.numbers("frames", "parquet")?;
        frames.retain(|frame| range.contains(frame));
        Ok(frames)
    }

    /// Puts what `fill` writes into a folder `kind` of its own in the place of the store's, and removes the
    /// folders `later`, which would not fit it. When `fill` fails, everything stays as it was.
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
        // What is left of it has no reader.
        let _ = std::fs::remove_dir_all(fresh.root);
        replaced
    }

    /// Removes `kind/NNNNNN.extension`.
    pub fn remove_numbered(&self, kind: &str, frame: u32, extension: &str) -> Result<()> {
        let path = self.numbered(kind, frame, extension);
        std::fs::remove_file(&path).map_err(StoreError::io(&path))
    }

    /// Removes the folders `kinds` with everything in them: a stage starts anew.
    pub fn clear(&self, kinds: &[&str]) -> Result<()> {
        self.forget(|name| kinds.iter().any(|kind| in_folder(name, kind)))?;
        for path in kinds.iter().map(|kind| self.path(kind)) {
            if path.exists() {
                std::fs::remove_dir_all(&path).map_err(StoreError::io(&path))?;
            }
        }
        Ok(())
    }

    /// Removes the numbered files of these folders that lie behind `frame`.
    pub fn clear_after(&self, kinds: &[&str], frame: u32) -> Result<()> {
        for kind in kinds {
            let folder = self.path(kind);
            let mut behind = Vec::new();
            for extension in ["parquet", "rkyv"] {
                let numbers = self.present(kind, extension)?.into_iter();
                let numbers = numbers.filter(|&number| number > frame);
                behind.extend(numbers.map(|number| self.numbered(kind, number, extension)));
            }
            if behind.is_empty() {
                continue;
            }
            let names: Vec<_> = behind
                .iter()
                .filter_map(|path| self.name_of(path))
                .collect();
            self.forget(|name| names.iter().any(|gone| gone == name))?;
            for path in behind {
                std::fs::remove_file(&path).map_err(StoreError::io(&path))?;
            }
            atomic::sync_folder(&folder)?;
        }
        Ok(())
    }

    /// Adds sums to `store.json`, where there is one.
    pub fn list(&self, mut sums: Sums) -> Result<()> {
        if self.path("store.json").is_file() && !sums.is_empty() {
            Manifest::update(self, |manifest| manifest.files.append(&mut sums))?;
        }
        Ok(())
    }

    /// Drops the sums of files that are about to be removed, and the records of the stages that wrote them.
    fn forget(&self, gone: impl Fn(&str) -> bool) -> Result<()> {
        if self.path("store.json").is_file() {
            Manifest::update(self, |manifest| manifest.forget(gone))?;
        }
        Ok(())
    }
}

/// The number that a file is called by, where it has this extension.
fn number_of(path: &Path, extension: &str) -> Option<u32> {
    path.extension().filter(|found| *found == extension)?;
    path.file_stem()?.to_str()?.parse().ok()
}
