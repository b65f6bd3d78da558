//! The system's allocator, which counts what each thread asks of it. A program that has this module runs on it.
//!
//! Each test program uses its own part of this.
#![allow(dead_code)]

use core::alloc::{GlobalAlloc, Layout};
use core::cell::Cell;
use std::alloc::System;

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    /// Allocations, and memory given back. Growing or moving a block is one of each.
    static CALLS: Cell<u64> = const { Cell::new(0) };
    /// Bytes allocated less bytes given back. Wraps around: a thread may give back what another has allocated.
    static BYTES: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator with the arguments it came with.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.set(CALLS.get() + 1);
        BYTES.set(BYTES.get().wrapping_add(layout.size()));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        CALLS.set(CALLS.get() + 1);
        BYTES.set(BYTES.get().wrapping_sub(layout.size()));
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// How often `work` allocates or gives memory back, on this thread.
pub(crate) fn calls(work: impl FnOnce()) -> u64 {
    let before = CALLS.get();
    work();
    CALLS.get() - before
}

/// What `make` returns, and by how many bytes this thread holds more after it than before.
pub(crate) fn bytes<T>(make: impl FnOnce() -> T) -> (T, usize) {
    let before = BYTES.get();
    let value = make();
    (value, BYTES.get().wrapping_sub(before))
}
