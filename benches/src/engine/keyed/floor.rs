//! What no table beyond the cache can do without, and no limiter that reads the time; and calls one at a time.

use super::{Build, Keyed};
use crate::engine::label::Label;
use crate::engine::version;
use core::sync::atomic::{AtomicU64, Ordering};
use tollgate::{Clock, QuantaClock, Quota};

/// One random line of memory loaded, and one compare-and-swap on it, in an array of as many bytes as this crate's table has
/// for so many keys. Which line comes next depends on what was loaded before, so that no two loads are under way at once.
#[derive(Debug)]
pub struct Floor(Box<[Line]>);

/// As large and as aligned as a line of the table.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Line(AtomicU64);

/// A line of memory.
const LINE: usize = 64;

impl Floor {
    /// Loads the line of `key`, and then adds to it what is not known before; returns what was there.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // the upper half of a product is below its factor
    fn touch(&self, key: u64, addend: impl FnOnce() -> u64) -> u64 {
        // As cheap a way as there is from a key to a random line: one multiplication to mix, one to reduce.
        let mixed = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let line = &self.0[((u128::from(mixed) * self.0.len() as u128) >> 64) as usize].0;
        // ORDERING: relaxed throughout, for the figures mean nothing; the memory's work is what is measured.
        let mut seen = line.load(Ordering::Relaxed);
        let addend = addend();
        while let Err(now) = line.compare_exchange_weak(seen, seen + addend, Ordering::Relaxed, Ordering::Relaxed) {
            seen = now; // PROGRESS: another thread has come through.
        }
        seen
    }
}

impl Keyed for Floor {
    #[inline]
    fn try_acquire(&self, key: u64) -> bool {
        self.touch(key, || 1);
        true
    }

    fn try_acquire_n(&self, key: u64, _: u32) -> bool {
        self.try_acquire(key)
    }

    fn admit(&self, keys: &[u32]) -> u64 {
        let mut seen = 0;
        for &key in keys {
            // Counts stay far below 2^63: the key is the same, but the processor cannot know before it has the line.
            seen = self.touch(u64::from(key) + (seen >> 63), || 1);
        }
        core::hint::black_box(seen);
        keys.len() as u64
    }
}

impl Build for Floor {
    const LABEL: Label = Label::floor("floor-line", version::STD, "none").hashed_by("none");

    fn build(quota: Quota, keys: u32) -> Self {
        let bytes = tollgate::KeyedLimiter::<u64>::new(quota, keys as usize).bytes();
        let lines = bytes.div_ceil(LINE);
        const { assert!(size_of::<Line>() == LINE) };
        Self((0..lines).map(|_| Line::default()).collect())
    }
}

/// As [`Floor`], but between the load and the compare-and-swap the clock is read, as a limiter has to; and no line depends on
/// the one before. Where reading the processor's counter waits for all loads before it, this shows it.
#[derive(Debug)]
pub struct Timed(Floor);

impl Keyed for Timed {
    #[inline]
    fn try_acquire(&self, key: u64) -> bool {
        // One; the processor cannot know before it has the reading.
        self.0.touch(key, || 1 + (QuantaClock.now().as_nanos() >> 63));
        true
    }

    fn try_acquire_n(&self, key: u64, _: u32) -> bool {
        self.try_acquire(key)
    }
}

impl Build for Timed {
    const LABEL: Label = Label::floor("floor-timed", version::STD, "quanta").hashed_by("none");

    fn build(quota: Quota, keys: u32) -> Self {
        Self(Floor::build(quota, keys))
    }
}

/// As `E`, but no call begins before the one before it has ended. In a loop a processor looks ahead and loads the next
/// key's line early; a program that does something else between its calls has no such help.
#[derive(Debug)]
pub struct Isolated<E>(E);

/// Waits until all that came before is done.
#[inline]
fn settle() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction only waits; it touches neither registers nor memory.
    unsafe {
        core::arch::asm!("lfence", options(nostack, preserves_flags));
    }
    // ORDERING: for the processor's sake only; elsewhere than on x86-64 it is the nearest there is.
    #[cfg(not(target_arch = "x86_64"))]
    core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
}

impl<E: Keyed> Keyed for Isolated<E> {
    #[inline]
    fn try_acquire(&self, key: u64) -> bool {
        let is_admitted = self.0.try_acquire(key);
        settle();
        is_admitted
    }

    fn try_acquire_n(&self, key: u64, n: u32) -> bool {
        self.0.try_acquire_n(key, n)
    }
}

impl<E: Build> Build for Isolated<E> {
    const LABEL: Label = E::LABEL;
    const BOUNDED: bool = E::BOUNDED;

    fn build(quota: Quota, keys: u32) -> Self {
        Self(E::build(quota, keys))
    }

    fn build_bounded(quota: Quota, keys: u32) -> Self {
        Self(E::build_bounded(quota, keys))
    }
}
