//! Checksums of the store's files, kept in `store.json`: a truncated or altered file is reported before it
//! is used.
//!
//! State files contain their own checksum and are removed during a run: they are not listed.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use xxhash_rust::xxh3::Xxh3;

use super::archive;
use super::error::{Result, StoreError};

/// Length and xxh3-64 hash of a file. For an rkyv archive only the header is hashed: it contains a checksum
/// of the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileChecksum {
    /// Length, bytes.
    pub bytes: u64,
    /// xxh3-64 hash.
    pub hash: u64,
}

/// Checksums by path inside the store, `/` between folders.
pub type FileChecksums = BTreeMap<String, FileChecksum>;

impl fmt::Display for FileChecksum {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:016x}-{}", self.hash, self.bytes)
    }
}

impl FromStr for FileChecksum {
    type Err = String;
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let parsed = text.split_once('-').and_then(|(hash, bytes)| {
            Some(FileChecksum {
                bytes: bytes.parse().ok()?,
                hash: u64::from_str_radix(hash, 16).ok()?,
            })
        });
        parsed.ok_or_else(|| {
            format!(
                "{text:?} is not the checksum of a file: 16 digits of xxh3-64, a hyphen, the length"
            )
        })
    }
}

impl Serialize for FileChecksum {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for FileChecksum {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl FileChecksum {
    /// Checksum of the current contents of a file.
    pub fn of(path: &Path) -> Result<Self> {
        let read = || -> std::io::Result<Self> {
            let file = File::open(path)?;
            let bytes = file.metadata()?.len();
            let hashed_bytes = match path.extension() {
                Some(extension) if extension == "rkyv" => archive::HEADER as u64,
                _ => u64::MAX,
            };
            let mut file = file.take(hashed_bytes);
            let (mut hash, mut buffer) = (Xxh3::new(), vec![0; 1 << 20]);
            loop {
                match file.read(&mut buffer)? {
                    0 => break,
                    read => hash.update(&buffer[..read]),
                }
            }
            let hash = hash.digest();
            Ok(FileChecksum { bytes, hash })
        };
        read().map_err(StoreError::io(path))
    }

    /// Fails if the file differs from what was written.
    pub fn check(&self, path: &Path) -> Result<()> {
        let found = std::fs::metadata(path).map_err(StoreError::io(path))?.len();
        if found != self.bytes {
            let what = format!(
                "truncated or altered: {found} bytes, store.json says {}",
                self.bytes
            );
            return Err(StoreError::damaged(path, what));
        }
        if FileChecksum::of(path)? != *self {
            let what =
                "altered since it was written: its checksum differs from the one in store.json";
            return Err(StoreError::damaged(path, what));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_read_as_it_is_written() {
        let sum = FileChecksum {
            bytes: 1234,
            hash: 0xFEDC,
        };
        let text = serde_json::to_string(&sum).expect("text");
        assert_eq!(text, "\"000000000000fedc-1234\"");
        assert_eq!(
            serde_json::from_str::<FileChecksum>(&text).expect("sum"),
            sum
        );
        for wrong in ["\"fedc\"", "\"xyz-1\"", "\"1-\"", "3"] {
            assert!(
                serde_json::from_str::<FileChecksum>(wrong).is_err(),
                "{wrong}"
            );
        }
    }

    #[test]
    fn altered_files_are_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("some.parquet");
        let content: Vec<u8> = (0..3_000_000u32).map(|k| k as u8).collect();
        std::fs::write(&path, &content).expect("written");
        let sum = FileChecksum::of(&path).expect("a sum");
        assert_eq!(sum.hash, xxhash_rust::xxh3::xxh3_64(&content));
        sum.check(&path).expect("unaltered");
        let mut flipped = content.clone();
        flipped[2_500_000] ^= 1;
        std::fs::write(&path, &flipped).expect("written");
        let message = sum.check(&path).expect_err("altered").to_string();
        assert!(message.contains("some.parquet: altered"), "{message}");
        std::fs::write(&path, &content[..7]).expect("written");
        let message = sum.check(&path).expect_err("cut").to_string();
        assert!(
            message.contains("7 bytes, store.json says 3000000"),
            "{message}"
        );
    }
}
