//! The folder of a store: paths in it, and the checksums of its files in `store.json`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::parallel::prelude::*;

use super::error::{Result, StoreError};
use super::sums::{FileChecksum, FileChecksums};

/// Folder of collider meshes.
pub(super) const COLLIDERS: &str = "packing/colliders";

/// A folder laid out as a frame store.
#[derive(Clone, Debug)]
pub struct Store {
    pub(super) root: PathBuf,
    /// Checksums from `store.json` when the store was opened.
    pub(super) sums: Arc<FileChecksums>,
}

impl Store {
    /// The store at `root`, which need not exist yet. Files are read without checking their checksums.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Store {
            root: root.into(),
            sums: Arc::default(),
        }
    }

    /// Returns `path` if the file exists and matches its checksum in `store.json`. `stage` is the stage that
    /// writes it, for the error message.
    pub fn checked(&self, path: PathBuf, stage: &'static str) -> Result<PathBuf> {
        if !path.is_file() {
            return Err(StoreError::Missing { path, stage });
        }
        if let Some(sum) = self.name_of(&path).and_then(|name| self.sums.get(&name)) {
            sum.check(&path)?;
        }
        Ok(path)
    }

    /// The store's folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path inside the folder.
    pub fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root.join(relative)
    }

    /// Path of `kind/NNNNNN.extension`.
    pub fn numbered(&self, kind: &str, frame: u32, extension: &str) -> PathBuf {
        self.root.join(kind).join(format!("{frame:06}.{extension}"))
    }

    /// Path of the skin of body number `body` at rest, in world coordinates (binary PLY).
    pub fn shape_path(&self, body: usize) -> PathBuf {
        self.root.join("packing/shapes").join(format!("{body}.ply"))
    }

    /// Path of the surface of body number `body` whose triangles the stress tables refer to (binary PLY).
    pub fn stress_shape_path(&self, body: usize) -> PathBuf {
        self.root.join("stress/shapes").join(format!("{body}.ply"))
    }

    /// Name of a file in the list of checksums; none for files outside the store.
    pub fn name_of(&self, path: &Path) -> Option<String> {
        let inside = path.strip_prefix(self.root()).ok()?;
        let parts = inside.iter().map(|part| part.to_string_lossy());
        Some(parts.collect::<Vec<_>>().join("/"))
    }

    /// Checksums of the current contents of these files; files outside the store are skipped.
    pub fn checksums_of(&self, paths: &[impl AsRef<Path> + Sync]) -> Result<FileChecksums> {
        let sums = paths.par_iter().filter_map(|path| {
            let name = self.name_of(path.as_ref())?;
            Some(FileChecksum::of(path.as_ref()).map(|sum| (name, sum)))
        });
        let sums: Result<Vec<_>> = sums.collect();
        Ok(sums?.into_iter().collect())
    }
}

/// Whether a file name from the list of checksums lies in this folder of the store.
pub fn in_folder(name: &str, folder: &str) -> bool {
    let rest = name.strip_prefix(folder);
    rest.is_some_and(|rest| rest.starts_with('/'))
}
