//! Ogawa, the container of Alembic files: groups of children, which are groups or data.
//!
//! Children are written before the group that lists them. Numbers are little-endian.

use std::collections::HashMap;
use std::io::{self, Seek, SeekFrom, Write};

use xxhash_rust::xxh3::xxh3_128;

/// Place of a group or of data in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Child(u64);

/// Bit of a place that tells data from groups.
const DATA: u64 = 1 << 63;
/// Data of no bytes, which stand nowhere.
pub const NO_DATA: Child = Child(DATA);
/// A group without children.
const NO_GROUP: Child = Child(0);
/// Signature of a complete file, and version of the container.
const SIGNATURE: [u8; 8] = *b"Ogawa\xff\x00\x01";

/// A file that is being written.
pub struct Ogawa<'a, W> {
    out: &'a mut W,
    position: u64,
    /// Samples that are written already.
    samples: HashMap<u128, Child>,
}

impl<'a, W: Write + Seek> Ogawa<'a, W> {
    /// Begins a file.
    pub fn new(out: &'a mut W) -> io::Result<Self> {
        out.write_all(&SIGNATURE)?;
        // The place of the root is written last.
        out.write_all(&[0; 8])?;
        Ok(Ogawa {
            out,
            position: 16,
            samples: HashMap::new(),
        })
    }

    /// Writes data.
    pub fn data(&mut self, parts: &[&[u8]]) -> io::Result<Child> {
        let length: u64 = parts.iter().map(|part| part.len() as u64).sum();
        if length == 0 {
            return Ok(NO_DATA);
        }
        let child = Child(DATA | self.position);
        self.out.write_all(&length.to_le_bytes())?;
        for part in parts {
            self.out.write_all(part)?;
        }
        self.position += 8 + length;
        Ok(child)
    }

    /// Writes a sample of a property after a hash by which readers know equal samples; equal ones are written once.
    pub fn sample(&mut self, bytes: &[u8]) -> io::Result<Child> {
        if bytes.is_empty() {
            return Ok(NO_DATA);
        }
        let hash = xxh3_128(bytes);
        if let Some(&known) = self.samples.get(&hash) {
            return Ok(known);
        }
        let child = self.data(&[&hash.to_le_bytes(), bytes])?;
        self.samples.insert(hash, child);
        Ok(child)
    }

    /// Writes a group.
    pub fn group(&mut self, children: &[Child]) -> io::Result<Child> {
        if children.is_empty() {
            return Ok(NO_GROUP);
        }
        let group = Child(self.position);
        let mut bytes = (children.len() as u64).to_le_bytes().to_vec();
        bytes.extend(children.iter().flat_map(|child| child.0.to_le_bytes()));
        self.out.write_all(&bytes)?;
        self.position += bytes.len() as u64;
        Ok(group)
    }

    /// Writes the root, which lists these children, and where it is.
    pub fn finish(mut self, children: &[Child]) -> io::Result<()> {
        let Child(root) = self.group(children)?;
        self.out.seek(SeekFrom::Start(8))?;
        self.out.write_all(&root.to_le_bytes())?;
        self.out.seek(SeekFrom::End(0)).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn groups_and_data_are_where_their_parents_say() {
        let mut file = Cursor::new(Vec::new());
        let mut ogawa = Ogawa::new(&mut file).expect("written");
        let one = ogawa.sample(b"sample").expect("written");
        assert_eq!(ogawa.sample(b"sample").expect("written"), one);
        assert_eq!(ogawa.data(&[]).expect("written"), NO_DATA);
        let group = ogawa.group(&[one, NO_DATA]).expect("written");
        let empty = ogawa.group(&[]).expect("written");
        ogawa.finish(&[group, empty]).expect("written");
        let bytes = file.into_inner();
        let word = |at: u64| {
            let at = at as usize;
            u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"))
        };
        let root = word(8);
        assert_eq!([word(root), word(root + 16)], [2, 0]);
        let group = word(root + 8);
        assert_eq!([word(group), word(group + 16)], [2, 1 << 63]);
        let data = word(group + 8) ^ 1 << 63;
        assert_eq!(word(data), 16 + 6);
        let bytes = &bytes[data as usize + 8..];
        assert_eq!(bytes[..16], xxh3_128(b"sample").to_le_bytes());
        assert_eq!(bytes[16..22], *b"sample");
    }
}
