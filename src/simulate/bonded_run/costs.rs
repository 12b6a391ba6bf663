//! Run times of the passes of a step.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::simulate::method::PassCost;

/// Nanoseconds, summed over all threads.
#[derive(Debug, Default)]
pub struct Timer(AtomicU64);

impl Timer {
    /// Adds the time since `start`, multiplied by `threads`; returns the present time.
    pub fn add(&self, start: Instant, threads: usize) -> Instant {
        let now = Instant::now();
        let spent = now.duration_since(start).as_nanos() as u64 * threads as u64;
        self.0.fetch_add(spent, Ordering::Relaxed);
        now
    }

    /// Seconds so far.
    pub fn seconds(&self) -> f64 {
        self.0.load(Ordering::Relaxed) as f64 * 1e-9
    }

    /// Seconds since the last call; begins again at zero.
    pub fn take(&self) -> f64 {
        self.0.swap(0, Ordering::Relaxed) as f64 * 1e-9
    }
}

/// One timer per pass.
#[derive(Debug, Default)]
pub struct Costs {
    /// Kick, drift and rotation.
    pub motion: Timer,
    /// Bonds and failure criteria.
    pub bonds: Timer,
    /// Listed contacts.
    pub contacts: Timer,
    /// Checking contact lists, and rebuilding them.
    pub lists: Timer,
    /// Removing broken bonds.
    pub breaks: Timer,
    /// Deciding what falls asleep and wakes.
    pub sleep: Timer,
}

impl Costs {
    /// Cost of each pass by name; `bytes` are moved by each pass in a step.
    pub fn passes(&self, bytes: [u64; 5]) -> Vec<PassCost> {
        let timers = [
            ("motion", &self.motion),
            ("bonds", &self.bonds),
            ("contacts", &self.contacts),
            ("lists", &self.lists),
            ("breaks", &self.breaks),
        ];
        let rows = timers.into_iter().zip(bytes);
        rows.map(|((name, timer), bytes)| PassCost {
            name,
            seconds: timer.seconds(),
            bytes,
        })
        .collect()
    }

    /// Cost of deciding what falls asleep and wakes.
    pub fn of_sleep(&self) -> PassCost {
        PassCost {
            name: "sleep",
            seconds: self.sleep.seconds(),
            bytes: 0,
        }
    }
}
