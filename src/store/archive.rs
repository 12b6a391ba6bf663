//! rkyv files: a 16-byte header of magic, schema version and checksum, then the archive.

use std::io::Write;
use std::path::Path;

use rkyv::rancor;
use rkyv::util::AlignedVec;

use super::{Result, SCHEMA_VERSION, StoreError, atomic};

/// Bytes of the header: magic, schema version, low 32 bits of the archive's xxh3.
const HEADER: usize = 16;

/// Writes an archive behind its header, whole or not at all.
pub fn write(
    path: &Path,
    magic: &[u8; 8],
    bytes: impl FnOnce() -> std::result::Result<AlignedVec, rancor::Error>,
) -> Result<()> {
    let bytes = bytes().map_err(|error| StoreError::damaged(path, error))?;
    atomic::write(path, |writer| {
        writer.write_all(magic)?;
        writer.write_all(&SCHEMA_VERSION.to_le_bytes())?;
        writer.write_all(&checksum(&bytes).to_le_bytes())?;
        writer.write_all(&bytes)
    })
}

/// Reads an archive after checking its header.
pub fn read(path: &Path, magic: &[u8; 8]) -> Result<AlignedVec> {
    let file = std::fs::read(path).map_err(StoreError::io(path))?;
    let Some((header, body)) = file.split_at_checked(HEADER) else {
        return Err(StoreError::damaged(path, "truncated"));
    };
    if &header[..8] != magic {
        return Err(StoreError::damaged(path, "not a file of this kind"));
    }
    let word = |at: usize| {
        u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    if word(8) != SCHEMA_VERSION {
        let what = format!(
            "schema version {}; this program reads version {SCHEMA_VERSION}",
            word(8)
        );
        return Err(StoreError::damaged(path, what));
    }
    if word(12) != checksum(body) {
        return Err(StoreError::damaged(
            path,
            "truncated or altered: checksum differs",
        ));
    }
    let mut aligned = AlignedVec::with_capacity(body.len());
    aligned.extend_from_slice(body);
    Ok(aligned)
}

fn checksum(bytes: &[u8]) -> u32 {
    xxhash_rust::xxh3::xxh3_64(bytes) as u32
}
