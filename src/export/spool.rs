//! Data that is kept on disk until its position in the output file is known.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A contiguous piece of data in a [`Spool`]: byte offset and length.
#[derive(Clone, Copy, Debug)]
pub struct SpoolSegment {
    offset: u64,
    length: u64,
}

impl SpoolSegment {
    /// Length, bytes.
    pub fn length(self) -> u64 {
        self.length
    }
}

/// A temporary file that is written in one order and read in another; deleted on drop.
pub struct Spool {
    path: PathBuf,
    writer: BufWriter<File>,
    length: u64,
}

impl Spool {
    /// Creates a spool in the folder of `target`.
    pub fn next_to(target: &Path) -> io::Result<Self> {
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let path = target.with_file_name(format!(".{name}.{}.spool.tmp", std::process::id()));
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)?;
        Ok(Spool {
            path,
            writer: BufWriter::with_capacity(1 << 20, file),
            length: 0,
        })
    }

    /// Appends the concatenation of `parts`.
    pub fn append(&mut self, parts: &[impl AsRef<[u8]>]) -> io::Result<SpoolSegment> {
        let offset = self.length;
        for part in parts {
            self.writer.write_all(part.as_ref())?;
            self.length += part.as_ref().len() as u64;
        }
        Ok(SpoolSegment {
            offset,
            length: self.length - offset,
        })
    }

    /// Copies a segment to `out` and returns its length, bytes.
    pub fn copy(&mut self, segment: SpoolSegment, out: &mut impl Write) -> io::Result<u64> {
        self.writer.flush()?;
        let mut file = self.writer.get_ref();
        file.seek(SeekFrom::Start(segment.offset))?;
        let copied = io::copy(&mut file.take(segment.length), out)?;
        // Later appends go to the end again.
        file.seek(SeekFrom::Start(self.length))?;
        if copied == segment.length {
            Ok(copied)
        } else {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        // A file that cannot be removed does no harm: it is hidden and nothing reads it.
        let _ = std::fs::remove_file(&self.path);
    }
}
