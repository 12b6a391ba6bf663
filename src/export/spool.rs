//! Text kept on disk until its place in a file is known.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A stretch of text in a [`Spool`].
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    offset: u64,
    length: u64,
}

/// A temporary file that is written in one order and read in another; gone when dropped.
pub struct Spool {
    path: PathBuf,
    writer: BufWriter<File>,
    length: u64,
}

impl Spool {
    /// Opens a spool beside `target`.
    pub fn beside(target: &Path) -> io::Result<Self> {
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

    /// Appends text.
    pub fn append(&mut self, parts: &[String]) -> io::Result<Segment> {
        let offset = self.length;
        for part in parts {
            self.writer.write_all(part.as_bytes())?;
            self.length += part.len() as u64;
        }
        Ok(Segment {
            offset,
            length: self.length - offset,
        })
    }

    /// Copies a segment to `out`.
    pub fn copy(&mut self, segment: Segment, out: &mut impl Write) -> io::Result<()> {
        self.writer.flush()?;
        let mut file = self.writer.get_ref();
        file.seek(SeekFrom::Start(segment.offset))?;
        let copied = io::copy(&mut file.take(segment.length), out)?;
        // Later appends go to the end again.
        file.seek(SeekFrom::Start(self.length))?;
        if copied == segment.length {
            Ok(())
        } else {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        // A file that cannot be removed harms nobody: it is hidden and has no reader.
        let _ = std::fs::remove_file(&self.path);
    }
}
