//! [`RateLimiter`]: an algorithm, a word and a clock; and the names that people use.

use crate::algorithm::{Algorithm, Bucket, Gcra, Packed, SlidingCounter, Window};
use crate::cell::StateCell;
use crate::clock::Clock;
#[cfg(feature = "std")]
use crate::clock::{DEFAULT_CLOCK, DefaultClock};
use crate::decision::{Denied, Status};
use crate::nanos::Nanos;
use crate::quota::{Quota, QuotaError};
use crate::rate_limit::delegate;
use crate::sync::const_unless_loom;
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
    cell: StateCell,
    algorithm: A,
    clock: C,
}

/// Names with a default clock where there is one.
macro_rules! name {
    ($(#[$meta:meta])* $name:ident = $algorithm:ty) => {
        $(#[$meta])*
        #[cfg(feature = "std")]
        pub type $name<C = DefaultClock> = RateLimiter<$algorithm, C>;

        $(#[$meta])*
        #[cfg(not(feature = "std"))]
        pub type $name<C> = RateLimiter<$algorithm, C>;
    };
}

name! {
    /// Tokens fall due at a constant rate and are saved up to a burst. The default choice.
    ///
    /// Bound: `burst + rate * (t - s)` admitted with readings in `[s, t]`; see [`Gcra`].
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{ManualClock, Quota, TokenBucket};
    ///
    /// let clock = ManualClock::new();
    /// let bucket = TokenBucket::with_clock(Quota::per_second(2).with_burst(10), clock.clone());
    /// assert_eq!(bucket.try_acquire_up_to(u64::MAX), 10);
    /// clock.advance(Duration::from_secs(3));
    /// assert_eq!(bucket.available(), 6);
    /// ```
    TokenBucket = Gcra
}

name! {
    /// A leaky bucket as a meter: each call adds its cost to a level that leaks at a constant rate and must not exceed
    /// the capacity.
    ///
    /// It is the token bucket seen from the other side, and the same type: the quota's rate is the leak rate and its
    /// burst the capacity. See [`level`](RateLimiter::level) and [`capacity`](RateLimiter::capacity).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{LeakyBucket, ManualClock, Quota};
    ///
    /// let clock = ManualClock::new();
    /// let bucket = LeakyBucket::with_clock(Quota::per_second(1).with_burst(4), clock.clone());
    /// assert!(bucket.try_acquire_n(3).is_ok());
    /// assert_eq!((bucket.level(), bucket.capacity()), (3, 4));
    /// clock.advance(Duration::from_secs(2));
    /// assert_eq!(bucket.level(), 1);
    /// ```
    LeakyBucket = Gcra
}

name! {
    /// The token bucket with tokens and time in separate bit fields, for comparison of encodings; see [`Packed`] for its
    /// tighter limits.
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::{PackedTokenBucket, Quota, QuotaError};
    ///
    /// let bucket = PackedTokenBucket::new(Quota::per_second(1_000));
    /// assert!(bucket.try_acquire_n(1_000).is_ok());
    ///
    /// let error = PackedTokenBucket::try_new(Quota::per_second(1_000_000)).unwrap_err();
    /// assert_eq!(error, QuotaError::LimitTooLarge { largest: 16_383 });
    /// ```
    PackedTokenBucket = Packed
}

name! {
    /// At most `tokens` in each window of length `period`, aligned to the clock's origin; the quota's burst has no
    /// meaning here.
    ///
    /// Bound: twice the limit around a window's boundary; see [`Window`].
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{FixedWindow, ManualClock, Quota};
    ///
    /// let clock = ManualClock::new();
    /// let window = FixedWindow::with_clock(Quota::per_minute(100), clock.clone());
    /// clock.advance(Duration::from_secs(59));
    /// assert!(window.try_acquire_n(100).is_ok());
    /// clock.advance(Duration::from_secs(1));
    /// assert!(window.try_acquire_n(100).is_ok()); // 200 within a second
    /// ```
    FixedWindow = Window
}

name! {
    /// A bucket that is filled to capacity at every tick, and gives partial takes.
    ///
    /// It is the fixed window seen from the other side, and the same type: `tokens` of the quota is the capacity and
    /// `period` the time between ticks, which are aligned to the clock's origin; the quota's burst has no meaning here.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{IntervalBucket, ManualClock, Quota};
    ///
    /// let clock = ManualClock::new();
    /// let bucket = IntervalBucket::with_clock(Quota::per(10, Duration::from_millis(200)), clock.clone());
    /// assert_eq!([4, 4, 4, 4].map(|n| bucket.try_acquire_up_to(n)), [4, 4, 2, 0]);
    /// clock.advance(Duration::from_millis(200));
    /// assert_eq!(bucket.try_acquire_up_to(4), 4);
    /// ```
    IntervalBucket = Window
}

name! {
    /// An estimate of a sliding window from two counts; the quota's burst has no meaning here.
    ///
    /// Bound: `tokens` in each aligned window, less than twice that in any span of one period; see [`SlidingCounter`].
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{ManualClock, Quota, SlidingWindowCounter};
    ///
    /// let clock = ManualClock::new();
    /// let counter = SlidingWindowCounter::with_clock(Quota::per_minute(100), clock.clone());
    /// clock.advance(Duration::from_secs(59));
    /// assert!(counter.try_acquire_n(100).is_ok());
    /// clock.advance(Duration::from_secs(1));
    /// assert!(counter.try_acquire().is_err()); // the last window still counts in full
    /// clock.advance(Duration::from_secs(30));
    /// assert_eq!(counter.available(), 50); // and now by half
    /// ```
    SlidingWindowCounter = SlidingCounter
}

/// `new`, `try_new`, `with_clock` and `try_with_clock` for an algorithm.
macro_rules! constructors {
    ($algorithm:ty, |$quota:ident| $build:expr, |$built:ident| $fresh:expr) => {
        #[cfg(feature = "std")]
        impl RateLimiter<$algorithm, DefaultClock> {
            const_unless_loom! {
                /// A limiter on the default clock. It starts full. No reading of the clock is taken.
                ///
                /// # Panics
                ///
                /// If the quota does not fit the algorithm; in a `static`, that is a compile error.
                pub const fn new(quota: Quota) -> Self {
                    Self::with_clock(quota, DEFAULT_CLOCK)
                }
            }

            const_unless_loom! {
                /// As [`new`](Self::new), but reports what does not fit.
                ///
                /// # Errors
                ///
                /// [`QuotaError::LimitTooLarge`] if the algorithm's word has no room for the quota.
                pub const fn try_new(quota: Quota) -> Result<Self, QuotaError> {
                    match Self::algorithm(quota) {
                        Ok(algorithm) => Ok(Self::assemble(algorithm, DEFAULT_CLOCK)),
                        Err(error) => Err(error),
                    }
                }
            }
        }

        impl<C> RateLimiter<$algorithm, C> {
            #[allow(clippy::unnecessary_wraps)] // the token bucket takes every quota
            const fn algorithm($quota: Quota) -> Result<$algorithm, QuotaError> {
                $build
            }

            const_unless_loom! {
                const fn assemble($built: $algorithm, clock: C) -> Self {
                    let cell = StateCell::new($fresh);
                    Self { cell, algorithm: $built, clock }
                }
            }

            const_unless_loom! {
                /// A limiter on `clock`. It starts full. No reading of the clock is taken.
                ///
                /// # Panics
                ///
                /// If the quota does not fit the algorithm; in a `static`, that is a compile error.
                pub const fn with_clock(quota: Quota, clock: C) -> Self {
                    match Self::algorithm(quota) {
                        Ok(algorithm) => Self::assemble(algorithm, clock),
                        Err(error) => error.panic(),
                    }
                }
            }

            /// As [`with_clock`](Self::with_clock), but reports what does not fit.
            ///
            /// # Errors
            ///
            /// [`QuotaError::LimitTooLarge`] if the algorithm's word has no room for the quota.
            pub fn try_with_clock(quota: Quota, clock: C) -> Result<Self, QuotaError> {
                Self::algorithm(quota).map(|algorithm| Self::assemble(algorithm, clock))
            }
        }
    };
}

constructors!(Gcra, |quota| Ok(Gcra::new(quota)), |_gcra| Gcra::FRESH);
constructors!(Packed, |quota| Packed::try_new(quota), |packed| packed.fresh());
constructors!(Window, |quota| Window::try_new(quota), |_window| Window::FRESH);
constructors!(SlidingCounter, |quota| SlidingCounter::try_new(quota), |_counter| SlidingCounter::FRESH);

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

impl<A: Bucket, C: Clock> RateLimiter<A, C> {
    /// The same limiter holding `tokens` instead of starting full. Reads the clock.
    ///
    /// # Panics
    ///
    /// If `tokens` is above [`max_cost`](Self::max_cost); see [`try_with_initial`](Self::try_with_initial).
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::{Quota, TokenBucket};
    ///
    /// let cold = TokenBucket::new(Quota::per_hour(50)).with_initial(5);
    /// assert_eq!(cold.available(), 5);
    /// ```
    #[must_use]
    pub fn with_initial(self, tokens: u64) -> Self {
        self.try_with_initial(tokens).unwrap_or_else(|error| error.panic())
    }

    /// The same limiter holding `tokens` instead of starting full. Reads the clock.
    ///
    /// # Errors
    ///
    /// [`QuotaError::InitialTooLarge`] if `tokens` is above [`max_cost`](Self::max_cost).
    pub fn try_with_initial(self, tokens: u64) -> Result<Self, QuotaError> {
        let largest = self.max_cost();
        if tokens > largest {
            return Err(QuotaError::InitialTooLarge { largest });
        }
        let cell = StateCell::new(self.algorithm.holding(tokens, self.clock.now()));
        Ok(Self { cell, ..self })
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
        const TOO_LARGE: QuotaError = QuotaError::LimitTooLarge { largest: 16_383 };
        let quota = Quota::per_second(1_000_000);
        assert_eq!(PackedTokenBucket::try_new(quota).unwrap_err(), TOO_LARGE);
        assert!(PackedTokenBucket::try_new(Quota::per_second(1_000)).is_ok());
        assert_eq!(PackedTokenBucket::try_with_clock(quota, ManualClock::new()).unwrap_err(), TOO_LARGE);
        let bucket = TokenBucket::with_clock(Quota::per_second(5), ManualClock::new());
        assert_eq!(bucket.try_with_initial(6).unwrap_err(), QuotaError::InitialTooLarge { largest: 5 });
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
