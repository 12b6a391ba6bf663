//! Timing for benchmarks: best, median and mean of several short runs.

use std::time::Instant;

/// Seconds of several runs of the same work.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Seconds of the quickest run: without disturbance by other processes.
    pub best: f64,
    /// Seconds of the median run.
    pub median: f64,
    /// Mean seconds of all runs: includes work that occurs only in some runs.
    pub mean: f64,
}

impl Timing {
    /// Statistics of these run times, s.
    ///
    /// # Panics
    /// If `seconds` is empty.
    pub fn of(mut seconds: Vec<f64>) -> Self {
        seconds.sort_unstable_by(f64::total_cmp);
        Timing {
            best: seconds[0],
            median: seconds[seconds.len() / 2],
            mean: seconds.iter().sum::<f64>() / seconds.len() as f64,
        }
    }

    /// Times `work` `count` times.
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
