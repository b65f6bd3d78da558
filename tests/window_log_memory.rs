//! What a sliding window log allocates: 8 bytes for each unit, a fixed part, and nothing after construction.

use core::alloc::{GlobalAlloc, Layout};
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::alloc::System;
use tollgate::{ManualClock, Quota, SlidingWindowLog};

/// Counts what is allocated and not freed, and how often.
struct Counting;

static BYTES: AtomicUsize = AtomicUsize::new(0);
static CALLS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size(), Ordering::Relaxed);
        CALLS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What every log needs, whatever its limit: 64 records of 16 bytes and a word that says which are held.
const FIXED: usize = 64 * 16 + 8;

/// The only test of this binary, since others would be counted too.
#[test]
fn eight_bytes_for_each_unit_and_nothing_later() {
    let clock = ManualClock::new();
    for limit in [1, 2, 5, 1_000, 1_000_000] {
        let before = BYTES.load(Ordering::Relaxed);
        let log = SlidingWindowLog::with_clock(Quota::per(limit, Duration::from_secs(1)), clock.clone());
        let taken = BYTES.load(Ordering::Relaxed) - before;
        assert_eq!(taken, 8 * usize::try_from(limit).unwrap() + FIXED, "limit {limit}");
        assert!(size_of_val(&log) <= 128);

        let calls = CALLS.load(Ordering::Relaxed);
        for _ in 0..3 {
            assert!(log.try_acquire().is_ok());
            let left = log.available();
            assert!(left == 0 || log.try_acquire_n(left).is_ok());
            assert_eq!(log.try_acquire_up_to(limit), 0);
            assert!(log.try_acquire().unwrap_err().retry_after().is_some());
            assert_eq!(log.status().remaining, 0);
            clock.advance(Duration::from_secs(1));
            assert_eq!(log.try_acquire_up_to(limit), limit);
            clock.advance(Duration::from_secs(1));
        }
        assert_eq!(CALLS.load(Ordering::Relaxed), calls, "limit {limit}");
    }
}
