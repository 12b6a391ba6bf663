//! An input may cost so much memory and time, whatever is in it: an allocator that counts, and a clock.

use std::alloc::{GlobalAlloc, Layout, System};
use std::backtrace::Backtrace;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Memory for each byte of the input.
const TIMES: usize = 100;
/// Memory for any input, however small: buffers of files, batches of columns.
const BASE: usize = 4 << 20;
/// Processor time of all threads, s.
const SECONDS: f64 = 1.0;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count(size: usize) {
    let live = LIVE.fetch_add(size, Relaxed).saturating_add(size);
    // A panic reads the names of functions from the program's file.
    if live > LIMIT.load(Relaxed) && !std::thread::panicking() {
        // What follows allocates too.
        LIMIT.store(usize::MAX, Relaxed);
        let trace = Backtrace::force_capture();
        eprintln!("{live} bytes are in use, the last {size} of them for\n{trace}");
        std::process::abort();
    }
}

// SAFETY: every call is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise is the one asked for.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// Runs a target on an input and fails where it takes too much.
pub fn bounded(input: &[u8], run: impl FnOnce()) {
    let before = processor_time();
    let limit = LIVE.load(Relaxed) + BASE + TIMES * input.len();
    LIMIT.store(limit, Relaxed);
    run();
    LIMIT.store(usize::MAX, Relaxed);
    let seconds = processor_time() - before;
    assert!(seconds < SECONDS, "{seconds} s for {} bytes", input.len());
}

/// Of all threads, s: a busy machine does not make an input slow.
fn processor_time() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a time of our own.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    assert_eq!(failed, 0, "no clock of the process");
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
