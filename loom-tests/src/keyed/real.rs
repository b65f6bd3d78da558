//! [`Real`]: the limiter itself, on the smallest table.

use super::BURST;
use core::hash::{BuildHasher, Hasher};
use core::time::Duration;
#[cfg(loom)]
use tollgate::loom_support::lines_of_key;
use tollgate::{KeyedLimiter, ManualClock, Nanos, Quota};

/// The limiter itself.
pub type Real = KeyedLimiter<u32, Chosen, ManualClock>;

/// [`KeyedLimiter`] on the smallest table. In a model check, that is three slots.
pub fn empty() -> Real {
    let narrow = Quota::per(1, Duration::from_nanos(1)).with_burst(BURST);
    Real::with_hasher_and_clock([narrow, narrow.with_burst(100)], 1, Chosen(0), ManualClock::new())
}

/// The same, in whose first slots these keys are open, each full at its instant.
///
/// # Panics
///
/// If there are more keys than slots.
pub fn real(open: &[(u32, u64)]) -> Real {
    let limiter = empty();
    for &(key, full_at) in open {
        limiter.class(1).try_acquire_n_at(&key, full_at, Nanos(0)).expect("there is room");
    }
    limiter
}

/// Hashes of keys that go through the lines of the smallest table in the same order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Chosen(u64);

impl BuildHasher for Chosen {
    type Hasher = Self;

    fn build_hasher(&self) -> Self {
        *self
    }
}

impl Hasher for Chosen {
    /// Only for what tells hashers apart: keys are `u32`.
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, &byte| hash.rotate_left(8) ^ u64::from(byte));
    }

    fn write_u32(&mut self, key: u32) {
        let hashes = (0..).map(|i: u64| i.wrapping_mul(0xD129_0FFA_5C6E_F0B5));
        let in_order = hashes.filter(|&hash| lines_of_key(hash, 3) == [0, 1, 2]);
        self.0 = in_order.take(key as usize).last().expect("keys are 1 and up");
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// On real threads a line has five slots, which is enough for all keys of a model.
#[cfg(not(loom))]
fn lines_of_key(_hash: u64, _lines: u32) -> [usize; 3] {
    [0, 1, 2]
}
