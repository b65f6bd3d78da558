//! `floor-line` and `floor-timed`: what no table beyond the cache can do without, and no limiter that reads the time.

use super::{Build, Engine};
use crate::engine::{Kind, version};
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

impl Engine for Floor {
    #[inline]
    fn try_acquire(&self, key: u64) -> bool {
        self.touch(key, || 1);
        true
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
    const VERSION: &'static str = version::STD;
    const CLOCK: &'static str = "none";
    const HASHER: &'static str = "none";
    const KIND: Kind = Kind::Floor;

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

impl Engine for Timed {
    #[inline]
    fn try_acquire(&self, key: u64) -> bool {
        // One; the processor cannot know before it has the reading.
        self.0.touch(key, || 1 + (QuantaClock.now().as_nanos() >> 63));
        true
    }
}

impl Build for Timed {
    const VERSION: &'static str = version::STD;
    const CLOCK: &'static str = "quanta";
    const HASHER: &'static str = "none";
    const KIND: Kind = Kind::Floor;

    fn build(quota: Quota, keys: u32) -> Self {
        Self(Floor::build(quota, keys))
    }
}
