//! [`allocated_by`]: the bytes that a piece of work leaves allocated.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::Cell;
use std::alloc::System;

thread_local! {
    /// What this thread allocates while it is counted, less what it frees. Of its own for each thread, so that nobody pays
    /// for a shared counter.
    static COUNTED: Cell<Option<i64>> = const { Cell::new(None) };
}

/// The system's allocator, with a counter that is asleep except in [`allocated_by`]: measured engines pay a look at a
/// variable of their thread for each allocation, and nothing for each call that allocates nothing.
#[derive(Debug)]
struct Counting;

#[global_allocator]
static HEAP: Counting = Counting;

fn count(bytes: usize, sign: i64) {
    // A thread that is ending has no variables any more, and is not counted.
    let _ = COUNTED.try_with(|counted| {
        if let Some(sum) = counted.get() {
            counted.set(Some(sum + sign * i64::try_from(bytes).expect("no allocation is that large")));
        }
    });
}

// SAFETY: every method hands its arguments to the system's allocator as they came, whose contract is the caller's, and
// returns what that returned. Counting does not allocate: the variable has a constant initial value and no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 1);
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 1);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        count(layout.size(), -1);
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(layout.size(), -1);
        count(size, 1);
        // SAFETY: as above.
        unsafe { System.realloc(place, layout, size) }
    }
}

/// What `work` returns, and the bytes it asked the allocator for and has not given back: all it did on this thread. What
/// the allocator itself needs beside is not counted.
pub fn allocated_by<T>(work: impl FnOnce() -> T) -> (T, u64) {
    COUNTED.set(Some(0));
    let result = work();
    let sum = COUNTED.replace(None).unwrap_or(0);
    (result, u64::try_from(sum).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_counted_and_what_is_freed_is_not() {
        let (kept, bytes) = allocated_by(|| {
            drop(vec![1_u8; 5_000]);
            let mut grown: Vec<u64> = Vec::with_capacity(10);
            grown.push(1);
            grown.reserve_exact(99);
            (grown, vec![0_u8; 1_000])
        });
        assert_eq!(bytes, 800 + 1_000);
        drop(kept);
        assert_eq!(allocated_by(|| ()).1, 0, "nothing is counted in between");
    }
}
