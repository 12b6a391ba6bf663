//! The range of the stress in the bonds of an element while its fragment is watched.

/// Smallest and largest stress over strength of the bonds of an element, over the samples since its fragment was
/// last not calm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Watched {
    /// Smallest of the largest values per sample.
    pub low: f32,
    /// Largest of them.
    pub high: f32,
}

/// Part of the strength that is left at least: fragments with less may not sleep.
pub const LEAST_LEFT: f64 = 0.01;

impl Watched {
    /// Before the first sample.
    pub const NEVER: Watched = Watched {
        low: f32::INFINITY,
        high: 0.0,
    };

    /// Adds a sample.
    pub fn add(&mut self, used: f64) {
        self.low = self.low.min(used as f32);
        self.high = self.high.max(used as f32);
    }

    /// Part of the strength that was left at all times.
    pub fn left(&self) -> f64 {
        (1.0 - f64::from(self.high)).max(LEAST_LEFT)
    }

    /// Amplitude of the stress over the strength that its mean leaves.
    pub fn swing(&self) -> f64 {
        let amplitude = 0.5 * f64::from(self.high - self.low).max(0.0);
        amplitude / (self.left() + amplitude)
    }
}

#[cfg(test)]
mod tests {
    use super::{LEAST_LEFT, Watched};

    #[test]
    fn vibration_is_the_amplitude_over_what_the_mean_leaves() {
        let mut watched = Watched::NEVER;
        assert_eq!((watched.swing(), watched.left()), (0.0, 1.0));
        watched.add(0.5);
        assert_eq!((watched.swing(), watched.left()), (0.0, 0.5));
        watched.add(0.25);
        watched.add(0.75);
        assert_eq!((watched.swing(), watched.left()), (0.5, 0.25));
        watched.add(1.5);
        assert_eq!(watched.left(), LEAST_LEFT);
    }
}
