//! Peak performance of the machine: fused multiply-adds and memory traffic.

#![allow(unsafe_code)] // vector instructions that may be called only after a check at run time

use std::hint::black_box;
use std::sync::Barrier;
use std::time::Instant;

/// Elements of each array of the triad: 128 MiB, so that three of them lie well beyond any last cache.
const TRIAD: usize = 1 << 24;

/// Independent sums, enough to hide the latency of a multiply-add on two ports.
const SUMS: usize = 12;

/// Multiply-adds of each sum in a round.
const LENGTH: usize = 8_000_000;

/// Rounds of some hundredths of a second, of which the best counts: enough of them that at least one is
/// undisturbed.
const ROUNDS: usize = 40;

/// Vector instruction sets whose peak is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionSet {
    /// 8 single-precision lanes.
    Avx2,
    /// 16 single-precision lanes.
    Avx512,
}

impl InstructionSet {
    /// Instruction sets of this processor, narrowest first; empty for other architectures.
    pub fn available() -> Vec<InstructionSet> {
        #[cfg(target_arch = "x86_64")]
        let found = [
            (
                InstructionSet::Avx2,
                is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            ),
            (InstructionSet::Avx512, is_x86_feature_detected!("avx512f")),
        ];
        #[cfg(not(target_arch = "x86_64"))]
        let found = [
            (InstructionSet::Avx2, false),
            (InstructionSet::Avx512, false),
        ];
        let there = found.into_iter().filter(|(_, there)| *there);
        there.map(|(lanes, _)| lanes).collect()
    }

    /// Name of the instruction set.
    pub fn name(self) -> &'static str {
        match self {
            InstructionSet::Avx2 => "AVX2",
            InstructionSet::Avx512 => "AVX-512",
        }
    }

    /// Single-precision lanes.
    fn width(self) -> usize {
        match self {
            InstructionSet::Avx2 => 8,
            InstructionSet::Avx512 => 16,
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn run(self) -> f32 {
        match self {
            // SAFETY: `available` lists only what the processor supports, and nothing else constructs
            // `InstructionSet`.
            InstructionSet::Avx2 => unsafe { x86::avx2() },
            // SAFETY: as above.
            InstructionSet::Avx512 => unsafe { x86::avx512() },
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn run(self) -> f32 {
        unreachable!("{self:?} is not among the available")
    }

    /// Single-precision operations per second on `threads` threads; a multiply-add counts as two.
    pub fn peak(self, threads: usize) -> f64 {
        let work = (2 * SUMS * LENGTH * self.width() * threads) as f64;
        let seconds = slowest(
            threads,
            || (),
            |()| {
                black_box(self.run());
            },
        );
        work / seconds
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;
    use std::hint::black_box;

    use super::{LENGTH, SUMS};

    #[target_feature(enable = "avx2,fma")]
    pub fn avx2() -> f32 {
        let factor = _mm256_set1_ps(black_box(0.999));
        let term = _mm256_set1_ps(black_box(0.001));
        let mut sums = [term; SUMS];
        for _ in 0..LENGTH {
            for sum in &mut sums {
                *sum = _mm256_fmadd_ps(*sum, factor, term);
            }
        }
        let total = sums.into_iter().fold(term, |a, b| _mm256_add_ps(a, b));
        _mm256_cvtss_f32(total)
    }

    #[target_feature(enable = "avx512f")]
    pub fn avx512() -> f32 {
        let factor = _mm512_set1_ps(black_box(0.999));
        let term = _mm512_set1_ps(black_box(0.001));
        let mut sums = [term; SUMS];
        for _ in 0..LENGTH {
            for sum in &mut sums {
                *sum = _mm512_fmadd_ps(*sum, factor, term);
            }
        }
        let total = sums.into_iter().fold(term, |a, b| _mm512_add_ps(a, b));
        _mm512_cvtss_f32(total)
    }
}

/// Bytes per second of `a ← b + s·c` on `threads` threads; reading the cache lines that are then overwritten
/// is not counted (STREAM).
pub fn triad(threads: usize) -> f64 {
    let each = TRIAD / threads;
    let seconds = slowest(
        threads,
        // Initialised by the thread that uses them, so that the pages are in memory near it.
        || (vec![0.0f64; each], vec![1.0f64; each], vec![2.0f64; each]),
        |(a, b, c)| {
            let s = black_box(0.5);
            for ((a, b), c) in a.iter_mut().zip(&*b).zip(&*c) {
                *a = b + s * c;
            }
            black_box(a);
        },
    );
    (3 * size_of::<f64>() * each * threads) as f64 / seconds
}

/// Seconds until the last thread is done, in the best of several rounds after a warm-up round.
fn slowest<T>(threads: usize, prepare: impl Fn() -> T + Sync, work: impl Fn(&mut T) + Sync) -> f64 {
    let barrier = Barrier::new(threads);
    let one = || {
        let mut held = prepare();
        work(&mut held);
        let seconds = (0..ROUNDS).map(|_| {
            barrier.wait();
            let clock = Instant::now();
            work(&mut held);
            clock.elapsed().as_secs_f64()
        });
        seconds.collect::<Vec<_>>()
    };
    let all: Vec<Vec<f64>> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        let ended = started.into_iter().map(|thread| thread.join());
        ended.map(|seconds| seconds.expect("no panic")).collect()
    });
    (0..ROUNDS)
        .map(|round| all.iter().map(|own| own[round]).fold(0.0, f64::max))
        .fold(f64::INFINITY, f64::min)
}
