//! Ctrl-C and SIGTERM: a simulation finishes its frame, everything else ends at once. In both cases each file
//! is complete or absent.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Exit code of a program that a signal ended.
pub const EXIT_CODE: i32 = 130;

/// Whether the running stage checks [`STOP`].
static GRACEFUL: AtomicBool = AtomicBool::new(false);
/// Set by the first signal.
static STOP: AtomicBool = AtomicBool::new(false);
/// When the first signal came.
static FIRST: OnceLock<Instant> = OnceLock::new();
/// A second signal that comes sooner is the first once more: farm managers send one to the process and to its group.
const ONE_SIGNAL: Duration = Duration::from_millis(500);

/// Installs the signal handler; to be called once.
pub fn install() {
    // Without a handler a signal ends the program at once, which is safe too.
    let _ = ctrlc::set_handler(|| {
        let since_first = FIRST.get_or_init(Instant::now).elapsed();
        STOP.store(true, Ordering::Relaxed);
        if ends_at_once(GRACEFUL.load(Ordering::Relaxed), since_first) {
            std::process::exit(EXIT_CODE);
        }
    });
}

/// Whether a signal ends the program: any but the first, and the first where no stage stops by itself.
fn ends_at_once(is_graceful: bool, since_first: Duration) -> bool {
    !is_graceful || since_first >= ONE_SIGNAL
}

/// Guard of a stage that stops by itself once the flag is set. A second signal ends the program at once.
pub struct Graceful(());

/// Begins a stage that stops by itself, until the guard is dropped.
pub fn graceful() -> Graceful {
    GRACEFUL.store(true, Ordering::Relaxed);
    Graceful(())
}

impl Graceful {
    /// Flag that is set when the user interrupts the program.
    pub fn flag(&self) -> &'static AtomicBool {
        &STOP
    }
}

impl Drop for Graceful {
    fn drop(&mut self) {
        GRACEFUL.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_to_process_and_group_is_one_and_a_later_one_ends_the_program() {
        let after = |milliseconds| ends_at_once(true, Duration::from_millis(milliseconds));
        assert!(!after(0) && !after(499));
        assert!(after(500) && after(60_000));
        assert!(ends_at_once(false, Duration::ZERO));
    }
}
