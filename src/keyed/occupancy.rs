//! How much room there is in a [`KeyedLimiter`], and how much of it is taken.

use super::limiter::KeyedLimiter;
use crate::clock::Clock;
use crate::nanos::Nanos;
use core::hash::BuildHasher;

impl<K: ?Sized, S, C> KeyedLimiter<K, S, C> {
    /// The number of live keys that the table was sized for: half its slots.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// The table's size in memory: all that the limiter ever allocates, but for a few bytes per class.
    pub fn bytes(&self) -> usize {
        self.store.table.bytes()
    }

    /// As [`live`](Self::live), as of `now`. No clock is read.
    pub fn live_at(&self, now: Nanos) -> usize {
        self.store.live_in(self.store.table.lines(), now)
    }

    /// As [`fill`](Self::fill), as of `now`. No clock is read.
    pub fn fill_at(&self, now: Nanos) -> f64 {
        self.store.fill(now)
    }
}

impl<K: ?Sized, S: BuildHasher, C: Clock> KeyedLimiter<K, S, C> {
    /// How many keys are in debt now. Looks at every slot: an answer for tests and diagnostics, about 1 ns per key of the
    /// capacity; see [`fill`](Self::fill) for an estimate. Exact if nobody else calls meanwhile.
    pub fn live(&self) -> usize {
        self.live_at(self.store.clock.now())
    }

    /// An estimate of how full the table is, from a sample of at most 64 lines: the part of its slots that hold a key in
    /// debt, of 0 to 1.
    ///
    /// The table is meant to run at up to one half. The standard deviation of the estimate is about 0.03.
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::{KeyedLimiter, Quota};
    ///
    /// let limiter = KeyedLimiter::<u64>::new(Quota::per_hour(1), 10_000);
    /// assert!((0..5_000).all(|client| limiter.try_acquire(&client).is_ok()));
    /// assert!((0.1..0.4).contains(&limiter.fill())); // half the capacity, which is half the slots
    /// ```
    pub fn fill(&self) -> f64 {
        self.fill_at(self.store.clock.now())
    }
}
