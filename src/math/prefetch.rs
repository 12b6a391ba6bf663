//! Prefetching of memory before it is used.
#![allow(unsafe_code)] // the instruction; it says why it is sound

/// Size of a cache line, bytes.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Prefetches the cache lines of a value that lies `ahead` bytes after `value`; addresses outside memory have
/// no effect.
#[inline(always)]
pub fn prefetch<T>(value: *const T, ahead: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..size_of::<T>().div_ceil(LINE) {
        let at = value.cast::<i8>().wrapping_add(ahead + line * LINE);
        // SAFETY: a hint, which faults for no address.
        unsafe { std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(at) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (value, ahead);
}
