//! [`WaitingTokenBucket`]: the type. Rules are those of the module.

use super::line::{Line, sealed};
use super::place::Place;
use super::pool::{Pool, lower, sooner};
use super::turns::Turns;
use crate::algorithm::{Algorithm, Gcra, Stretch};
use crate::build_error::BuildError;
use crate::clock::Clock;
#[cfg(feature = "std")]
use crate::clock::DefaultClock;
use crate::decision::{Denied, Status};
use crate::limiter::TokenBucket;
use crate::nanos::Nanos;
use crate::quota::Quota;
use crate::rate_limit::delegate;
use crate::sync::const_unless_loom;
use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;
use sealed::Reserved;

/// A token bucket in which callers can have a place in line: tokens of their own that are due at a known instant.
///
/// It is strict and fair: places are due in the order in which they were reserved, a call that does not wait never
/// overtakes one that does, and nobody is served later than told. There is no queue, no lock, no timer and no allocation: a
/// place is a pair of numbers, and reserving one is the very step of [`TokenBucket`], which may reach ahead of now.
///
/// Calls that do not wait are those of [`TokenBucket`], and cost the same while nobody has given a place back.
///
/// # Bound
///
/// For any two instants `s <= t`, at most `burst + rate * (t - s)` tokens are admitted in `[s, t]`, as for [`TokenBucket`],
/// where a place counts at its own instant. That is exact, a fraction; [`Place::due`] is the first whole nanosecond after it, so
/// that readings of a clock may show what falls due in one nanosecond more.
///
/// # Places given back
///
/// The last place in line is given back exactly, together with all that were given back before it and end there. From the
/// middle, its tokens go to a pool of seven stretches, and the next call that would be refused, or would have to wait longer,
/// is served from there, if `n` tokens of one stretch may still be spent at its instant. Those who are waiting keep
/// their instants.
///
/// When the pool is full, tokens of further places given back from the middle are lost, as if they had been spent: at
/// most the tokens of that place, once. None is ever minted. A stretch leaves the pool when it is used, when it comes to be
/// the last in line, or when the bucket would be full without it.
///
/// # Progress and ordering
///
/// As [`TokenBucket`]: lock-free, and no happens-before edge. A thread that stalls in the middle of giving back keeps
/// those tokens out of circulation, and blocks nobody. [`available`](Self::available) and [`status`](Self::status) look at
/// several words one after the other if there are stretches in the pool.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::{Denied, ManualClock, Nanos, Quota, WaitingTokenBucket};
///
/// // One each 100 ms, three at once, and nobody waits for more than half a second.
/// let quota = Quota::per(1, Duration::from_millis(100)).with_burst(3);
/// let bucket = WaitingTokenBucket::with_clock(quota, Duration::from_millis(500), ManualClock::new());
///
/// let places: Vec<_> = (0..8).map(|_| bucket.reserve(1)).collect::<Result<_, _>>()?;
/// let due: Vec<_> = places.iter().map(|place| place.due().as_nanos() / 1_000_000).collect();
/// assert_eq!(due, [0, 0, 0, 100, 200, 300, 400, 500]);
///
/// // The line is full, and that is known at once.
/// assert!(matches!(bucket.reserve(1), Err(Denied::LineFull(_))));
/// # Ok::<_, Denied>(())
/// ```
pub struct WaitingTokenBucket<#[cfg(feature = "std")] C = DefaultClock, #[cfg(not(feature = "std"))] C> {
    bucket: TokenBucket<C>,
    pub(super) pool: Pool,
    longest: Duration,
}

#[cfg(feature = "std")]
impl WaitingTokenBucket<DefaultClock> {
    const_unless_loom! {
        /// A bucket on the default clock in which no place is due later than `longest` from when it is reserved. It starts full.
        /// Every quota fits. No reading of the clock is taken.
        ///
        /// With [`Duration::MAX`] the line reaches as far as the clock can count; see [`Clock`].
        pub const fn new(quota: Quota, longest: Duration) -> Self {
            Self::with_clock(quota, longest, DefaultClock)
        }
    }
}

impl<C> WaitingTokenBucket<C> {
    const_unless_loom! {
        /// As [`new`](WaitingTokenBucket::new), on `clock`.
        pub const fn with_clock(quota: Quota, longest: Duration, clock: C) -> Self {
            Self { bucket: TokenBucket::with_clock(quota, clock), pool: Pool::new(), longest }
        }
    }

    /// How far ahead places may be due.
    pub const fn longest(&self) -> Duration {
        self.longest
    }

    /// What the limiter was built for.
    pub fn quota(&self) -> Quota {
        self.bucket.quota()
    }

    /// The most tokens that one call or one place can take; a larger cost can never be admitted.
    pub fn max_cost(&self) -> u64 {
        self.bucket.max_cost()
    }

    /// Takes `n` tokens as of `now`, or none: see [`TokenBucket`]'s. No clock is read.
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n`](Self::try_acquire_n).
    #[inline(always)]
    #[allow(clippy::inline_always)] // what a refusal says need not reach memory where nobody reads it
    pub fn try_acquire_n_at(&self, n: u64, now: Nanos) -> Result<(), Denied> {
        match self.bucket.try_acquire_n_at(n, now) {
            Err(Denied::TryAfter(_)) if !self.pool.is_empty() => self.out_of_the_pool(n, now, now).map(|_| ()),
            decision => decision,
        }
    }

    /// As [`try_acquire`](Self::try_acquire), as of `now`. No clock is read.
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n`](Self::try_acquire_n).
    #[inline]
    pub fn try_acquire_at(&self, now: Nanos) -> Result<(), Denied> {
        self.try_acquire_n_at(1, now)
    }

    /// As [`try_acquire_up_to`](Self::try_acquire_up_to), as of `now`. No clock is read.
    pub fn try_acquire_up_to_at(&self, n: u64, now: Nanos) -> u64 {
        // PROGRESS: lock-free. What is available can be acquired, unless another thread has been faster.
        loop {
            let take = self.available_at(now).min(n);
            if self.try_acquire_n_at(take, now).is_ok() {
                return take;
            }
        }
    }

    /// As [`refund`](Self::refund), as of `now`. No clock is read.
    #[inline]
    pub fn refund_at(&self, n: u64, now: Nanos) {
        self.bucket.refund_at(n, now);
    }

    /// Tokens that one call could take at `now`. No clock is read.
    pub fn available_at(&self, now: Nanos) -> u64 {
        self.available_of(self.word(), now)
    }

    fn available_of(&self, word: u64, now: Nanos) -> u64 {
        let gcra = self.gcra();
        let available = gcra.available(word, now);
        if available == gcra.max_cost() { available } else { available.max(self.pool.available(gcra, now)) }
    }

    /// Limit, tokens left and waiting times as of `now`. Writes nothing, and no clock is read.
    pub fn status_at(&self, now: Nanos) -> Status {
        self.status_of(self.word(), now)
    }

    pub(super) fn status_of(&self, word: u64, now: Nanos) -> Status {
        let status = self.gcra().status(word, now);
        let retry_after = match self.pool.look(self.gcra(), 1, now, now) {
            Ok(()) => Some(Duration::ZERO),
            Err(Some(hint)) => status.retry_after.map(|after| after.min(hint.retry_after())),
            Err(None) => status.retry_after,
        };
        Status { remaining: self.available_of(word, now), retry_after, ..status }
    }

    #[inline]
    pub(super) fn gcra(&self) -> &Gcra {
        &self.bucket.algorithm
    }

    pub(crate) const fn bucket(&self) -> &TokenBucket<C> {
        &self.bucket
    }

    /// The word as it would be if all that can be absorbed were.
    pub(crate) fn word(&self) -> u64 {
        self.pool.lowered(self.bucket.cell.load())
    }

    /// `n` tokens that are due at `now`, or else those that are due first, if that is by `last`; returns the position after them
    /// (rules 5 and 6, then 1).
    #[cold]
    #[inline(never)]
    pub(super) fn out_of_the_pool(&self, n: u64, now: Nanos, last: Nanos) -> Result<u64, Denied> {
        let (gcra, cell) = (self.gcra(), &self.bucket.cell);
        let (cost, _) = gcra.price(n)?;
        self.pool.absorb(cell);
        match self.pool.take(gcra, n, now, last) {
            Ok(start) => Ok(start + cost),
            Err(pooled) => {
                let reserved = cell.update(|word| gcra.reserve(word, n, now, last).map(|next| (next, next)));
                reserved.map_err(|denied| match denied {
                    Denied::TryAfter(hint) => Denied::TryAfter(sooner(pooled, hint)),
                    denied => denied,
                })
            }
        }
    }

    /// Why there is no place.
    fn not_in_time(&self, denied: Denied, max_wait: Duration) -> Denied {
        match denied {
            Denied::TryAfter(hint) if max_wait < self.longest => Denied::WouldExceedDeadline(hint),
            Denied::TryAfter(hint) => Denied::LineFull(hint), // more patience would not help
            denied => denied,
        }
    }

    /// A place for `n` tokens that is not due at once.
    #[cold]
    fn stand_in_line(&self, n: u64, max_wait: Duration, now: Nanos) -> Result<Reserved, Denied> {
        let last = now.saturating_add(max_wait.min(self.longest));
        let end = self.out_of_the_pool(n, now, last).map_err(|denied| self.not_in_time(denied, max_wait))?;
        Ok(Reserved { end, due: self.gcra().due(end, now) })
    }
}

impl<C: Clock> WaitingTokenBucket<C> {
    /// The same limiter holding `tokens` instead of starting full. Reads the clock.
    ///
    /// # Errors
    ///
    /// [`BuildError::InitialTooLarge`] if `tokens` is above [`max_cost`](Self::max_cost).
    pub fn try_with_initial(self, tokens: u64) -> Result<Self, BuildError> {
        Ok(Self { bucket: self.bucket.try_with_initial(tokens)?, ..self })
    }

    /// The same limiter holding `tokens` instead of starting full. Reads the clock.
    ///
    /// # Panics
    ///
    /// If `tokens` is above [`max_cost`](Self::max_cost); see [`try_with_initial`](Self::try_with_initial).
    #[must_use]
    pub fn with_initial(self, tokens: u64) -> Self {
        Self { bucket: self.bucket.with_initial(tokens), ..self }
    }

    /// Takes one token, or none. Never waits.
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n`](Self::try_acquire_n).
    #[inline]
    pub fn try_acquire(&self) -> Result<(), Denied> {
        self.try_acquire_n(1)
    }

    /// Takes `n` tokens, or none. Never waits, and never overtakes anybody in line. A cost of 0 is always admitted.
    ///
    /// # Errors
    ///
    /// [`Denied::TryAfter`] if there are fewer than `n` tokens now, for instance since places reach beyond it;
    /// [`Denied::ExceedsBurst`] if `n` is above [`max_cost`](Self::max_cost). A refused call has taken nothing.
    #[inline]
    pub fn try_acquire_n(&self, n: u64) -> Result<(), Denied> {
        self.try_acquire_n_at(n, self.bucket.clock.now())
    }

    /// Takes as many tokens as one call can, up to `n`; returns how many, which may be 0.
    #[inline]
    pub fn try_acquire_up_to(&self, n: u64) -> u64 {
        self.try_acquire_up_to_at(n, self.bucket.clock.now())
    }

    /// A place for `n` tokens: due now if there are `n`, else as soon as they can be had. One read-modify-write.
    ///
    /// The place is the caller's, who should [spend](Place::spend) it when it is due; dropped, it is given back. A cost of 0 is due
    /// at once.
    ///
    /// # Errors
    ///
    /// [`Denied::LineFull`] if that would be later than [`longest`](Self::longest) from now; [`Denied::ExceedsBurst`] if `n` is
    /// above [`max_cost`](Self::max_cost). A refused call has taken nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{ManualClock, Nanos, Quota, WaitingTokenBucket};
    ///
    /// let quota = Quota::per_second(1);
    /// let bucket = WaitingTokenBucket::with_clock(quota, Duration::from_secs(60), ManualClock::new());
    /// let now = bucket.reserve(1)?;
    /// let later = bucket.reserve(1)?;
    /// assert_eq!([now.due(), later.due()], [Nanos::ZERO, Nanos::from_secs(1)]);
    ///
    /// // Both come back, in whichever order: the next who asks gets what is due first.
    /// drop(now);
    /// drop(later);
    /// assert_eq!(bucket.available(), 1);
    /// # Ok::<_, tollgate::Denied>(())
    /// ```
    #[inline]
    pub fn reserve(&self, n: u64) -> Result<Place<&Self>, Denied> {
        self.reserve_at(n, self.bucket.clock.now())
    }

    /// A place for `n` tokens that is due within `max_wait`. One read-modify-write.
    ///
    /// # Errors
    ///
    /// [`Denied::WouldExceedDeadline`] if that would be later, and what [`reserve`](Self::reserve) says. A refused call has taken
    /// nothing.
    #[inline]
    pub fn reserve_within(&self, n: u64, max_wait: Duration) -> Result<Place<&Self>, Denied> {
        self.reserve_within_at(n, max_wait, self.bucket.clock.now())
    }

    /// A place for `n` tokens, as of `now`. No clock is read.
    ///
    /// # Errors
    ///
    /// As [`reserve`](Self::reserve).
    #[inline]
    pub fn reserve_at(&self, n: u64, now: Nanos) -> Result<Place<&Self>, Denied> {
        self.reserve_within_at(n, Duration::MAX, now)
    }

    /// A place for `n` tokens that is due by `now + max_wait`. No clock is read.
    ///
    /// # Errors
    ///
    /// As [`reserve_within`](Self::reserve_within).
    #[inline]
    pub fn reserve_within_at(&self, n: u64, max_wait: Duration, now: Nanos) -> Result<Place<&Self>, Denied> {
        Place::reserve(self, n, max_wait, now)
    }

    /// As [`reserve`](Self::reserve), for a place that can be kept anywhere.
    ///
    /// # Errors
    ///
    /// As [`reserve`](Self::reserve).
    pub fn reserve_owned(self: Arc<Self>, n: u64) -> Result<Place<Arc<Self>>, Denied> {
        self.reserve_owned_within(n, Duration::MAX)
    }

    /// As [`reserve_within`](Self::reserve_within), for a place that can be kept anywhere.
    ///
    /// # Errors
    ///
    /// As [`reserve_within`](Self::reserve_within).
    pub fn reserve_owned_within(self: Arc<Self>, n: u64, max_wait: Duration) -> Result<Place<Arc<Self>>, Denied> {
        let now = self.bucket.clock.now();
        Place::reserve(self, n, max_wait, now)
    }

    /// The turns of one caller, one after the other, each of whom may be `slack` late: see [`Turns`].
    pub const fn turns(&self, slack: Duration) -> Turns<&Self> {
        Turns::new(self, slack)
    }

    /// Gives `n` tokens back that were taken without a place; see [`TokenBucket`]'s, and its weaker bound. A place is better
    /// dropped or [cancelled](Place::cancel), which is exact.
    #[inline]
    pub fn refund(&self, n: u64) {
        self.bucket.refund(n);
    }

    /// Whole tokens that one call could take now, at most [`max_cost`](Self::max_cost). Writes nothing.
    #[inline]
    pub fn available(&self) -> u64 {
        self.available_at(self.bucket.clock.now())
    }

    /// Limit, tokens left and waiting times, all as of the same instant. Writes nothing.
    pub fn status(&self) -> Status {
        self.status_at(self.bucket.clock.now())
    }
}

impl<C: Clock> Line for WaitingTokenBucket<C> {
    type Clock = C;

    #[inline]
    fn clock(&self) -> &C {
        &self.bucket.clock
    }
}

impl<C> sealed::Line for WaitingTokenBucket<C> {
    #[inline(always)]
    #[allow(clippy::inline_always)] // as for `try_acquire_n_at`
    fn reserve(&self, n: u64, max_wait: Duration, now: Nanos) -> Result<Reserved, Denied> {
        let (gcra, cell) = (self.gcra(), &self.bucket.cell);
        match cell.update(|word| gcra.acquire(word, n, now).map(|next| (next, next))) {
            Ok(end) => Ok(Reserved { end, due: now }),
            Err(Denied::TryAfter(_)) => self.stand_in_line(n, max_wait, now),
            Err(denied) => Err(denied),
        }
    }

    fn reserve_with_status(&self, n: u64, max_wait: Duration, now: Nanos) -> (Result<Reserved, Denied>, Status) {
        let last = now.saturating_add(max_wait.min(self.longest));
        let (reserved, status) = self.decide_with_status(n, now, last);
        (reserved.map_err(|denied| self.not_in_time(denied, max_wait)), status)
    }

    fn look(&self, n: u64, max_wait: Duration, now: Nanos) -> Result<(), Denied> {
        let last = now.saturating_add(max_wait.min(self.longest));
        self.check_by(n, now, last).map_err(|denied| self.not_in_time(denied, max_wait))
    }

    fn give_back(&self, n: u64, end: u64, now: Nanos) -> u64 {
        let (gcra, cell) = (self.gcra(), &self.bucket.cell);
        let Ok((len @ 1.., _)) = gcra.price(n) else { return n };
        let stretch = Stretch { start: end - len, len };
        let kept = lower(cell, stretch) || self.pool.put(gcra, stretch, now);
        if !kept {
            return 0;
        }
        self.pool.absorb(cell);
        gcra.left_in(stretch, now)
    }
}

delegate!([C: Clock] WaitingTokenBucket<C> => Self);
delegate!(at [C: Clock] WaitingTokenBucket<C> => Self);

impl<C> fmt::Debug for WaitingTokenBucket<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (quota, longest) = (self.quota(), self.longest);
        f.debug_struct("WaitingTokenBucket").field("quota", &quota).field("longest", &longest).finish_non_exhaustive()
    }
}
