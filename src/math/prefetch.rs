//! Asking for memory before it is used.
#![allow(unsafe_code)] // the instruction; it says why it is sound

/// Bytes of a cache line.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Asks for what stands so many bytes after the beginning of a value, as much of it as the value is large;
/// beyond the end of memory it asks for nothing.
#[inline(always)]
pub fn prefetch<T>(value: *const T, ahead: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..size_of::<T>().div_ceil(LINE) {
        let at = value.cast::<i8>().wrapping_add(ahead + line * LINE);
        // SAFETY: a hint, which no address makes fault.
        unsafe { std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(at) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (value, ahead);
}
