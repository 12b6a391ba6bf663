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
    write_body(path, magic, |body| {
        let written = to_bytes_in::<_, rancor::Error>(value, IoWriter::new(&mut *body)).map(drop);
        written.map_err(|error| {
            body.failure
                .take()
                .unwrap_or_else(|| io::Error::other(error))
        })
    })
}

/// Writes a header and what `fill` writes, atomically.
pub(super) fn write_body(
    path: &Path,
    magic: &[u8; 8],
    fill: impl FnOnce(&mut HashingWriter<&mut BufWriter<File>>) -> io::Result<()>,
) -> Result<()> {
    atomic::write(path, |file| {
        file.write_all(magic)?;
        file.write_all(&SCHEMA_VERSION.to_le_bytes())?;
        // Placeholder: the checksum is known only after the body has been written.
        file.write_all(&[0; 4])?;
        let mut body = HashingWriter {
            file: &mut *file,
            hash: Xxh3::new(),
            failure: None,
        };
        fill(&mut body)?;
        let sum = low_bits(body.hash.digest());
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
    let Some((header, body)) = file.split_first_chunk::<HEADER>() else {
        return Err(StoreError::damaged(path, "truncated"));
    };
    let (kind, sum) = read_header(path, header, magics)?;
    check_sum(path, sum, xxhash_rust::xxh3::xxh3_64(body))?;
    let mut aligned = AlignedVec::with_capacity(body.len());
    aligned.extend_from_slice(body);
    Ok((kind, aligned))
}

/// Number of the kind, and checksum, in a header.
pub(super) fn read_header(
    path: &Path,
    header: &[u8; HEADER],
    magics: &[&[u8; 8]],
) -> Result<(usize, u32)> {
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
    Ok((kind, word(12)))
}

/// Fails unless a body has the checksum of its header; `hash` is that of the body.
pub(super) fn check_sum(path: &Path, sum: u32, hash: u64) -> Result<()> {
    if low_bits(hash) == sum {
        return Ok(());
    }
    let what = "truncated or altered: checksum differs";
    Err(StoreError::damaged(path, what))
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

fn low_bits(hash: u64) -> u32 {
    hash as u32
}
