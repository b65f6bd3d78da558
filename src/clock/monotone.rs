//! [`Monotone`]: repairs a clock that differs between cores.

use super::Clock;
use crate::nanos::Nanos;
use crate::sync::{AtomicU64, Ordering, const_unless_loom};

/// A clock that never goes back, made of one that may.
///
/// Some machines' time stamp counters differ between cores, and some clocks step back. A limiter stays strict over
/// such readings by itself (an older one counts as "no time has passed"); this wrapper makes them monotone for all
/// threads that share it, so that refusals are not longer than need be either. After a step back it stands still until the
/// inner clock has caught up; [`Steady`](crate::Steady) goes on. It costs a load per reading, and one
/// read-modify-write on a shared line whenever time has moved. Wait-free.
///
/// # Examples
///
/// ```
/// use tollgate::{Clock, ManualClock, Monotone, Nanos};
///
/// let skewed = ManualClock::starting_at(Nanos::from_millis(1_600));
/// let clock = Monotone::new(skewed.clone());
/// assert_eq!(clock.now(), Nanos::from_millis(1_600));
/// skewed.set(Nanos::ZERO); // the next core is 1.6 s behind
/// assert_eq!(clock.now(), Nanos::from_millis(1_600));
/// ```
#[derive(Debug)]
pub struct Monotone<C> {
    clock: C,
    /// The latest instant handed out.
    latest: AtomicU64,
}

impl<C> Monotone<C> {
    const_unless_loom! {
        /// Wraps `clock`.
        pub const fn new(clock: C) -> Self {
            Self { clock, latest: AtomicU64::new(0) }
        }
    }
}

impl<C: Clock> Clock for Monotone<C> {
    #[inline]
    fn now(&self) -> Nanos {
        let now = self.clock.now().0;
        // ORDERING: relaxed; the instant publishes no other memory, and a thread never reads an older value of one word
        // than it has read before.
        let latest = self.latest.load(Ordering::Relaxed);
        if now <= latest {
            return Nanos(latest);
        }
        // ORDERING: relaxed; the maximum is taken by the RMW alone.
        Nanos(self.latest.fetch_max(now, Ordering::Relaxed).max(now))
    }

    fn unix_time(&self, reading: Nanos) -> Option<Nanos> {
        self.clock.unix_time(reading)
    }
}
