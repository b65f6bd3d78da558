//! [`ManualClock`]: time that moves when told to.

use super::Clock;
use crate::nanos::Nanos;
use crate::sync::{AtomicU64, Ordering};
use alarm::Alarms;
use alloc::sync::Arc;
use core::time::Duration;

/// Tasks asleep on the clock.
#[cfg(all(feature = "async", feature = "std", not(all(loom, feature = "loom"))))]
mod alarm;
#[cfg(all(feature = "async", feature = "std", not(all(loom, feature = "loom"))))]
pub use alarm::Alarm;

/// Nobody sleeps on the clock where there is nothing to wake them by.
#[cfg(not(all(feature = "async", feature = "std", not(all(loom, feature = "loom")))))]
mod alarm {
    #[derive(Debug, Default)]
    pub(super) struct Alarms {}

    impl Alarms {
        #[allow(clippy::unused_self)] // as the real one has it
        pub(super) const fn ring(&self, _: &super::ManualClock) {}
    }
}

/// A clock that moves only when told to: for tests, simulations and replays.
///
/// Clones share the time. It starts at [`Nanos::ZERO`]. Readings are wait-free.
///
/// With the feature `async` it is a `Timer` too: moving it wakes the tasks that are due by then, in the order of
/// their instants, and for one instant in the order in which they went to sleep. So tests of what waits need neither a runtime
/// nor a second to pass.
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
pub struct ManualClock(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    now: AtomicU64,
    alarms: Alarms,
}

impl ManualClock {
    /// A clock that stands at its origin.
    pub fn new() -> Self {
        Self::starting_at(Nanos::ZERO)
    }

    /// A clock that stands at `now`.
    pub fn starting_at(now: Nanos) -> Self {
        Self(Arc::new(Shared { now: AtomicU64::new(now.0), alarms: Alarms::default() }))
    }

    /// Moves the clock forward by `by`, at most to [`Nanos::MAX`], and wakes who is due by then.
    pub fn advance(&self, by: Duration) {
        let by = Nanos::from(by).0;
        // ORDERING: relaxed; the instant publishes no other memory, and concurrent advances add up by the RMW alone.
        let before = self.0.now.fetch_add(by, Ordering::Relaxed);
        if before.checked_add(by).is_none() {
            // ORDERING: relaxed, as above.
            self.0.now.store(u64::MAX, Ordering::Relaxed);
        }
        self.0.alarms.ring(self);
    }

    /// Sets the clock to `now`, which may be in its past, and wakes who is due by then.
    pub fn set(&self, now: Nanos) {
        // ORDERING: relaxed; the instant publishes no other memory.
        self.0.now.store(now.0, Ordering::Relaxed);
        self.0.alarms.ring(self);
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
        Nanos(self.0.now.load(Ordering::Relaxed))
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
