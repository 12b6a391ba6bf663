//! Clocks of the benches: several short runs, of which the best, the middle one and the mean are told.

use std::time::Instant;

/// Seconds of several runs of the same work.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Of the quickest run, s: what the machine does when nobody disturbs it.
    pub best: f64,
    /// Of the middle run, s.
    pub median: f64,
    /// Of all runs, s: holds what falls due once in a while.
    pub mean: f64,
}

impl Timing {
    /// Of these runs, s.
    ///
    /// # Panics
    /// When there is none.
    pub fn of(mut seconds: Vec<f64>) -> Self {
        seconds.sort_unstable_by(f64::total_cmp);
        Timing {
            best: seconds[0],
            median: seconds[seconds.len() / 2],
            mean: seconds.iter().sum::<f64>() / seconds.len() as f64,
        }
    }

    /// Runs `work` so many times.
    pub fn runs<E>(count: usize, mut work: impl FnMut() -> Result<(), E>) -> Result<Self, E> {
        let mut seconds = Vec::with_capacity(count);
        for _ in 0..count {
            let clock = Instant::now();
            work()?;
            seconds.push(clock.elapsed().as_secs_f64());
        }
        Ok(Timing::of(seconds))
    }
}
