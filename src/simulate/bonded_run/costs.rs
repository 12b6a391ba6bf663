//! Time that the passes of a step take.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::simulate::method::PassCost;

/// Nanoseconds of all threads together.
#[derive(Debug, Default)]
pub struct Timer(AtomicU64);

impl Timer {
    /// Adds the time since `start` of so many threads; the time now.
    pub fn add(&self, start: Instant, threads: usize) -> Instant {
        let now = Instant::now();
        let spent = now.duration_since(start).as_nanos() as u64 * threads as u64;
        self.0.fetch_add(spent, Ordering::Relaxed);
        now
    }

    fn seconds(&self) -> f64 {
        self.0.load(Ordering::Relaxed) as f64 * 1e-9
    }
}

/// One timer a pass.
#[derive(Debug, Default)]
pub struct Costs {
    /// Kick, drift and turn.
    pub motion: Timer,
    /// Bonds and criteria.
    pub bonds: Timer,
    /// Listed contacts.
    pub contacts: Timer,
    /// Looking whether lists hold, and making them anew.
    pub lists: Timer,
    /// Taking broken bonds out.
    pub breaks: Timer,
}

impl Costs {
    /// By name, with the bytes that a step moves in each.
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
}
