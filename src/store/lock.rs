//! One writer at a time, by an operating system lock on `.lock`. The lock ends with its process, however that ends.
//!
//! Stages that others depend on (pack, simulate, a whole run) lock the store exclusively. Stages that only add files
//! frame by frame share the lock, so that ranges of frames can be spread over processes.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};

use super::atomic;
use super::error::{Result, StoreError};
use super::folder::Store;

/// Name of the lock file. It contains the name of the holder, for messages.
pub const LOCK: &str = ".lock";
/// Name of the file that is locked while `store.json` is read, changed and written.
const MANIFEST_LOCK: &str = ".lock-manifest";

/// Name of the file that is locked while a stage locks the store.
const TURN_LOCK: &str = ".lock-turn";

/// A lock on a store, released when it is dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// How a store is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// Exclusively, by one process.
    Exclusive,
    /// Shared with other processes that add files.
    Shared,
}

impl Store {
    /// Locks the store, or fails with the name of the process that holds the lock. Creates the folder if there is none.
    /// `what` is the name of the stage, for messages of other processes.
    ///
    /// Temporary files of killed writers are removed if no other process holds the lock.
    pub fn lock(&self, hold: LockMode, what: &str) -> Result<Lock> {
        // Others that begin now hold the lock alone for a moment, which must not look as if the store were in use.
        let _turn = self.wait_for(TURN_LOCK)?;
        let mut file = self.open_lock(LOCK)?;
        let path = self.path(LOCK);
        match file.try_lock() {
            Ok(()) => self.clear_temporaries()?,
            Err(TryLockError::WouldBlock) if hold == LockMode::Shared => {}
            Err(TryLockError::WouldBlock) => return Err(self.locked_error(&mut file)),
            // The file system has no locks: the stage runs without one.
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {
                return Ok(Lock { _file: file });
            }
            Err(TryLockError::Error(error)) => return Err(StoreError::io(&path)(error)),
        }
        if hold == LockMode::Shared {
            // Not every system can convert an exclusive lock into a shared one.
            let _ = file.unlock();
            match file.try_lock_shared() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(self.locked_error(&mut file)),
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

    /// The process that holds the store exclusively, as it names itself; `None` also where that cannot be found out, as
    /// in a folder that cannot be written.
    pub fn exclusive_holder(&self) -> Option<String> {
        if !self.path(LOCK).is_file() {
            return None;
        }
        // The lock is taken for a moment to see whether it is free, which must not disturb a stage that begins.
        let _turn = self.wait_for(TURN_LOCK).ok()?;
        let mut file = File::open(self.path(LOCK)).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // The holder's name helps, but is not needed.
                let _ = file.read_to_string(&mut holder);
                Some(holder.trim().to_owned())
            }
            _ => None,
        }
    }

    fn locked_error(&self, file: &mut File) -> StoreError {
        let mut by = String::new();
        // The holder's name helps, but is not needed.
        let _ = file.read_to_string(&mut by);
        StoreError::Locked {
            path: self.root().to_owned(),
            by: match by.trim() {
                "" => "another process".to_owned(),
                by => by.to_owned(),
            },
        }
    }

    /// Locks `store.json` for a change; waits for other processes.
    pub(super) fn lock_manifest(&self) -> Result<Lock> {
        self.wait_for(MANIFEST_LOCK)
    }

    fn wait_for(&self, name: &str) -> Result<Lock> {
        let file = self.open_lock(name)?;
        match file.lock() {
            Err(error) if error.kind() != ErrorKind::Unsupported => {
                Err(StoreError::io(&self.path(name))(error))
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

    /// Removes temporary files of writers that were killed.
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

/// Whether a file is a lock or a temporary file of a killed writer: these may exist in a folder that is not a
/// store yet.
pub fn is_lock_or_temporary(path: &std::path::Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name == LOCK || name == MANIFEST_LOCK || name == TURN_LOCK || atomic::is_temporary(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_alone_or_many_together() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::at(folder.path().join("new"));
        let alone = store.lock(LockMode::Exclusive, "simulate").expect("free");
        for hold in [LockMode::Exclusive, LockMode::Shared] {
            let message = store.lock(hold, "export").expect_err("locked").to_string();
            let holder = format!("cullet simulate, process {}", std::process::id());
            assert!(message.contains(&holder), "{message}");
        }
        assert_eq!(
            store.exclusive_holder(),
            Some(format!("cullet simulate, process {}", std::process::id()))
        );
        drop(alone);
        assert_eq!(store.exclusive_holder(), None);
        let first = store.lock(LockMode::Shared, "reconstruct").expect("free");
        let second = store.lock(LockMode::Shared, "export").expect("together");
        assert!(store.lock(LockMode::Exclusive, "pack").is_err());
        assert_eq!(store.exclusive_holder(), None);
        drop((first, second));
        store.lock(LockMode::Exclusive, "pack").expect("free again");
    }

    #[test]
    fn many_can_begin_at_the_same_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::at(folder.path());
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        store.lock(LockMode::Shared, "export").expect("together");
                    }
                });
            }
        });
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
        let other = store.lock(LockMode::Shared, "preview").expect("free");
        assert!(!left.exists() && !store.path(".packing.77.tmp").exists());
        leave();
        store.lock(LockMode::Shared, "preview").expect("together");
        assert!(left.exists(), "it may be the other's");
        drop(other);
    }
}
