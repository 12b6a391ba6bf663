//! Suppresses what loaders and drivers write to standard error while adapters are listed and opened.
//!
//! The Vulkan loader, its layers and Mesa print messages such as "XDG_RUNTIME_DIR is invalid or not set in the
//! environment", in the middle of our output and about things that our own messages explain better. To debug a driver,
//! set `VK_LOADER_DEBUG`: then nothing is suppressed.

/// Runs `work` with standard error redirected to `/dev/null`.
#[cfg(unix)]
pub(super) fn with_silent_stderr<T>(work: impl FnOnce() -> T) -> T {
    use std::sync::{Mutex, PoisonError};

    if std::env::var_os("VK_LOADER_DEBUG").is_some() {
        return work();
    }
    // One thread at a time: a second one would save the first one's `/dev/null` as standard error.
    static REDIRECTION: Mutex<()> = Mutex::new(());
    let _guard = REDIRECTION.lock().unwrap_or_else(PoisonError::into_inner);
    let _restored = SavedStderr::to_null();
    work()
}

/// Runs `work`; loaders of this system print nothing.
#[cfg(not(unix))]
pub(super) fn with_silent_stderr<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// The original standard error, restored on drop.
#[cfg(unix)]
struct SavedStderr(std::os::fd::OwnedFd);

#[cfg(unix)]
impl SavedStderr {
    /// `None` if the system refuses: noise is better than a failure.
    fn to_null() -> Option<Self> {
        use std::os::fd::AsFd;

        let saved = std::io::stderr().as_fd().try_clone_to_owned().ok()?;
        let null = std::fs::File::options()
            .write(true)
            .open("/dev/null")
            .ok()?;
        rustix::stdio::dup2_stderr(&null).ok()?;
        Some(SavedStderr(saved))
    }
}

#[cfg(unix)]
impl Drop for SavedStderr {
    fn drop(&mut self) {
        // A failure cannot be reported: standard error is what failed.
        let _ = rustix::stdio::dup2_stderr(&self.0);
    }
}
