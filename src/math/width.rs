//! How many f32 lanes work runs on, and whether the machine has them.
//!
//! The types of eight and sixteen lanes use instructions that not every machine has, in functions that are
//! safe to call. So nobody outside this crate names them: [`Width::run`] hands one to work that is generic
//! over it, after it has asked the machine.

use super::lanes::Lanes;
#[cfg(target_arch = "x86_64")]
use super::{avx2::F32x8, avx512::F32x16};

/// Numbers of f32 lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// Plain f32.
    One,
    /// AVX2.
    Eight,
    /// AVX-512.
    Sixteen,
}

/// Work for lanes of any width.
pub trait OnLanes {
    /// Result.
    type Out;
    /// Does the work; values of `L` go through [`Lanes::run`] to be fast.
    fn on<L: Lanes<Scalar = f32>>(self) -> Self::Out;
}

impl Width {
    /// Whether this machine has the instructions.
    pub fn available(self) -> bool {
        match self {
            Width::One => true,
            #[cfg(target_arch = "x86_64")]
            Width::Eight => F32x8::available(),
            #[cfg(target_arch = "x86_64")]
            Width::Sixteen => F32x16::available(),
            #[cfg(not(target_arch = "x86_64"))]
            Width::Eight | Width::Sixteen => false,
        }
    }

    /// Does work on so many lanes; `None` where this machine lacks them.
    pub fn run<W: OnLanes>(self, work: W) -> Option<W::Out> {
        if !self.available() {
            return None;
        }
        match self {
            Width::One => Some(work.on::<f32>()),
            #[cfg(target_arch = "x86_64")]
            Width::Eight => Some(work.on::<F32x8>()),
            #[cfg(target_arch = "x86_64")]
            Width::Sixteen => Some(work.on::<F32x16>()),
            #[cfg(not(target_arch = "x86_64"))]
            Width::Eight | Width::Sixteen => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counts;

    impl OnLanes for Counts {
        type Out = (usize, f32);
        fn on<L: Lanes<Scalar = f32>>(self) -> Self::Out {
            let mut out = vec![0.0; L::WIDTH];
            (L::splat(2.0) + L::splat(0.5)).store(&mut out);
            assert!(out.iter().all(|lane| *lane == out[0]));
            (L::WIDTH, out[0])
        }
    }

    #[test]
    fn work_runs_on_as_many_lanes_as_asked_where_there_are_some() {
        for (width, lanes) in [(Width::One, 1), (Width::Eight, 8), (Width::Sixteen, 16)] {
            let found = width.run(Counts);
            assert_eq!(found, width.available().then_some((lanes, 2.5)));
        }
        assert!(Width::One.available());
        #[cfg(target_arch = "x86_64")]
        assert_eq!(Width::Eight.available(), is_x86_feature_detected!("avx2"));
    }
}
