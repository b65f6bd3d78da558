//! [`Place`]: tokens of one's own, and when they may be spent.

use super::Line;
use crate::decision::{Denied, Status};
use crate::nanos::Nanos;
use core::fmt;
use core::time::Duration;

/// A place in line: tokens that are the holder's alone, and the instant from which they may be spent.
///
/// The instant is known at once and never changes: nobody is served later than told. A place is held by value and ends in
/// one of two ways:
///
/// * [`spend`](Self::spend), at its instant or later: the tokens are used. They count at the place's instant, not when the
///   holder gets round to it, so a late wake-up costs the rate nothing.
/// * [`cancel`](Self::cancel), or being dropped: the tokens go back, and the next caller who would be refused or would have to wait
///   longer gets them. Dropping gives back because that is the mistake that can be lived with: a panic, an early return or a future
///   that is thrown away then costs nobody anything, while a place that was used but not marked so shows in tests
///   at once.
///
/// A place that is leaked (`mem::forget`) is as good as spent.
///
/// `L` is what points to the limiter: see [`Line`].
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::{ManualClock, Nanos, Quota, WaitingTokenBucket};
///
/// let clock = ManualClock::new();
/// let quota = Quota::per_second(1);
/// let bucket = WaitingTokenBucket::with_clock(quota, Duration::from_secs(60), clock.clone());
/// assert!(bucket.try_acquire().is_ok());
///
/// let place = bucket.reserve(1)?;
/// assert_eq!((place.due(), place.delay()), (Nanos::from_secs(1), Duration::from_secs(1)));
///
/// let Err(place) = place.spend() else { panic!("too early") };
/// clock.advance(Duration::from_secs(1));
/// assert!(place.spend().is_ok());
/// # Ok::<_, tollgate::Denied>(())
/// ```
#[must_use = "a place that is dropped is given back"]
pub struct Place<L: Line> {
    line: L,
    /// 0 once there is nothing left to give back.
    n: u64,
    /// The position after the last token.
    end: u64,
    due: Nanos,
    /// A reading of the clock.
    seen: Nanos,
}

impl<L: Line> Place<L> {
    /// A place for `n` tokens in `line`, due by `max_wait` after `now` and within what the line allows.
    #[inline(always)]
    #[allow(clippy::inline_always)] // or what a refusal says goes through memory
    pub(crate) fn reserve(line: L, n: u64, max_wait: Duration, now: Nanos) -> Result<Self, Denied> {
        let reserved = line.reserve(n, max_wait, now)?;
        Ok(Self { line, n, end: reserved.end, due: reserved.due, seen: now })
    }

    /// As [`reserve`](Self::reserve), with the status as of `now` that the decision has left.
    pub(crate) fn reserve_with_status(
        line: L,
        n: u64,
        max_wait: Duration,
        now: Nanos,
    ) -> (Result<Self, Denied>, Status) {
        let (reserved, status) = line.reserve_with_status(n, max_wait, now);
        (reserved.map(|reserved| Self { line, n, end: reserved.end, due: reserved.due, seen: now }), status)
    }

    /// Where it was taken.
    pub const fn line(&self) -> &L {
        &self.line
    }

    /// How many tokens there are in it.
    pub const fn cost(&self) -> u64 {
        self.n
    }

    /// The first instant, on the limiter's clock, at which it may be spent; for a place that was due at once, the reading
    /// of the clock on which it was reserved.
    ///
    /// The tokens' own instant is a fraction: it lies less than a nanosecond earlier.
    pub const fn due(&self) -> Nanos {
        self.due
    }

    /// How long from now until it may be spent. Reads the clock, unless it was due at once.
    pub fn delay(&self) -> Duration {
        if self.due <= self.seen { Duration::ZERO } else { self.delay_at(self.line.now()) }
    }

    /// How long from `now` until it may be spent. No clock is read.
    pub const fn delay_at(&self, now: Nanos) -> Duration {
        self.due.saturating_since(now)
    }

    /// Uses the tokens. Reads the clock, unless the place was due at once. Wait-free: nothing is written.
    ///
    /// # Errors
    ///
    /// The place itself, if it is not due yet.
    #[inline]
    pub fn spend(self) -> Result<(), Self> {
        let now = if self.due <= self.seen { self.seen } else { self.line.now() };
        self.spend_at(now)
    }

    /// As [`spend`](Self::spend), as of `now`. No clock is read.
    ///
    /// # Errors
    ///
    /// The place itself, if it is not due at `now`.
    #[inline]
    pub fn spend_at(mut self, now: Nanos) -> Result<(), Self> {
        if now < self.due {
            return Err(self);
        }
        self.n = 0;
        Ok(())
    }

    /// Nothing, in `line`.
    pub(super) const fn nothing(line: L, now: Nanos) -> Self {
        Self { line, n: 0, end: 0, due: now, seen: now }
    }

    /// Uses the tokens of a place that has been seen to be due.
    #[cfg(feature = "async")]
    pub(super) fn use_up(mut self) {
        self.clear();
    }

    /// There is nothing left to give back.
    pub(super) const fn clear(&mut self) {
        self.n = 0;
    }

    /// As [`cancel`](Self::cancel), in place.
    #[inline]
    pub(super) fn empty(&mut self) -> u64 {
        if self.n == 0 {
            return 0;
        }
        let now = self.line.now();
        self.give_back(now)
    }

    /// Uses `n` of the tokens, of a place that has been seen to be due, and gives the others back.
    #[cfg(feature = "std")]
    pub(crate) fn keep(mut self, n: u64) {
        // Those above are given back: all that lies below a place's end is its own.
        self.n = self.n.saturating_sub(n);
    }

    /// Gives the tokens back; returns how many somebody can spend now or later. Lock-free.
    ///
    /// All of them come back where the place was the last in line. From the middle, they do while the limiter has room to
    /// note them; otherwise they are lost, as if they had been spent, and the answer is 0. Tokens of a place that has been due
    /// for so long that the bucket would have been full without them are worth nothing any more, and do not count.
    pub fn cancel(self) -> u64 {
        let now = self.line.now();
        self.cancel_at(now)
    }

    /// As [`cancel`](Self::cancel), as of `now`. No clock is read.
    pub fn cancel_at(mut self, now: Nanos) -> u64 {
        self.give_back(now)
    }

    #[inline(never)] // or each place has all of it beside the call
    fn give_back(&mut self, now: Nanos) -> u64 {
        let n = core::mem::take(&mut self.n);
        self.line.give_back(n, self.end, now)
    }
}

/// The position after a place's last token, in units: for model checks.
#[cfg(feature = "loom")]
pub fn end_of<L: Line>(place: &Place<L>) -> u64 {
    place.end
}

impl<L: Line> Drop for Place<L> {
    #[inline]
    fn drop(&mut self) {
        self.empty();
    }
}

impl<L: Line> fmt::Debug for Place<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place").field("cost", &self.n).field("due", &self.due).finish_non_exhaustive()
    }
}
