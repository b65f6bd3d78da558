//! [`ManualClock`]: time that moves when told to.

use super::Clock;
use crate::nanos::Nanos;
use crate::sync::{AtomicU64, Ordering};
use alloc::sync::Arc;
use core::time::Duration;

/// A clock that moves only when told to: for tests, simulations and replays.
///
/// Clones share the time. It starts at [`Nanos::ZERO`]. Wait-free.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::{Clock, ManualClock, Nanos, Quota, TokenBucket};
///
/// let clock = ManualClock::new();
/// let bucket = TokenBucket::with_clock(Quota::per_second(1), clock.clone());
/// assert!(bucket.try_acquire().is_ok());
/// assert!(bucket.try_acquire().is_err());
/// clock.advance(Duration::from_secs(1));
/// assert!(bucket.try_acquire().is_ok());
/// assert_eq!(clock.now(), Nanos::from_secs(1));
/// ```
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<AtomicU64>);

impl ManualClock {
    /// A clock that stands at its origin.
    pub fn new() -> Self {
        Self::starting_at(Nanos::ZERO)
    }

    /// A clock that stands at `now`.
    pub fn starting_at(now: Nanos) -> Self {
        Self(Arc::new(AtomicU64::new(now.0)))
    }

    /// Moves the clock forward by `by`, at most to [`Nanos::MAX`].
    pub fn advance(&self, by: Duration) {
        let by = Nanos::from(by).0;
        // ORDERING: relaxed; the instant publishes no other memory, and concurrent advances add up by the RMW alone.
        let before = self.0.fetch_add(by, Ordering::Relaxed);
        if before.checked_add(by).is_none() {
            // ORDERING: relaxed, as above.
            self.0.store(u64::MAX, Ordering::Relaxed);
        }
    }

    /// Sets the clock to `now`, which may be in its past.
    pub fn set(&self, now: Nanos) {
        // ORDERING: relaxed; the instant publishes no other memory.
        self.0.store(now.0, Ordering::Relaxed);
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for ManualClock {
    #[inline]
    fn now(&self) -> Nanos {
        // ORDERING: relaxed; an older instant is a legal reading of any clock.
        Nanos(self.0.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_and_the_end_of_time_holds() {
        let clock = ManualClock::starting_at(Nanos::from_secs(1));
        let twin = clock.clone();
        twin.advance(Duration::from_millis(5));
        assert_eq!(clock.now(), Nanos::from_millis(1_005));
        twin.advance(Duration::MAX);
        assert_eq!(clock.now(), Nanos::MAX);
        clock.set(Nanos(3));
        assert_eq!(twin.now(), Nanos(3));
    }
}
