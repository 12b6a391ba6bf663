//! Lets the pages that a rank does not write take no memory, whatever was freed before.
#![allow(unsafe_code)] // two calls of the C library; each says why it is sound

/// Allocations from this size on, bytes, get pages of their own.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const OWN_PAGES: std::ffi::c_int = 1 << 18;

/// From now on gives every large allocation pages of its own, of 4 KB: the system zeroes them when they are first
/// written, and gets them back when they are freed. The GNU C library by default raises that size to 32 MB as blocks
/// are freed; it then takes columns from freed memory and writes zeros to all of them. Large pages would take 2 MB for
/// the row of a ghost among rows that are not here. Other systems and libraries are left as they are.
pub fn keep_unwritten_pages_free() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        use std::ffi::{c_int, c_ulong};
        /// The parameter of `malloc.h`.
        const M_MMAP_THRESHOLD: c_int = -3;
        /// The operation of `sys/prctl.h`.
        const PR_SET_THP_DISABLE: c_int = 41;
        const SET: c_ulong = 1;
        const NONE: c_ulong = 0;
        unsafe extern "C" {
            fn mallopt(parameter: c_int, value: c_int) -> c_int;
            fn prctl(operation: c_int, ...) -> c_int;
        }
        // SAFETY: declared as in `malloc.h`; it only sets a number, and changes no block that is allocated.
        unsafe {
            mallopt(M_MMAP_THRESHOLD, OWN_PAGES);
        }
        // SAFETY: declared as in `sys/prctl.h`, with the four words of this operation, which only sets a flag.
        unsafe {
            prctl(PR_SET_THP_DISABLE, SET, NONE, NONE, NONE);
        }
    }
}
