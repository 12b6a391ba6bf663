//! Loops compiled for the widest vector instructions of this machine; on Arm those are NEON anyway. No sum is reordered
//! or fused, so all versions give the same bits.

#[cfg(target_arch = "x86_64")]
use crate::math::{F32x8, F32x16, Lanes, Pass};

/// A loop over doubles without explicit SIMD lanes.
pub trait Loop {
    /// Runs the loop; must be `#[inline(always)]`.
    fn run(self);
}

#[cfg(target_arch = "x86_64")]
struct Compiled<W>(W);

#[cfg(target_arch = "x86_64")]
impl<W: Loop> Pass<F32x16> for Compiled<W> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        self.0.run();
    }
}

#[cfg(target_arch = "x86_64")]
impl<W: Loop> Pass<F32x8> for Compiled<W> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        self.0.run();
    }
}

/// Runs a loop with the widest vector instructions available.
pub fn run<W: Loop>(work: W) {
    #[cfg(target_arch = "x86_64")]
    if F32x16::available() {
        return F32x16::run(Compiled(work));
    } else if F32x8::available() {
        return F32x8::run(Compiled(work));
    }
    work.run();
}
