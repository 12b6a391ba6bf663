//! Arrays, encoded for a file and kept on disk until their place in it is known.

use std::io::{self, Write};
use std::path::Path;

use super::binary::encode;
use super::text::format;
use crate::export::spool::{Spool, SpoolSegment};
use crate::export::text::{nearest, three_digits};
use crate::spec::UsdFile;

/// Digits that the numbers of an array need.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Digits {
    /// All.
    All,
    /// Three significant ones, more than a colour map can show.
    Three,
    /// Five decimals, those of a unit vector whose error is invisible in shading. Only text is rounded.
    Unit,
    /// Those of multiples of this power of ten.
    MultiplesOf(f64),
}

impl Digits {
    /// Rounds a number for encodings other than text, in which fewer decimals of unit vectors would save nothing.
    pub fn round(self, value: f32) -> f32 {
        match self {
            Digits::All | Digits::Unit => value + 0.0, // + 0.0 turns -0 into 0
            Digits::Three => three_digits(value),
            Digits::MultiplesOf(step) => nearest(value.into(), step),
        }
    }
}

/// Values of an array.
#[derive(Clone, Copy, Debug)]
pub enum Array<'a> {
    /// `int[]`
    Ints(&'a [u32]),
    /// `int64[]`
    Longs(&'a [u32]),
    /// `float[]`
    Floats(&'a [f32], Digits),
    /// `texCoord2f[]`
    Vec2f(&'a [[f32; 2]]),
    /// `float3[]`, `point3f[]`, `normal3f[]`, `vector3f[]`, `color3f[]`
    Vec3f(&'a [[f32; 3]], Digits),
    /// `quath[]` of unit quaternions, w first
    Quath(&'a [[f32; 4]]),
}

impl<'a> Array<'a> {
    /// Vectors with all their digits.
    pub fn vectors(values: &'a [[f32; 3]]) -> Self {
        Array::Vec3f(values, Digits::All)
    }
}

/// An array in a spool. Arrays are equal if their encoded values are.
#[derive(Clone, Copy, Debug)]
pub struct StoredArray {
    segment: SpoolSegment,
    /// Hash of the encoded values, and how readers are to understand them.
    key: (u128, encode::ArrayTag),
}

impl StoredArray {
    /// Hash of the encoded values, and how readers are to understand them.
    pub fn key(self) -> (u128, encode::ArrayTag) {
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
                let parts = format(array).into_iter().map(String::into_bytes);
                (parts.collect(), encode::ArrayTag::default())
            }
            Encoding::Binary => {
                let (bytes, tag) = encode::array(array)?;
                (vec![bytes], tag)
            }
            Encoding::Bare => (vec![encode::bare(array)], encode::ArrayTag::default()),
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
