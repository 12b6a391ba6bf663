//! Files that are whole or absent: written under a temporary name, synced, renamed.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::{Result, StoreError};

/// Writes `path` through `fill`; a failure leaves the old file, if any, and nothing else.
pub fn write(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(StoreError::io(folder))?;
    let temporary = temporary_name(path);
    let written = (|| {
        let mut writer = BufWriter::with_capacity(1 << 20, File::create(&temporary)?);
        fill(&mut writer)?;
        writer.flush()?;
        writer.get_ref().sync_data()?;
        fs::rename(&temporary, path)?;
        // The name itself lasts only once its folder is on disk.
        File::open(folder)?.sync_all()
    })();
    if written.is_err() {
        // The cause is reported below; a temporary file that cannot be removed has no reader.
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(StoreError::io(path))
}

/// Writes `bytes` to `path`.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<()> {
    write(path, |writer| writer.write_all(bytes))
}

/// Whether a file is one that [`fn@write`] did not get to rename.
pub fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with('.') && name.ends_with(".tmp")
}

fn temporary_name(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}
