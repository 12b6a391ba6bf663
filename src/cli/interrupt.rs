//! Ctrl-C and SIGTERM: a simulation finishes its frame, everything else ends at once; files are whole or
//! absent either way.

use std::sync::atomic::{AtomicBool, Ordering};

/// Exit code of a program that a signal ended.
pub const EXIT_CODE: i32 = 130;

/// Whether the running stage looks at [`STOP`].
static GRACEFUL: AtomicBool = AtomicBool::new(false);
/// Set by the first signal during such a stage.
static STOP: AtomicBool = AtomicBool::new(false);

/// Installs the handler; once a program.
pub fn install() {
    // Without a handler a signal ends the program at once: also safe.
    let _ = ctrlc::set_handler(|| {
        let first = !STOP.swap(true, Ordering::Relaxed);
        if !(first && GRACEFUL.load(Ordering::Relaxed)) {
            std::process::exit(EXIT_CODE);
        }
    });
}

/// A stage that stops by itself once the flag is set, until the guard is dropped. A second signal does not wait for it.
pub struct Graceful(());

/// Begins such a stage.
pub fn graceful() -> Graceful {
    GRACEFUL.store(true, Ordering::Relaxed);
    Graceful(())
}

impl Graceful {
    /// Set once the user wants the program to end.
    pub fn flag(&self) -> &'static AtomicBool {
        &STOP
    }
}

impl Drop for Graceful {
    fn drop(&mut self) {
        GRACEFUL.store(false, Ordering::Relaxed);
    }
}
