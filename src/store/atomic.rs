//! Atomic files: written under a temporary name, synced, renamed, so that they are whole or absent.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::error::{Result, StoreError};

/// Writes `path` through `fill`. If that fails, the old file remains, if there was one, and nothing else.
pub fn write(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<()> {
    write_unsynced(path, fill)?;
    sync_folder(folder_of(path))
}

/// As [`fn@write`], but a power cut may lose the file's name until its folder is [synced](sync_folder). For
/// several files in one folder, which then need only one sync.
pub fn write_unsynced(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<()> {
    let folder = folder_of(path);
    fs::create_dir_all(folder).map_err(StoreError::io(folder))?;
    let temporary = temporary_name(path);
    let written = (|| {
        let mut writer = BufWriter::with_capacity(1 << 20, File::create(&temporary)?);
        fill(&mut writer)?;
        writer.flush()?;
        writer.get_ref().sync_data()?;
        fs::rename(&temporary, path)
    })();
    if written.is_err() {
        // The cause is reported below; a temporary file that cannot be removed is never read.
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(StoreError::io(path))
}

/// Makes the names of all files in a folder durable.
pub fn sync_folder(folder: &Path) -> Result<()> {
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(StoreError::io(folder))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// Writes `bytes` to `path`.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<()> {
    write_parts(path, &[bytes])
}

/// Writes parts one after the other to `path`.
pub fn write_parts(path: &Path, parts: &[impl AsRef<[u8]>]) -> Result<()> {
    write(path, |writer| {
        let mut parts = parts.iter();
        parts.try_for_each(|part| writer.write_all(part.as_ref()))
    })
}

/// Whether a file is a temporary one, which [`fn@write`] has not renamed.
pub fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with('.') && name.ends_with(".tmp")
}

fn temporary_name(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}
