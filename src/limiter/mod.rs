//! [`RateLimiter`]: an algorithm, a word and a clock.

mod construction;
mod names;

pub use names::{FixedWindow, IntervalBucket, LeakyBucket, PackedTokenBucket, SlidingWindowCounter, TokenBucket};

use crate::algorithm::{Algorithm, Gcra};
use crate::cell::StateCell;
use crate::clock::Clock;
use crate::decision::{Denied, Status};
use crate::nanos::Nanos;
use crate::quota::Quota;
use crate::rate_limit::delegate;
use core::convert::Infallible;
use core::fmt;

/// A rate limiter whose state is one atomic word.
///
/// Use it by one of its names: [`TokenBucket`], [`LeakyBucket`], [`PackedTokenBucket`], [`FixedWindow`],
/// [`IntervalBucket`], [`SlidingWindowCounter`]. Each algorithm documents its bound.
///
/// # Progress and ordering
///
/// Every method is lock-free: a call retries only when another has changed the word. A refusal, and every method that
/// only reads, makes one load and writes nothing. Decisions are linearizable: all calls on one limiter take effect in
/// one order, each at one instant between its start and its end. All accesses are relaxed, so a limiter gives its
/// callers no happens-before edge. No method panics, allocates, blocks or makes a system call, unless the clock does.
///
/// # Cost
///
/// Construction is a few long divisions: about 80 ns on a 2020s server core, nothing at all in a `static`. The first
/// reading of [`QuantaClock`](crate::QuantaClock) in a process calibrates it: under a millisecond where the counter is
/// steady, 200 ms at most. A token bucket on a clock without state takes 64 bytes.
///
/// # Examples
///
/// ```
/// use tollgate::{Quota, TokenBucket};
///
/// static LOGINS: TokenBucket = TokenBucket::new(Quota::per_minute(30).with_burst(5));
///
/// assert!(LOGINS.try_acquire().is_ok());
/// ```
#[repr(align(64))] // one cache line, and no other limiter on it
pub struct RateLimiter<A, C> {
    pub(crate) cell: StateCell,
    pub(crate) algorithm: A,
    pub(crate) clock: C,
}

impl<A: Algorithm, C> RateLimiter<A, C> {
    /// Takes `n` tokens as of `now`, or none: the primitive under every other form. No clock is read.
    ///
    /// `now` must be an instant of the clock that drives this limiter. One that is older than the latest seen counts as
    /// "no time has passed".
    ///
    /// A cost of 0 is always admitted and writes nothing.
    ///
    /// # Errors
    ///
    /// [`Denied::TryAfter`] if there are fewer than `n` tokens at `now`; [`Denied::ExceedsBurst`] if `n` is above
    /// [`max_cost`](Self::max_cost), so that there never will be. A refused call has written nothing.
    ///
    /// # Examples
    ///
    /// One reading for several limiters:
    ///
    /// ```
    /// use tollgate::{Clock, DefaultClock, Quota, TokenBucket};
    ///
    /// let (calls, bytes) = (TokenBucket::new(Quota::per_second(100)), TokenBucket::new(Quota::per_second(1 << 20)));
    /// let now = DefaultClock::default().now();
    /// assert!(calls.try_acquire_n_at(1, now).is_ok() && bytes.try_acquire_n_at(1_500, now).is_ok());
    /// ```
    #[inline]
    pub fn try_acquire_n_at(&self, n: u64, now: Nanos) -> Result<(), Denied> {
        self.cell.update(|word| Ok((self.algorithm.acquire(word, n, now)?, ())))
    }

    /// What the limiter was built for.
    pub fn quota(&self) -> Quota {
        self.algorithm.quota()
    }

    /// The most tokens that one call can take; a larger cost can never be admitted.
    pub fn max_cost(&self) -> u64 {
        self.algorithm.max_cost()
    }
}

impl<A: Algorithm, C: Clock> RateLimiter<A, C> {
    /// Takes one token, or none.
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n`](Self::try_acquire_n).
    #[inline]
    pub fn try_acquire(&self) -> Result<(), Denied> {
        self.try_acquire_n(1)
    }

    /// Takes `n` tokens, or none. A cost of 0 is always admitted.
    ///
    /// # Errors
    ///
    /// [`Denied::TryAfter`] if there are fewer than `n` tokens now; [`Denied::ExceedsBurst`] if `n` is above
    /// [`max_cost`](Self::max_cost), so that there never will be.
    #[inline]
    pub fn try_acquire_n(&self, n: u64) -> Result<(), Denied> {
        self.try_acquire_n_at(n, self.clock.now())
    }

    /// Takes as many tokens as there are, up to `n`; returns how many, which may be 0.
    #[inline]
    pub fn try_acquire_up_to(&self, n: u64) -> u64 {
        let now = self.clock.now();
        let taken = self.cell.update(|word| {
            let take = self.algorithm.available(word, now).min(n);
            match self.algorithm.acquire(word, take, now) {
                Ok(next) => Ok((next, take)),
                // What is available can be acquired; if an algorithm were to say otherwise, nothing is taken.
                Err(_) => Ok((word, 0)),
            }
        });
        match taken {
            Ok(taken) => taken,
            Err::<_, Infallible>(never) => match never {},
        }
    }

    /// Gives `n` tokens back, for work that was admitted and then not done.
    ///
    /// The level is capped: never more than the burst, nor more than the present window has counted. A refund for a window
    /// that is past is lost.
    ///
    /// Only give back what was taken. The bound then holds in any window for what was admitted less what was given back
    /// meanwhile. It need not hold for what was kept: a token that is given back late can come on top of the one that
    /// has fallen due in its place.
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::{Quota, TokenBucket};
    ///
    /// let bucket = TokenBucket::new(Quota::per_hour(10));
    /// assert!(bucket.try_acquire_n(4).is_ok());
    /// bucket.refund(3); // one was used
    /// assert_eq!(bucket.available(), 9);
    /// ```
    #[inline]
    pub fn refund(&self, n: u64) {
        let now = self.clock.now();
        match self.cell.update(|word| Ok((self.algorithm.refund(word, n, now), ()))) {
            Ok(()) => {}
            Err::<_, Infallible>(never) => match never {},
        }
    }

    /// Whole tokens that can be taken now, at most [`max_cost`](Self::max_cost). Exact as of one instant; writes
    /// nothing.
    #[inline]
    pub fn available(&self) -> u64 {
        self.algorithm.available(self.cell.load(), self.clock.now())
    }

    /// Limit, tokens left and waiting times, all as of the same instant. Writes nothing.
    pub fn status(&self) -> Status {
        self.algorithm.status(self.cell.load(), self.clock.now())
    }
}

impl<C: Clock> RateLimiter<Gcra, C> {
    /// The leaky bucket's level: the cost admitted that has not leaked yet, in whole tokens, rounded up.
    pub fn level(&self) -> u64 {
        self.capacity() - self.available()
    }

    /// The leaky bucket's capacity: the quota's burst.
    pub fn capacity(&self) -> u64 {
        self.max_cost()
    }
}

delegate!([A: Algorithm, C: Clock] RateLimiter<A, C> => Self);

impl<A: Algorithm, C> fmt::Debug for RateLimiter<A, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimiter").field("quota", &self.quota()).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(all(loom, feature = "loom"))))]
mod tests {
    use super::*;
    use crate::ManualClock;
    use crate::build_error::BuildError;
    use alloc::format;
    use core::time::Duration;

    #[test]
    fn level_and_capacity_are_the_bucket_from_the_other_side() {
        let bucket = LeakyBucket::with_clock(Quota::per(2, Duration::from_nanos(16)).with_burst(5), ManualClock::new());
        for taken in 0..5 {
            assert_eq!((bucket.level(), bucket.capacity(), bucket.available()), (taken, 5, 5 - taken));
            bucket.try_acquire().unwrap();
        }
    }

    #[test]
    fn what_does_not_fit_is_reported_or_panics() {
        const TOO_LARGE: BuildError = BuildError::LimitTooLarge { largest: 16_383 };
        let quota = Quota::per_second(1_000_000);
        assert_eq!(PackedTokenBucket::try_new(quota).unwrap_err(), TOO_LARGE);
        assert!(PackedTokenBucket::try_new(Quota::per_second(1_000)).is_ok());
        assert_eq!(PackedTokenBucket::try_with_clock(quota, ManualClock::new()).unwrap_err(), TOO_LARGE);
        let bucket = TokenBucket::with_clock(Quota::per_second(5), ManualClock::new());
        assert_eq!(bucket.try_with_initial(6).unwrap_err(), BuildError::InitialTooLarge { largest: 5 });
    }

    #[test]
    #[should_panic(expected = "the limit is too large for a packed word")]
    fn the_short_constructor_panics() {
        let _ = PackedTokenBucket::with_clock(Quota::per_second(1_000_000), ManualClock::new());
    }

    #[test]
    #[should_panic(expected = "more initial tokens than the limiter can hold")]
    fn the_short_initial_level_panics() {
        let _ = TokenBucket::with_clock(Quota::per_second(5), ManualClock::new()).with_initial(6);
    }

    #[test]
    fn debug_shows_the_quota() {
        let bucket = TokenBucket::with_clock(Quota::per_second(5), ManualClock::new());
        assert!(format!("{bucket:?}").starts_with("RateLimiter { quota: Quota { tokens: 5,"));
    }
}
