//! A `.usdz` package: a ZIP archive that holds one binary layer, not compressed, at a multiple of 64 bytes.

use std::io::{self, Seek, SeekFrom, Write};

use crc32fast::Hasher;

use super::binary::HEAD;

/// Multiple of bytes at which the layer begins.
const ALIGNMENT: usize = 64;
/// Size of the part of a file's header before its name, bytes, in front of the file and in the directory.
const LOCAL: usize = 30;
/// Marks of a file's header, of its entry in the directory, and of the end.
const MARKS: [&[u8]; 3] = [b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"];
/// Flag of a name in UTF-8.
const UTF8: u16 = 1 << 11;
/// Number of the extra field that fills the header up.
const PADDING: u16 = 0x1986;
/// 1 January 1980, midnight: packages of equal layers are equal.
const TIME_AND_DATE: [u8; 4] = [0, 0, 1 << 5 | 1, 0];

/// A package that is being written. It is written like the file of the layer.
pub struct Package<'a, W> {
    out: &'a mut W,
    name: String,
    /// Where the layer begins in the package.
    start: u64,
    /// Place of the next byte, and size so far, counted from there.
    position: u64,
    size: u64,
    /// First bytes of the layer, which are written last, and checksum of the others.
    head: [u8; HEAD],
    rest: Hasher,
}

impl<'a, W: Write + Seek> Package<'a, W> {
    /// Begins a package for a layer with this file name.
    pub fn new(out: &'a mut W, name: String) -> io::Result<Self> {
        let start = (LOCAL + name.len() + 4).next_multiple_of(ALIGNMENT);
        out.write_all(&vec![0; start])?;
        Ok(Package {
            out,
            name,
            start: start as u64,
            position: 0,
            size: 0,
            head: [0; HEAD],
            rest: Hasher::new(),
        })
    }

    /// Writes the headers and the directory.
    pub fn finish(self) -> io::Result<()> {
        let fits = self.start + self.size < u32::MAX.into();
        let (size, after) = (self.size as u32, (self.start + self.size) as u32);
        if !fits {
            let what = "the layer has over 4 GB, which a usdz file cannot hold; write usdc instead";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let mut sum = Hasher::new();
        sum.update(&self.head);
        sum.combine(&self.rest);
        // Version that is needed, flags, method "stored", time and date, checksum, size twice, length of the name.
        let flags = if self.name.is_ascii() { 0 } else { UTF8 };
        let mut common = vec![10, 0];
        common.extend(flags.to_le_bytes());
        common.extend([0; 2]);
        common.extend(TIME_AND_DATE);
        common.extend(sum.finalize().to_le_bytes());
        common.extend(size.to_le_bytes());
        common.extend(size.to_le_bytes());
        common.extend((self.name.len() as u16).to_le_bytes());
        let padding = self.start as usize - LOCAL - self.name.len() - 4;
        let mut local = [MARKS[0], &common[..]].concat();
        local.extend((4 + padding as u16).to_le_bytes());
        local.extend(self.name.as_bytes());
        local.extend(PADDING.to_le_bytes());
        local.extend((padding as u16).to_le_bytes());
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(&local)?;
        self.out.seek(SeekFrom::End(0))?;
        // Version that wrote it; lengths of extra field and comment, disk, attributes, place of the header: all 0.
        let mut directory = [MARKS[1], &[10, 0], &common[..]].concat();
        directory.extend([0; 16]);
        directory.extend(self.name.as_bytes());
        // One entry on one disk; size and place of the directory; no comment.
        let mut end = [MARKS[2], &[0, 0, 0, 0, 1, 0, 1, 0]].concat();
        end.extend((directory.len() as u32).to_le_bytes());
        end.extend(after.to_le_bytes());
        end.extend([0; 2]);
        self.out.write_all(&directory)?;
        self.out.write_all(&end)
    }
}

impl<W: Write + Seek> Write for Package<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let at = self.position as usize;
        let in_head = HEAD.saturating_sub(at).min(bytes.len());
        if in_head > 0 {
            self.head[at..at + in_head].copy_from_slice(&bytes[..in_head]);
        }
        // Only the head is written twice.
        debug_assert!(
            in_head == bytes.len() || self.position + in_head as u64 == self.size.max(HEAD as u64)
        );
        self.rest.update(&bytes[in_head..]);
        self.out.write_all(bytes)?;
        self.position += bytes.len() as u64;
        self.size = self.size.max(self.position);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write + Seek> Seek for Package<'_, W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.position = match to {
            SeekFrom::Start(position) => position,
            SeekFrom::End(offset) => self.size.saturating_add_signed(offset),
            SeekFrom::Current(offset) => self.position.saturating_add_signed(offset),
        };
        self.out.seek(SeekFrom::Start(self.start + self.position))?;
        Ok(self.position)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn a_package_is_laid_out_as_zip_and_its_layer_begins_at_a_multiple_of_64() {
        let mut file = Cursor::new(Vec::new());
        let layer: Vec<u8> = (0..1000u32).map(|k| (k * k % 251) as u8).collect();
        let mut package = Package::new(&mut file, "shot.usdc".to_owned()).expect("written");
        package.write_all(&[0; HEAD]).expect("written");
        package.write_all(&layer[HEAD..500]).expect("written");
        package.write_all(&layer[500..]).expect("written");
        package.seek(SeekFrom::Start(0)).expect("sought");
        package.write_all(&layer[..HEAD]).expect("written");
        package.seek(SeekFrom::End(0)).expect("sought");
        package.finish().expect("written");
        let bytes = file.into_inner();
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
        assert_eq!(
            (&bytes[..4], &bytes[30..39]),
            (&b"PK\x03\x04"[..], &b"shot.usdc"[..])
        );
        assert_eq!(&bytes[64..1064], &layer[..]);
        assert_eq!(
            (word(14), word(18), word(22)),
            (crc32fast::hash(&layer), 1000, 1000)
        );
        let extra = u16::from_le_bytes([bytes[28], bytes[29]]);
        assert_eq!(30 + 9 + usize::from(extra), 64);
        let end = bytes.len() - 22;
        let (size, place) = (word(end + 12) as usize, word(end + 16) as usize);
        assert_eq!((place, place + size), (1064, end));
        assert_eq!(
            (&bytes[place..place + 4], &bytes[end..end + 4]),
            (&b"PK\x01\x02"[..], &b"PK\x05\x06"[..])
        );
        assert_eq!(
            (word(place + 16), word(place + 24)),
            (crc32fast::hash(&layer), 1000)
        );
    }
}
