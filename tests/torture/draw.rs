//! Random numbers that depend on a seed alone.

use glam::{DQuat, DVec3};

/// A stream of random numbers (splitmix64, Steele et al. 2014).
#[derive(Clone, Debug)]
pub struct RandomStream {
    state: u64,
}

impl RandomStream {
    /// The stream of a seed; `purpose` selects one of several streams of the same seed.
    pub fn new(seed: u64, purpose: u64) -> Self {
        let mut draw = RandomStream {
            state: seed ^ purpose.wrapping_mul(0xd6e8_feb8_6659_fd93),
        };
        draw.bits();
        draw
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// An integer from 0 to below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        ((self.unit() * count as f64) as usize).min(count - 1)
    }

    pub fn chance(&mut self, part: f64) -> bool {
        self.unit() < part
    }

    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// A point of the cube from -1 to 1.
    pub fn in_cube(&mut self) -> DVec3 {
        let mut one = || self.between(-1.0, 1.0);
        DVec3::new(one(), one(), one())
    }

    /// A unit vector.
    pub fn direction(&mut self) -> DVec3 {
        loop {
            let p = self.in_cube();
            if (0.01..1.0).contains(&p.length_squared()) {
                return p.normalize();
            }
        }
    }

    /// A rotation about a random axis by up to `angle` (rad).
    pub fn turn(&mut self, angle: f64) -> DQuat {
        let axis = self.direction();
        DQuat::from_axis_angle(axis, self.between(0.0, angle))
    }
}
