//! Files of an index and parts, for what is too large for one rkyv archive: a header as that of an archive, the length
//! of the index (64 bits), the index (an archive), the parts one after the other.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use rkyv::util::AlignedVec;
use xxhash_rust::xxh3::Xxh3;

use super::archive::{self, HEADER};
use super::error::{Result, StoreError};

/// Bytes that one archive may have: its offsets are signed 32-bit integers.
pub const MAX_ARCHIVE: u64 = i32::MAX as u64;

/// Writes a file, atomically; `parts` writes the parts.
pub fn write(
    path: &Path,
    magic: &[u8; 8],
    index: &[u8],
    parts: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    archive::write_body(path, magic, |body| {
        body.write_all(&(index.len() as u64).to_le_bytes())?;
        body.write_all(index)?;
        parts(body)
    })
}

/// Reads a file part by part.
pub struct PartReader {
    path: PathBuf,
    file: BufReader<File>,
    hash: Xxh3,
    sum: u32,
    /// Bytes not read yet.
    left: u64,
}

impl PartReader {
    /// Opens a file; `None` if it does not begin with this magic.
    ///
    /// # Errors
    /// The file cannot be read, or has another version.
    pub fn open(path: &Path, magic: &[u8; 8]) -> Result<Option<Self>> {
        let mut file = File::open(path).map_err(StoreError::io(path))?;
        let length = file.metadata().map_err(StoreError::io(path))?.len();
        let mut header = [0; HEADER];
        if length < HEADER as u64 {
            return Ok(None);
        }
        file.read_exact(&mut header).map_err(StoreError::io(path))?;
        if header[..8] != magic[..] {
            return Ok(None);
        }
        let (_, sum) = archive::read_header(path, &header, &[magic])?;
        Ok(Some(PartReader {
            path: path.to_owned(),
            file: BufReader::with_capacity(1 << 20, file),
            hash: Xxh3::new(),
            sum,
            left: length - HEADER as u64,
        }))
    }

    /// The index; to be read first.
    ///
    /// # Errors
    /// The file is truncated or cannot be read.
    pub fn index(&mut self) -> Result<AlignedVec> {
        let mut length = [0; 8];
        self.fill(&mut length)?;
        let index = self.part(u64::from_le_bytes(length))?;
        let mut aligned = AlignedVec::with_capacity(index.len());
        aligned.extend_from_slice(&index);
        Ok(aligned)
    }

    /// The next part, of this many bytes.
    ///
    /// # Errors
    /// As [`index`](Self::index).
    pub fn part(&mut self, length: u64) -> Result<Vec<u8>> {
        // Before a damaged length is allocated.
        if length > self.left {
            return Err(StoreError::damaged(&self.path, "truncated"));
        }
        let mut part = vec![0; length as usize];
        self.fill(&mut part)?;
        Ok(part)
    }

    /// Fails unless everything has been read and the checksum is right.
    ///
    /// # Errors
    /// The file is truncated or was altered.
    pub fn finish(self) -> Result<()> {
        if self.left > 0 {
            let what = "altered: more data than its index names";
            return Err(StoreError::damaged(&self.path, what));
        }
        archive::check_sum(&self.path, self.sum, self.hash.digest())
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<()> {
        if bytes.len() as u64 > self.left {
            return Err(StoreError::damaged(&self.path, "truncated"));
        }
        self.file
            .read_exact(bytes)
            .map_err(StoreError::io(&self.path))?;
        self.hash.update(bytes);
        self.left -= bytes.len() as u64;
        Ok(())
    }
}
