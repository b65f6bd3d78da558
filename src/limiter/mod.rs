//! [`RateLimiter`]: an algorithm, a word and a clock.

mod construction;
mod names;
mod take;

pub use names::*;

use crate::algorithm::{Algorithm, Gcra};
use crate::cell::StateCell;
use crate::clock::Clock;
#[cfg(feature = "std")]
use crate::clock::DefaultClock;
use crate::decision::{Denied, Status};
use crate::nanos::Nanos;
use crate::quota::Quota;
use crate::rate_limit::delegate;
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
pub struct RateLimiter<A, #[cfg(feature = "std")] C = DefaultClock, #[cfg(not(feature = "std"))] C> {
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
    /// What would have been, at instants that were recorded. To decide on several limits at once, take a
    /// [`LimitSet`](crate::LimitSet).
    ///
    /// ```
    /// use tollgate::{Nanos, Quota, TokenBucket};
    ///
    /// let bucket = TokenBucket::new(Quota::per_second(2));
    /// let admitted = [0, 10, 20, 990].map(|at| bucket.try_acquire_n_at(1, Nanos::from_millis(at)).is_ok());
    /// assert_eq!(admitted, [true, true, false, true]);
    /// ```
    #[inline]
    pub fn try_acquire_n_at(&self, n: u64, now: Nanos) -> Result<(), Denied> {
        self.cell.update(|word| Ok((self.algorithm.acquire(word, n, now)?, ())))
    }

    /// As [`try_acquire`](Self::try_acquire), as of `now`. No clock is read.
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n_at`](Self::try_acquire_n_at).
    #[inline]
    pub fn try_acquire_at(&self, now: Nanos) -> Result<(), Denied> {
        self.try_acquire_n_at(1, now)
    }

    /// As [`try_acquire_up_to`](Self::try_acquire_up_to), as of `now`. No clock is read.
    #[inline]
    pub fn try_acquire_up_to_at(&self, n: u64, now: Nanos) -> u64 {
        self.cell.apply(|word| {
            let take = self.algorithm.available(word, now).min(n);
            if take == 0 {
                return (word, 0);
            }
            match self.algorithm.acquire(word, take, now) {
                Ok(next) => (next, take),
                // What is available can be acquired; if an algorithm were to say otherwise, nothing is taken.
                Err(_) => (word, 0),
            }
        })
    }

    /// As [`refund`](Self::refund), of tokens that were taken on the reading `taken`. No clock is read.
    ///
    /// A window takes back what was taken in it, and nothing else: a refund for a fixed window that is past is lost, and
    /// one for the window before the present one of a sliding counter makes that count for less. So a window never admits
    /// more than its limit plus what was given back of it. For a bucket any reading since will do, such as the present one.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{Clock, FixedWindow, ManualClock, Quota};
    ///
    /// let clock = ManualClock::new();
    /// let window = FixedWindow::with_clock(Quota::per_minute(5), clock.clone());
    /// let taken = clock.now();
    /// assert!(window.try_acquire_n_at(5, taken).is_ok());
    /// clock.advance(Duration::from_secs(60)); // meanwhile, the next minute has begun
    /// assert!(window.try_acquire_n(5).is_ok());
    /// window.refund_at(5, taken);
    /// assert_eq!(window.available(), 0); // what belonged to the last minute is no business of this one
    /// ```
    #[inline]
    pub fn refund_at(&self, n: u64, taken: Nanos) {
        self.cell.apply(|word| (self.algorithm.refund(word, n, taken), ()));
    }

    /// As [`try_acquire_n_with_status`](Self::try_acquire_n_with_status), as of `now`. No clock is read.
    pub fn try_acquire_n_with_status_at(&self, n: u64, now: Nanos) -> (Result<(), Denied>, Status) {
        let (decision, word) = self.cell.decide(|word| self.algorithm.acquire(word, n, now));
        (decision, self.algorithm.status(word, now))
    }

    /// As [`available`](Self::available), as of `now`. No clock is read.
    #[inline]
    pub fn available_at(&self, now: Nanos) -> u64 {
        self.algorithm.available(self.cell.load(), now)
    }

    /// As [`status`](Self::status), as of `now`. No clock is read.
    pub fn status_at(&self, now: Nanos) -> Status {
        self.algorithm.status(self.cell.load(), now)
    }

    /// Makes the limiter as good as new: whatever it has admitted so far is forgotten, and it is full at once.
    ///
    /// For a person who lifts a limit by hand; and the way out where a clock has been far ahead and was put right. It
    /// needs no reading. To give back what was admitted and not used, [`refund`](Self::refund) it instead.
    ///
    /// Bound: what is admitted before and what is admitted after keep the limiter's bound, each for itself. So a window
    /// of readings in which it was called `k` times admits at most `k + 1` times what it would have.
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::{Quota, TokenBucket};
    ///
    /// let bucket = TokenBucket::new(Quota::per_hour(10));
    /// assert!(bucket.try_acquire_n(10).is_ok() && bucket.try_acquire().is_err());
    /// bucket.forgive();
    /// assert_eq!(bucket.available(), 10);
    /// ```
    pub fn forgive(&self) {
        self.cell.apply(|_| (self.algorithm.fresh(), ()));
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

    /// Takes `n` tokens, or none; returns the decision and the status that it has left, admitted or denied.
    ///
    /// The status is that of the very word which was decided on, on the same reading of the clock: no other call comes in
    /// between. A decision whose status nobody asks for is cheaper, since a status divides.
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::{Quota, TokenBucket};
    ///
    /// let bucket = TokenBucket::new(Quota::per_hour(10));
    /// let (decision, status) = bucket.try_acquire_n_with_status(4);
    /// assert_eq!((decision, status.remaining), (Ok(()), 6));
    /// let (decision, status) = bucket.try_acquire_n_with_status(7);
    /// assert_eq!((decision.is_err(), status.remaining), (true, 6));
    /// ```
    pub fn try_acquire_n_with_status(&self, n: u64) -> (Result<(), Denied>, Status) {
        self.try_acquire_n_with_status_at(n, self.clock.now())
    }

    /// As [`try_acquire_n_with_status`](Self::try_acquire_n_with_status), for one token.
    pub fn try_acquire_with_status(&self) -> (Result<(), Denied>, Status) {
        self.try_acquire_n_with_status(1)
    }

    /// Takes as many tokens as there are, up to `n`; returns how many, which may be 0.
    #[inline]
    pub fn try_acquire_up_to(&self, n: u64) -> u64 {
        self.try_acquire_up_to_at(n, self.clock.now())
    }

    /// Gives `n` tokens back, for work that was admitted and then not done.
    ///
    /// The level is capped: never more than the burst, nor more than a window has counted. In a window's case this gives
    /// back to the *present* window, whichever window they were taken in. Where the work may have outlasted its window,
    /// call [`refund_at`](Self::refund_at) with the reading on which the tokens were taken.
    ///
    /// Only give back what was taken. The bound then holds in any window for what was admitted less what was given back
    /// meanwhile. It need not hold for what was kept: a token that is given back late can come on top of the one that
    /// has fallen due in its place. In a window that is given back what an earlier one had counted, up to the limit more is
    /// admitted than its limit; with `refund_at` never.
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
        self.refund_at(n, self.clock.now());
    }

    /// Whole tokens that can be taken now, at most [`max_cost`](Self::max_cost). Exact as of one instant; writes
    /// nothing.
    #[inline]
    pub fn available(&self) -> u64 {
        self.available_at(self.clock.now())
    }

    /// Limit, tokens left and waiting times, all as of the same instant. Writes nothing.
    pub fn status(&self) -> Status {
        self.status_at(self.clock.now())
    }
}

impl<C: Clock> RateLimiter<Gcra, C> {
    /// The leaky bucket's level: the cost admitted that has not leaked yet, in whole tokens, rounded up.
    pub fn level(&self) -> u64 {
        self.level_at(self.clock.now())
    }
}

impl<C> RateLimiter<Gcra, C> {
    /// As [`level`](Self::level), as of `now`. No clock is read.
    pub fn level_at(&self, now: Nanos) -> u64 {
        self.capacity() - self.available_at(now)
    }

    /// The leaky bucket's capacity: the quota's burst.
    pub fn capacity(&self) -> u64 {
        self.max_cost()
    }
}

delegate!([A: Algorithm, C: Clock] RateLimiter<A, C> => Self);
delegate!(at [A: Algorithm, C: Clock] RateLimiter<A, C> => Self);

impl<A: Algorithm, C> fmt::Debug for RateLimiter<A, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(A::NAME).field("quota", &self.quota()).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(all(loom, feature = "loom"))))]
mod tests {
    use super::*;
    use crate::build_error::BuildError;
    use crate::clock::ManualClock;
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
        const TOO_LARGE: BuildError = BuildError::LimitTooLarge { largest: 4_095 };
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
}
