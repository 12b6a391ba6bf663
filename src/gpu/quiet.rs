//! What loaders and drivers write to standard error while they are asked for adapters is kept from the user.
//!
//! The Vulkan loader, its layers and Mesa print by themselves ("XDG_RUNTIME_DIR is invalid or not set in the
//! environment"), into a terminal that is ours, about things that our own messages tell better. Who looks for
//! a fault of a driver sets `VK_LOADER_DEBUG` and sees it all.

/// Runs this with standard error pointing nowhere.
#[cfg(unix)]
pub(super) fn quietly<T>(work: impl FnOnce() -> T) -> T {
    use std::sync::{Mutex, PoisonError};

    if std::env::var_os("VK_LOADER_DEBUG").is_some() {
        return work();
    }
    // One at a time: a second one would take the first one's nowhere for standard error.
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let _restored = Redirected::to_nowhere();
    work()
}

/// Runs this; loaders of this system are silent.
#[cfg(not(unix))]
pub(super) fn quietly<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// Standard error as it was; it is put back when this is dropped.
#[cfg(unix)]
struct Redirected(std::os::fd::OwnedFd);

#[cfg(unix)]
impl Redirected {
    /// `None` where the system refuses: noise is better than a failure.
    fn to_nowhere() -> Option<Self> {
        use std::os::fd::AsFd;

        let saved = std::io::stderr().as_fd().try_clone_to_owned().ok()?;
        let nowhere = std::fs::File::options()
            .write(true)
            .open("/dev/null")
            .ok()?;
        rustix::stdio::dup2_stderr(&nowhere).ok()?;
        Some(Redirected(saved))
    }
}

#[cfg(unix)]
impl Drop for Redirected {
    fn drop(&mut self) {
        // Nothing can be told of a failure here: it would go where it failed.
        let _ = rustix::stdio::dup2_stderr(&self.0);
    }
}
