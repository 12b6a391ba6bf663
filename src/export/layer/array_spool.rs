//! Arrays, encoded for a file and kept on disk until their place in it is known.

use std::io::{self, Write};
use std::path::Path;

use super::array::Array;
use super::encoding::binary::{self, ArrayTag};
use super::encoding::text;
use crate::export::spool::{Spool, SpoolSegment};
use crate::spec::UsdFile;

/// What equal arrays have in common: hash of the encoded values, and how readers are to understand them.
pub type ArrayKey = (u128, ArrayTag);

/// An array in a spool. Arrays are equal if their encoded values are.
#[derive(Clone, Copy, Debug)]
pub struct StoredArray {
    segment: SpoolSegment,
    /// Hash of the encoded values, and how readers are to understand them.
    key: ArrayKey,
}

impl StoredArray {
    /// Size of the encoded values, bytes.
    pub fn size(self) -> usize {
        self.segment.length() as usize
    }

    /// Hash of the encoded values, and how readers are to understand them.
    pub fn key(self) -> ArrayKey {
        self.key
    }
}

impl PartialEq for StoredArray {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

/// How values are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// As text USD.
    Text,
    /// As binary USD.
    Binary,
    /// As bare numbers, little-endian.
    Bare,
}

impl Encoding {
    /// The encoding in a kind of file.
    pub fn of(file: UsdFile) -> Self {
        match file {
            UsdFile::Usda => Encoding::Text,
            UsdFile::Usdc | UsdFile::Usdz => Encoding::Binary,
        }
    }
}

/// Encoded arrays on disk.
pub struct ArraySpool {
    spool: Spool,
    encoding: Encoding,
}

impl ArraySpool {
    /// Creates a spool in the folder of `target`.
    pub fn next_to(target: &Path, encoding: Encoding) -> io::Result<Self> {
        let spool = Spool::next_to(target)?;
        Ok(ArraySpool { spool, encoding })
    }

    /// Encodes and keeps an array.
    pub fn store(&mut self, array: &Array) -> io::Result<StoredArray> {
        let (parts, tag) = match self.encoding {
            Encoding::Text => {
                let parts = text::format(array).into_iter().map(String::into_bytes);
                (parts.collect(), ArrayTag::default())
            }
            Encoding::Binary => {
                let (bytes, tag) = binary::array(array)?;
                (vec![bytes], tag)
            }
            Encoding::Bare => (vec![binary::bare(array)], ArrayTag::default()),
        };
        let mut hash = xxhash_rust::xxh3::Xxh3::new();
        for part in &parts {
            hash.update(part);
        }
        Ok(StoredArray {
            segment: self.spool.append(&parts)?,
            key: (hash.digest128(), tag),
        })
    }

    /// Reads an encoded array.
    pub fn read(&mut self, array: StoredArray) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.copy(array, &mut bytes)?;
        Ok(bytes)
    }

    /// Copies an encoded array to `out` and returns its length, bytes.
    pub fn copy(&mut self, array: StoredArray, out: &mut impl Write) -> io::Result<u64> {
        self.spool.copy(array.segment, out)
    }
}
