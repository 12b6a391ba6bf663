//! Lets the pages that a rank does not write take no memory, whatever was freed before.
#![allow(unsafe_code)] // one call of the C library; it says why it is sound

/// Allocations from this size on, bytes, get pages of their own.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const OWN_PAGES: std::ffi::c_int = 1 << 18;

/// Gives every large allocation pages of its own from now on: the system zeroes them when they are first written, and
/// gets them back when they are freed. The GNU C library by default raises that size to 32 MB as blocks are freed; it
/// then takes columns from freed memory and writes zeros to all of them. Other libraries are left as they are.
pub fn map_large_allocations() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// The parameter of `malloc.h`.
        const M_MMAP_THRESHOLD: std::ffi::c_int = -3;
        unsafe extern "C" {
            fn mallopt(parameter: std::ffi::c_int, value: std::ffi::c_int) -> std::ffi::c_int;
        }
        // SAFETY: declared as in `malloc.h`; it only sets a number, and changes no block that is allocated.
        unsafe {
            mallopt(M_MMAP_THRESHOLD, OWN_PAGES);
        }
    }
}
