//! Number of f32 lanes that work runs on, and whether the machine supports it.
//!
//! The types of several lanes use instructions that not every machine has, in functions that are safe to call.
//! They are therefore private to the crate: [`LaneWidth::run`] checks the machine and passes one to
//! work that is generic over it.

use super::lanes::Lanes;
#[cfg(target_arch = "aarch64")]
use super::neon::F32x4;
#[cfg(target_arch = "x86_64")]
use super::{avx2::F32x8, avx512::F32x16};

/// Number of f32 lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneWidth {
    /// Plain f32.
    One,
    /// Four lanes on NEON.
    Four,
    /// Eight lanes on AVX2 with FMA.
    Eight,
    /// Sixteen lanes on AVX-512.
    Sixteen,
}

/// Work that can run on any number of lanes.
pub trait OnLanes {
    /// Result of the work.
    type Out;
    /// Does the work; for speed, values of `L` must be used inside [`Lanes::run`].
    fn on<L: Lanes<Scalar = f32>>(self) -> Self::Out;
}

impl LaneWidth {
    /// All widths, whether or not this machine has the instructions.
    pub const ALL: [LaneWidth; 4] = [
        LaneWidth::One,
        LaneWidth::Four,
        LaneWidth::Eight,
        LaneWidth::Sixteen,
    ];

    /// Whether this machine has the instructions.
    pub fn available(self) -> bool {
        match self {
            LaneWidth::One => true,
            LaneWidth::Four => cfg!(target_arch = "aarch64"),
            #[cfg(target_arch = "x86_64")]
            LaneWidth::Eight => F32x8::available(),
            #[cfg(target_arch = "x86_64")]
            LaneWidth::Sixteen => F32x16::available(),
            #[cfg(not(target_arch = "x86_64"))]
            LaneWidth::Eight | LaneWidth::Sixteen => false,
        }
    }

    /// Runs work on this number of lanes; `None` if the machine lacks the instructions.
    pub fn run<W: OnLanes>(self, work: W) -> Option<W::Out> {
        if !self.available() {
            return None;
        }
        match self {
            LaneWidth::One => Some(work.on::<f32>()),
            #[cfg(target_arch = "aarch64")]
            LaneWidth::Four => Some(work.on::<F32x4>()),
            #[cfg(not(target_arch = "aarch64"))]
            LaneWidth::Four => None,
            #[cfg(target_arch = "x86_64")]
            LaneWidth::Eight => Some(work.on::<F32x8>()),
            #[cfg(target_arch = "x86_64")]
            LaneWidth::Sixteen => Some(work.on::<F32x16>()),
            #[cfg(not(target_arch = "x86_64"))]
            LaneWidth::Eight | LaneWidth::Sixteen => None,
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
        for (width, lanes) in [
            (LaneWidth::One, 1),
            (LaneWidth::Four, 4),
            (LaneWidth::Eight, 8),
            (LaneWidth::Sixteen, 16),
        ] {
            let found = width.run(Counts);
            assert_eq!(found, width.available().then_some((lanes, 2.5)));
        }
        assert!(LaneWidth::One.available());
        #[cfg(target_arch = "x86_64")]
        assert_eq!(
            LaneWidth::Eight.available(),
            is_x86_feature_detected!("avx2") && crate::math::has_fused_multiply_add()
        );
    }
}
