//! rkyv files: a 16-byte header of magic, schema version and checksum, then the archive.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use rkyv::Serialize;
use rkyv::api::high::{HighSerializer, to_bytes_in};
use rkyv::rancor;
use rkyv::ser::allocator::ArenaHandle;
use rkyv::ser::writer::IoWriter;
use rkyv::util::AlignedVec;
use xxhash_rust::xxh3::Xxh3;

use super::atomic;
use super::error::{Result, StoreError};
use super::version::{self, SCHEMA_VERSION};

/// Size of the header in bytes: magic, schema version, low 32 bits of the archive's xxh3.
pub const HEADER: usize = 16;

/// Serializer that writes archives.
type ArchiveSerializer<'a, 'b, 'f> = HighSerializer<
    IoWriter<&'b mut HashingWriter<&'f mut BufWriter<File>>>,
    ArenaHandle<'a>,
    rancor::Error,
>;

/// Writes an archive through to the file and hashes it, so that it is never in memory as a whole.
pub struct HashingWriter<W> {
    file: W,
    hash: Xxh3,
    failure: Option<io::Error>,
}

impl<W: Write> Write for HashingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.update(bytes);
        self.file.write_all(bytes).map_err(|error| {
            let kind = error.kind();
            // The serializer discards the cause.
            self.failure = Some(error);
            kind.into()
        })
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes a header and an archive, atomically.
pub fn write<T>(path: &Path, magic: &[u8; 8], value: &T) -> Result<()>
where
    T: for<'a, 'b, 'f> Serialize<ArchiveSerializer<'a, 'b, 'f>>,
{
    atomic::write(path, |file| {
        file.write_all(magic)?;
        file.write_all(&SCHEMA_VERSION.to_le_bytes())?;
        // Placeholder: the checksum is known only after the archive has been written.
        file.write_all(&[0; 4])?;
        let mut body = HashingWriter {
            file: &mut *file,
            hash: Xxh3::new(),
            failure: None,
        };
        let written = to_bytes_in::<_, rancor::Error>(value, IoWriter::new(&mut body)).map(drop);
        let (failure, sum) = (body.failure.take(), low_bits(body.hash.digest()));
        if let Err(error) = written {
            return Err(failure.unwrap_or_else(|| io::Error::other(error)));
        }
        file.seek(SeekFrom::Start(HEADER as u64 - 4))?;
        file.write_all(&sum.to_le_bytes())
    })
}

/// Reads an archive after checking its header.
pub fn read(path: &Path, magic: &[u8; 8]) -> Result<AlignedVec> {
    read_one_of(path, &[magic]).map(|(_, archive)| archive)
}

/// Reads an archive of one of several kinds after checking its header; returns the number of the kind too.
pub fn read_one_of(path: &Path, magics: &[&[u8; 8]]) -> Result<(usize, AlignedVec)> {
    let file = std::fs::read(path).map_err(StoreError::io(path))?;
    let Some((header, body)) = file.split_at_checked(HEADER) else {
        return Err(StoreError::damaged(path, "truncated"));
    };
    let kind = magics.iter().position(|magic| header[..8] == magic[..]);
    let Some(kind) = kind else {
        return Err(StoreError::damaged(path, other_kind(header, magics)));
    };
    let word = |at: usize| {
        u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    if word(8) != SCHEMA_VERSION {
        let what = version::unread(&word(8).to_string(), None);
        return Err(StoreError::invalid(path, what));
    }
    if word(12) != checksum(body) {
        return Err(StoreError::damaged(
            path,
            "truncated or altered: checksum differs",
        ));
    }
    let mut aligned = AlignedVec::with_capacity(body.len());
    aligned.extend_from_slice(body);
    Ok((kind, aligned))
}

/// Message about a file that begins with none of these magics.
fn other_kind(header: &[u8], magics: &[&[u8; 8]]) -> String {
    let name = |magic: &[u8]| String::from_utf8_lossy(magic).into_owned();
    if !header.starts_with(b"cullet") {
        return "not a file of this kind".to_owned();
    }
    let read: Vec<String> = magics.iter().map(|magic| name(*magic)).collect();
    format!(
        "holds {}, this program (cullet {}) reads {}; run the stage that writes it again, or use the cullet that did",
        name(&header[..8]),
        env!("CARGO_PKG_VERSION"),
        read.join(" or ")
    )
}

fn checksum(bytes: &[u8]) -> u32 {
    low_bits(xxhash_rust::xxh3::xxh3_64(bytes))
}

fn low_bits(hash: u64) -> u32 {
    hash as u32
}
