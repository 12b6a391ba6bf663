//! Bounds on memory and time for any input: an allocator that counts, and a clock.

use std::alloc::{GlobalAlloc, Layout, System};
use std::backtrace::Backtrace;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Allowed memory per byte of input.
const BYTES_PER_INPUT_BYTE: usize = 100;
/// Allowed memory for any input, however small: file buffers, batches of columns.
const BASE_BYTES: usize = 4 << 20;
/// Allowed processor time of all threads, s.
const SECONDS: f64 = 1.0;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

struct CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn count_allocation(size: usize) {
    let live = LIVE.fetch_add(size, Relaxed).saturating_add(size);
    // A panic reads the names of functions from the program's file and allocates for them.
    if live > LIMIT.load(Relaxed) && !std::thread::panicking() {
        // The report below allocates too.
        LIMIT.store(usize::MAX, Relaxed);
        let trace = Backtrace::force_capture();
        eprintln!("{live} bytes are in use, the last {size} of them for\n{trace}");
        std::process::abort();
    }
}

// SAFETY: every call is passed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_allocation(layout.size());
        // SAFETY: the caller guarantees what is required here.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count_allocation(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count_allocation(size);
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// Runs a target on an input and panics if it exceeds the bounds.
pub fn bounded(input: &[u8], run: impl FnOnce()) {
    let before = processor_time();
    let limit = LIVE.load(Relaxed) + BASE_BYTES + BYTES_PER_INPUT_BYTE * input.len();
    LIMIT.store(limit, Relaxed);
    run();
    LIMIT.store(usize::MAX, Relaxed);
    let seconds = processor_time() - before;
    assert!(seconds < SECONDS, "{seconds} s for {} bytes", input.len());
}

/// Processor time of all threads, s: it does not depend on the load of the machine.
fn processor_time() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a local variable.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    assert_eq!(failed, 0, "no clock of the process");
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
