//! One writer at a time: the operating system's lock on `.lock`, which ends with its process, however that ends.
//!
//! A stage that others build on (pack, simulate, a whole run) holds the store alone; stages that add files
//! frame by frame from what is there hold it together, so that ranges of frames can be spread over processes.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};

use super::atomic;
use super::error::{Result, StoreError};
use super::folder::Store;

/// Name of the lock's file; also that of who holds it, for messages.
pub const LOCK: &str = ".lock";
/// Name of the file that is locked while `store.json` is read, changed and written.
const SHORT: &str = ".lock-manifest";

/// A hold on a store, until it is dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// How a store is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// By one process.
    Alone,
    /// With others that add files.
    Together,
}

impl Store {
    /// Holds the store, or refuses and tells who holds it. Makes the folder where there is none. `what` is
    /// the stage, for messages of others.
    ///
    /// What killed writers left is removed when no other process is at work.
    pub fn lock(&self, hold: Hold, what: &str) -> Result<Lock> {
        let mut file = self.open_lock(LOCK)?;
        let path = self.path(LOCK);
        match file.try_lock() {
            Ok(()) => self.clear_temporaries()?,
            Err(TryLockError::WouldBlock) if hold == Hold::Together => {}
            Err(TryLockError::WouldBlock) => return Err(self.held(&mut file)),
            // A file system without locks: nothing can be promised, and work need not stop.
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {
                return Ok(Lock { _file: file });
            }
            Err(TryLockError::Error(error)) => return Err(StoreError::io(&path)(error)),
        }
        if hold == Hold::Together {
            // Not every system turns one kind into the other.
            let _ = file.unlock();
            match file.try_lock_shared() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(self.held(&mut file)),
                Err(TryLockError::Error(error)) => return Err(StoreError::io(&path)(error)),
            }
        }
        let holder = format!("cullet {what}, process {}\n", std::process::id());
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(holder.as_bytes()))
            .map_err(StoreError::io(&path))?;
        Ok(Lock { _file: file })
    }

    fn held(&self, file: &mut File) -> StoreError {
        let mut by = String::new();
        // Who it is helps, but is not needed.
        let _ = file.read_to_string(&mut by);
        StoreError::Locked {
            path: self.root().to_owned(),
            by: match by.trim() {
                "" => "another process".to_owned(),
                by => by.to_owned(),
            },
        }
    }

    /// Waits for its turn to change `store.json`.
    pub(super) fn lock_manifest(&self) -> Result<Lock> {
        let file = self.open_lock(SHORT)?;
        match file.lock() {
            Err(error) if error.kind() != ErrorKind::Unsupported => {
                Err(StoreError::io(&self.path(SHORT))(error))
            }
            _ => Ok(Lock { _file: file }),
        }
    }

    fn open_lock(&self, name: &str) -> Result<File> {
        let path = self.path(name);
        std::fs::create_dir_all(self.root()).map_err(StoreError::io(self.root()))?;
        OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(StoreError::io(&path))
    }

    /// Removes what writers that were killed left behind.
    fn clear_temporaries(&self) -> Result<()> {
        let mut folders = vec![self.root().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).map_err(StoreError::io(&folder))? {
                let entry = entry.map_err(StoreError::io(&folder))?;
                let (path, kind) = (entry.path(), entry.file_type());
                let is_folder = kind.map_err(StoreError::io(&path))?.is_dir();
                match (atomic::is_temporary(&path), is_folder) {
                    (true, true) => {
                        std::fs::remove_dir_all(&path).map_err(StoreError::io(&path))?
                    }
                    (true, false) => std::fs::remove_file(&path).map_err(StoreError::io(&path))?,
                    (false, true) => folders.push(path),
                    (false, false) => {}
                }
            }
        }
        Ok(())
    }
}

/// Whether a file lies in a store's folder before there is a store: a lock, or what a killed writer left.
pub fn is_trace(path: &std::path::Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name == LOCK || name == SHORT || atomic::is_temporary(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_alone_or_many_together() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::at(folder.path().join("new"));
        let alone = store.lock(Hold::Alone, "simulate").expect("free");
        for hold in [Hold::Alone, Hold::Together] {
            let told = store.lock(hold, "export").expect_err("held").to_string();
            let holder = format!("cullet simulate, process {}", std::process::id());
            assert!(told.contains(&holder), "{told}");
        }
        drop(alone);
        let first = store.lock(Hold::Together, "reconstruct").expect("free");
        let second = store.lock(Hold::Together, "export").expect("together");
        assert!(store.lock(Hold::Alone, "pack").is_err());
        drop((first, second));
        store.lock(Hold::Alone, "pack").expect("free again");
    }

    #[test]
    fn what_killed_writers_left_goes_when_nobody_is_at_work() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::at(folder.path());
        let left = store.path("frames/.000003.parquet.77.tmp");
        let leave = || {
            std::fs::create_dir_all(store.path("frames")).expect("a folder");
            std::fs::create_dir_all(store.path(".packing.77.tmp/shapes")).expect("a folder");
            std::fs::write(&left, "half").expect("written");
        };
        leave();
        let other = store.lock(Hold::Together, "preview").expect("free");
        assert!(!left.exists() && !store.path(".packing.77.tmp").exists());
        leave();
        store.lock(Hold::Together, "preview").expect("together");
        assert!(left.exists(), "it may be the other's");
        drop(other);
    }
}
